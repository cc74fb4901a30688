// The finder: ticks become a query, the query stands in the fragment of the address, the list shows who meets it and
// who misses one thing. States of a framework are one letter a feature in data-s of its row.
(() => {
  const ENOUGH = { yes: "y", partial: "yp" };
  const WORDS = { y: ["yes", "yes"], p: ["partial", "partial"], n: ["no", "no"], u: ["unknown", "unknown"],
    a: ["not_applicable", "not applicable"] };

  const start = (find) => {
    const form = find.querySelector("form");
    const features = find.dataset.features.split(" ");
    const names = Object.fromEntries(find.dataset.names.split(";").filter((pair) => pair.includes("="))
      .map((pair) => pair.trim().split("=")));
    const body = find.querySelector("tbody");
    const rows = [...body.rows];
    const told = new Map(rows.map((row) => [row, row.querySelector(".rl-asked").innerHTML]));
    const output = form.querySelector("output");
    const heading = document.createElement("tr");
    heading.className = "rl-group";
    heading.innerHTML = '<th scope="rowgroup" colspan="4"><span></span></th>';

    const boxes = (name) => [...form.querySelectorAll(`input[name="${name}"]`)];
    const query = () => {
      const asked = {};
      for (const name of features) {
        const [some, fully] = boxes(name);
        if (fully.checked) asked[name] = "yes";
        else if (some.checked) asked[name] = "partial";
      }
      const others = {};
      for (const name of ["class", "code", "status"]) {
        const values = boxes(name).filter((box) => box.checked).map((box) => box.value);
        if (values.length) others[name] = values;
      }
      if (form.elements.license.value) others.license = [form.elements.license.value];
      return { asked, others };
    };

    const show = () => {
      const { asked, others } = query();
      const wanted = Object.keys(asked);
      const state = (row, name) => row.dataset.s[features.indexOf(name)];
      const meets = (row, name) => ENOUGH[asked[name]].includes(state(row, name));
      const full = (row) => wanted.filter((name) => state(row, name) === "y").length;
      const rank = (row) => full(row) * 100 + [...row.dataset.s].filter((letter) => letter === "y").length;
      const fitting = rows.filter((row) => Object.entries(others).every(([key, values]) => values.includes(row.dataset[key])));
      const missed = new Map(fitting.map((row) => [row, wanted.filter((name) => !meets(row, name)).length]));
      const nothing = !wanted.length;
      const best = (left, right) => (nothing ? rows.indexOf(left) - rows.indexOf(right) : rank(right) - rank(left));
      const all = fitting.filter((row) => !missed.get(row)).sort(best);
      const near = nothing ? [] : fitting.filter((row) => missed.get(row) === 1).sort(best);

      for (const row of rows) {
        row.hidden = !missed.has(row) || missed.get(row) > 1;
        const cell = row.querySelector(".rl-asked");
        if (nothing) {
          cell.innerHTML = told.get(row);
          continue;
        }
        const page = row.querySelector("th a").getAttribute("href");
        cell.replaceChildren(...wanted.map((name) => {
          const [kind, word] = WORDS[state(row, name)];
          const link = document.createElement("a");
          link.href = `${page}#${name}`;
          link.className = `rl-state s-${kind}${meets(row, name) ? "" : " rl-missed"}`;
          link.textContent = `${names[name]}: ${word}`;
          return link;
        }));
      }
      heading.querySelector("span").textContent = `Missing one (${near.length})`;
      heading.hidden = !near.length;
      body.append(...all, heading, ...near, ...rows.filter((row) => row.hidden));
      const does = wanted.length > 1 ? "all of it" : "it";
      output.textContent = nothing
        ? `${all.length} of ${rows.length} frameworks`
        : `${all.length} of ${rows.length} frameworks do ${does}; ${near.length} miss one thing`;
    };

    const write = () => {
      const { asked, others } = query();
      const state = new URLSearchParams(asked);
      for (const [key, values] of Object.entries(others)) state.set(key, values.join(" "));
      const text = state.toString();
      history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
    };
    const read = () => {
      const text = location.hash.slice(1);
      if (text && !text.includes("=")) return; // an anchor of the page
      const state = new URLSearchParams(text);
      for (const name of features) {
        const [some, fully] = boxes(name);
        some.checked = ["yes", "partial"].includes(state.get(name));
        fully.checked = state.get(name) === "yes";
      }
      for (const name of ["class", "code", "status"]) {
        const values = (state.get(name) ?? "").split(" ");
        for (const box of boxes(name)) box.checked = values.includes(box.value);
      }
      const licence = form.elements.license;
      const wanted = state.get("license") ?? "";
      licence.value = [...licence.options].some((option) => option.value === wanted) ? wanted : "";
      show();
    };

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => {
      const [some, fully] = features.includes(event.target.name) ? boxes(event.target.name) : [];
      if (event.target === fully && fully.checked) some.checked = true;
      if (event.target === some && !some.checked) fully.checked = false;
      show();
      write();
    });
    form.addEventListener("reset", () => setTimeout(() => { show(); write(); }));
    for (const preset of document.querySelectorAll("a.rl-preset")) { // the same page: no jump, no new entry of history
      preset.addEventListener("click", (event) => {
        event.preventDefault();
        history.replaceState(history.state, "", new URL(preset.href).hash);
        read();
        form.scrollIntoView();
        output.parentElement.focus?.();
      });
    }
    addEventListener("hashchange", read);
    form.hidden = false;
    read();
  };

  const begin = () => document.querySelectorAll(".rl-find").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
