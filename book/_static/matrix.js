// The matrix of frameworks: a cell opens its evidence in a dialog, arrow keys move between cells. Without this script
// a cell is a link to the same evidence on the page of its framework. The evidence comes from the file beside this one.
(() => {
  const source = new URL("evidence.js", document.currentScript.src).href;
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  let loading = null;
  let dialog = null;

  const evidence = () => (loading ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = source;
    script.onload = () => done(window.rlEvidence);
    script.onerror = () => fail(new Error("cannot load the evidence"));
    document.head.append(script);
  }));

  const element = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text) made.textContent = text;
    return made;
  };

  const box = () => {
    if (dialog) return dialog;
    dialog = element("dialog", "rl-evidence-box");
    dialog.setAttribute("aria-labelledby", "rl-evidence-title");
    const title = element("p", "rl-evidence-title");
    title.id = "rl-evidence-title";
    const close = element("button", "rl-close", "Close");
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    const head = element("div", "rl-evidence-head");
    head.append(title, close);
    dialog.append(head, element("div", "rl-evidence-body"), element("p", "rl-evidence-foot"));
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
    return dialog;
  };

  const open = async (link) => {
    const [, framework, feature] = /([^/]+)\.html#(.+)$/.exec(link.getAttribute("href"));
    try {
      const html = (await evidence())[framework][feature]; // escaped when the site was built
      const heading = link.closest("table").tHead.rows[1].cells[link.parentElement.cellIndex];
      const column = heading.querySelector("[title]")?.title || heading.title || heading.textContent;
      const name = link.closest("tr").cells[0].querySelector("a").textContent;
      const shown = box();
      shown.querySelector(".rl-evidence-title").textContent = `${name}: ${column}`;
      shown.querySelector(".rl-evidence-body").innerHTML = html;
      const more = element("a", "reference internal", `All about ${name}`);
      more.href = link.href;
      shown.querySelector(".rl-evidence-foot").replaceChildren(more);
      shown.showModal();
      shown.scrollTop = 0;
    } catch {
      location.href = link.href;
    }
  };

  const start = (matrix) => {
    const links = [...matrix.querySelectorAll("td > a")];
    const visible = () => links.filter((link) => !link.closest("tr").hidden);
    const only = (chosen) => { for (const link of links) link.tabIndex = link === chosen ? 0 : -1; };
    const settle = () => setTimeout(() => {
      const seen = visible();
      if (!seen.some((link) => link.tabIndex === 0)) only(seen[0]);
    });

    matrix.addEventListener("click", (event) => {
      const link = event.target.closest("td > a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      open(link);
    });
    matrix.addEventListener("focusin", (event) => { if (event.target.matches("td > a")) only(event.target); });
    matrix.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step || !event.target.matches("tbody :is(th, td) > a")) return;
      event.preventDefault();
      const rows = [...matrix.querySelectorAll("tbody tr:not([hidden]):not(.rl-group)")];
      const row = rows[rows.indexOf(event.target.closest("tr")) + step[0]];
      row?.cells[event.target.parentElement.cellIndex + step[1]]?.querySelector(":scope > a")?.focus();
    });
    for (const kind of ["input", "reset", "click"]) matrix.addEventListener(kind, settle);
    only(links[0]);
    settle();
  };

  const begin = () => document.querySelectorAll(".rl-matrix").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
