// Sorts and filters each .rl-live table and keeps its state in the fragment of the address. Order stands in data-v of
// a cell (else its text), words to filter by in data-f-KEY of a row. Without this script the table is a plain one.
(() => {
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  const start = (live) => {
    const table = live.querySelector("table");
    const form = live.querySelector(".rl-controls");
    const headings = [...table.tHead.rows].at(-1).cells;
    const slug = (text) => text.trim().toLowerCase().replace(/[^a-z0-9_]+/g, "-");
    const names = [...headings].map((heading) => slug(heading.dataset.k ?? heading.textContent));
    const bodies = [...table.tBodies];
    const rows = bodies.flatMap((body) => [...body.rows].filter((row) => !row.classList.contains("rl-group")));
    const homes = new Map(rows.map((row) => [row, row.parentElement]));
    const texts = new Map(rows.map((row) => [row, plain(row.textContent)]));
    const facets = [...form.querySelectorAll("select")];
    let sorted = { column: -1, down: false };

    const value = (row, column) => {
      const cell = row.cells[column];
      const raw = cell.dataset.v ?? cell.textContent.trim();
      const number = Number(raw);
      return raw !== "" && Number.isFinite(number) ? number : raw.toLowerCase();
    };
    const compare = (a, b) => (typeof a === typeof b
      ? (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }))
      : (typeof a === "number" ? 1 : -1));

    const order = () => {
      const { column, down } = sorted;
      if (column < 0) {
        for (const row of rows) homes.get(row).append(row);
      } else {
        const keys = new Map(rows.map((row) => [row, value(row, column)]));
        const sign = down ? -1 : 1;
        bodies[0].append(...[...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b))));
      }
      [...headings].forEach((heading, place) => {
        if (place === column) heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        else heading.removeAttribute("aria-sort");
      });
    };

    const filter = () => {
      const asked = plain(form.elements.find.value).split(/\s+/).filter(Boolean);
      const chosen = facets.filter((facet) => facet.value);
      let shown = 0;
      for (const row of rows) {
        const fits = asked.every((word) => texts.get(row).includes(word))
          && chosen.every((facet) => (row.getAttribute(`data-f-${facet.name}`) ?? "").split(" ").includes(facet.value));
        row.hidden = !fits;
        shown += fits;
      }
      for (const group of table.querySelectorAll("tr.rl-group")) {
        const own = rows.filter((row) => homes.get(row) === group.parentElement);
        group.hidden = sorted.column >= 0 || own.every((row) => row.hidden);
      }
      form.querySelector("output").textContent = shown;
      live.querySelector(".rl-nothing").hidden = shown > 0;
    };

    // ---- the state in the address ----
    const write = () => {
      const state = new URLSearchParams();
      if (form.elements.find.value.trim()) state.set("find", form.elements.find.value.trim());
      for (const facet of facets) if (facet.value) state.set(facet.name, facet.value);
      if (sorted.column >= 0) state.set("sort", (sorted.down ? "-" : "") + names[sorted.column]);
      const text = state.toString();
      history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
    };
    const read = () => {
      const text = location.hash.slice(1);
      if (text && !text.includes("=")) return; // an anchor of the page
      const state = new URLSearchParams(text);
      form.elements.find.value = state.get("find") ?? "";
      for (const facet of facets) {
        const wanted = state.get(facet.name) ?? "";
        facet.value = [...facet.options].some((option) => option.value === wanted) ? wanted : "";
      }
      const wanted = state.get("sort") ?? "";
      sorted = { column: names.indexOf(slug(wanted.replace(/^-/, ""))), down: wanted.startsWith("-") };
      order();
      filter();
    };

    // ---- controls ----
    [...headings].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "rl-sort";
      if (heading.title) {
        button.title = heading.title;
        heading.removeAttribute("title");
      }
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const first = rows.some((row) => typeof value(row, column) === "number"); // the most comes first
        if (sorted.column !== column) sorted = { column, down: first };
        else if (sorted.down === first) sorted = { column, down: !first };
        else sorted = { column: -1, down: false };
        order();
        filter();
        write();
      });
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => { filter(); write(); });
    form.addEventListener("reset", () => setTimeout(() => {
      sorted = { column: -1, down: false };
      order();
      filter();
      write();
    }));
    addEventListener("hashchange", read);
    form.hidden = false;
    read();
  };

  // How long ago a cell was checked depends on the day of reading.
  const age = (day) => {
    const days = Math.floor((Date.now() - Date.parse(day.dateTime)) / 86400000);
    if (!(days > 0)) return;
    const told = document.createElement("span");
    told.className = "rl-small";
    told.textContent = days === 1 ? "yesterday" : `${days} days ago`;
    day.after(told);
  };

  const begin = () => {
    document.querySelectorAll(".rl-live").forEach(start);
    document.querySelectorAll("time.rl-age").forEach(age);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
