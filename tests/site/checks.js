// What a test asks a page: to settle, what is wrong with it, and which of its text is too faint to read.
window.checks = (() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const mode = () => document.documentElement.dataset.theme;
  const start = (text, length = 60) => text.trim().slice(0, length);

  const until = async (done) => {
    for (let turn = 0; turn < 400 && !done(); turn++) await new Promise((next) => setTimeout(next, 50));
  };

  // Scroll to each chart, since a chart is drawn when it comes near; wait until charts and formulas are there.
  const settle = async () => {
    for (const chart of all("figure.vl-chart")) {
      chart.scrollIntoView();
      await until(() => chart.dataset.drawn === mode());
    }
    if (all(".math").length) {
      await until(() => window.MathJax?.startup?.promise);
      await window.MathJax?.startup?.promise;
    }
    window.scrollTo(0, 0);
  };

  const charts = () => all("figure.vl-chart").flatMap((chart) => {
    const name = chart.getAttribute("aria-label") ?? "";
    const box = chart.querySelector(".vl-slot svg")?.getBoundingClientRect();
    const drawn = chart.dataset.drawn === mode() && box?.width > 100 && box?.height > 50;
    return [name ? "" : "a chart has no description", drawn ? "" : `chart not drawn: ${start(name)}`];
  });

  const formulas = () => [
    ...all(".math").filter((formula) => !formula.querySelector("mjx-container"))
      .map((formula) => `formula not typeset: ${start(formula.textContent)}`),
    ...all("mjx-merror, [data-mjx-error]")
      .map((wrong) => `formula with an error: ${wrong.getAttribute("data-mjx-error") ?? start(wrong.textContent)}`),
  ];

  const images = () => [
    ...all("img:not([alt])").map((image) => `image without alt text: ${image.src}`),
    ...all("img").filter((image) => image.offsetParent && !image.naturalWidth)
      .map((image) => `image not shown: ${image.src}`),
    ...all("article svg[role=img]").filter((image) => !image.querySelector("title")?.textContent)
      .map(() => "a diagram has no title"),
  ];

  const structure = () => {
    const found = [], root = document.scrollingElement;
    const headings = all("main h1").filter((heading) => heading.getClientRects().length).length;
    if (headings !== 1) found.push(`${headings} main headings`);
    if (!document.documentElement.lang) found.push("the page names no language");
    const excess = root.scrollWidth - root.clientWidth;
    if (excess > 0) {
      const wide = all("article *").find((node) => node.getBoundingClientRect().right > root.clientWidth + 1);
      found.push(`scrolls sideways by ${excess} px, near ${start(wide?.outerHTML ?? "", 80)}`);
    }
    return found;
  };

  const faults = () => [...charts(), ...formulas(), ...images(), ...structure()].filter(Boolean);

  // WCAG 2 contrast of each piece of text in the article against the colour behind it (text of drawings excepted).
  const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)));
  const behind = (node) => node
    ? over(numbers(getComputedStyle(node).backgroundColor), behind(node.parentElement))
    : [255, 255, 255];
  const luminance = (colour) => {
    const [r, g, b] = colour.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = () => {
    const found = new Set();
    const texts = document.createTreeWalker(document.querySelector("article") ?? document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const node = text.parentElement, style = getComputedStyle(node);
      const seen = text.textContent.trim() && node.getClientRects().length && style.visibility === "visible";
      if (!seen || node.closest("svg, script, style, mjx-assistive-mml")) continue;
      const ground = behind(node), ink = over(numbers(style.color), ground);
      const [low, high] = [luminance(ground), luminance(ink)].sort((a, b) => a - b);
      const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.6 && style.fontWeight >= 700);
      const ratio = (high + 0.05) / (low + 0.05);
      if (ratio < (large ? 3 : 4.5) - 0.01) {
        found.add(`faint text, ${ratio.toFixed(1)}:1: ${node.tagName} "${start(text.textContent, 40)}"`);
      }
    }
    return [...found];
  };

  // A table wider than its place scrolls there, can be scrolled with the keyboard, and keeps its first column.
  const scrolls = (node) => ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
  const tables = () => all("article table").filter((table) => table.getClientRects().length).flatMap((table) => {
    let place = table.parentElement;
    while (place.tagName !== "ARTICLE" && !scrolls(place)) place = place.parentElement;
    const name = start(table.textContent.replace(/\s+/g, " "), 40);
    if (table.offsetWidth <= place.clientWidth + 1) return [];
    if (place.tagName === "ARTICLE") return [`wide table without a place to scroll: ${name}`];
    const found = place.tabIndex < 0 ? [`wide table that the keyboard cannot scroll: ${name}`] : [];
    const first = [...table.rows].map((row) => row.cells[0]).find((cell) => cell && cell.colSpan === 1);
    place.scrollLeft = place.scrollWidth;
    const moved = first && place.getBoundingClientRect().left - first.getBoundingClientRect().left > 2;
    place.scrollLeft = 0;
    return moved ? [...found, `wide table whose first column scrolls away: ${name}`] : found;
  });

  // Accessibility by axe-core. It knows no MathML (https://github.com/dequelabs/axe-core/issues/3285), so that is put in
  // as the text it stands for; the drawing of a formula is hidden from assistive technology and need not be looked at.
  const audit = async (runOnly) => {
    for (const drawing of all("mjx-math")) drawing.replaceChildren();
    for (const formula of all("mjx-assistive-mml")) formula.textContent = formula.textContent;
    const rules = { "target-size": { enabled: true } }; // WCAG 2.2 AA, but off unless asked for
    const options = runOnly ? { runOnly } : { rules };
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"], ...options });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) =>
      `axe, ${id}: ${node.target.join(" ")}: ${(node.failureSummary ?? "").split("\n")[1]?.trim() ?? ""}`));
  };

  // What the Tab key stops at, and whether anything about it changes with the focus.
  const look = (node) => [[node, ""], [node, "::before"], [node, "::after"], ...[...node.children].map((one) => [one, ""])]
    .map(([one, part]) => getComputedStyle(one, part || null))
    .map((style) => `${style.outlineStyle} ${style.outlineWidth} ${style.boxShadow} ${style.backgroundColor}`).join();
  const focus = () => {
    const node = document.activeElement;
    if (!node || node === document.body) return null;
    const focused = look(node);
    node.blur();
    const seen = look(node) !== focused;
    node.focus();
    return { name: start(node.outerHTML, 90), seen };
  };

  // Whether something lies over what has the focus: of each line of it, the middle and both ends count.
  const hidden = (node = document.activeElement) => ![...node.getClientRects()].some((box) =>
    [0.5, 0.1, 0.9].some((share) => {
      const seen = document.elementFromPoint(box.left + share * box.width, box.top + box.height / 2);
      return seen && (node.contains(seen) || seen.contains(node) && seen.tagName === "LABEL");
    }));

  // Tables that scroll, gone through backwards: what comes from the left must not stop under the fixed column.
  const covered = () => all("article .rl-table, article .pst-scrollable-table-container")
    .filter((place) => place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight)
    .flatMap((place) => {
      const stops = [...place.querySelectorAll("a[href], button")].filter((node) => node.checkVisibility());
      place.scrollTo(place.scrollWidth, place.scrollHeight);
      const found = stops.reverse().filter((node) => {
        node.focus();
        return hidden(node);
      }).map((node) => `focus under the fixed part of a table: ${start(node.textContent, 30)}`);
      place.scrollTo(0, 0);
      return found;
    });

  const moving = () => all("*").filter((node) => {
    const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(node);
    return /[1-9]/.test(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth";
  }).map((node) => start(node.outerHTML, 60));

  return { settle, faults, faint, tables, covered, hidden, audit, focus, moving };
})();
