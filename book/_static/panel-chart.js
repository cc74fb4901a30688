// The chart of a panel: for each quantity one bar a row, against a line at the value that the row had at the start.
// It is a picture of the table below it, which has the same numbers as text. Called by panel.js.
"use strict";

const rlmkbFacets = (() => {
  const FAR = 100; // rows that lie further apart than this factor stand on a logarithmic scale
  const NEAR = 0.0005; // of a ratio to 1: no change that three digits show

  // Where a value lies along the bar, from 0 to 1; a logarithmic scale begins at the power of ten below the least.
  function scale(values) {
    const positive = values.filter((one) => Number.isFinite(one) && one > 0);
    const low = Math.min(...positive), top = Math.max(...positive);
    if (!(top / low > FAR)) return { place: (value) => (value > 0 ? value / top : 0) };
    const begin = Math.ceil(Math.log10(low)) - 1, end = Math.ceil(Math.log10(top));
    return { begin, end, place: (value) => (value > 0 ? (Math.log10(value) - begin) / (end - begin) : 0) };
  }

  function element(name, text, inside = []) {
    const made = document.createElement("span");
    made.className = name;
    made.append(text, ...inside);
    return made;
  }

  // "× 2" where the value is not that of the start
  function change(value, begun, shown) {
    const ratio = value / begun;
    return Number.isFinite(ratio) && ratio > 0 && Math.abs(ratio - 1) > NEAR ? `× ${shown(Number(ratio.toPrecision(3)))}` : "";
  }

  function row({ label, colour, value, begun }, { place }, shown) {
    const track = element("rl-facet-track", "");
    for (const [name, size] of [["rl-facet-bar", value], ["rl-facet-begun", begun]]) {
      if (!Number.isFinite(size)) continue;
      const mark = element(name, "");
      mark.style.setProperty("--place", place(size));
      track.append(mark);
    }
    const text = value === undefined ? "–" : shown(value);
    const said = [element("rl-facet-value", text), track, element("rl-facet-change", change(value, begun, shown))];
    return element(`rl-facet-row rl-${colour}`, element("rl-facet-label", label), said);
  }

  function power(exponent) {
    const raised = document.createElement("sup");
    raised.append(exponent);
    return element("", "10", [raised]);
  }

  function facet([quantity, unit, rows], shown) {
    const used = scale(rows.flatMap(({ value, begun }) => [value, begun]));
    const head = element("rl-facet-head", element(`rl-chip rl-${quantity}`, quantity), [element("rl-unit", unit)]);
    const made = element("rl-facet", head, rows.map((one) => row(one, used, shown)));
    if (used.end !== undefined) {
      made.classList.add("rl-logarithmic");
      made.append(element("rl-facet-axis", power(used.begin), ["logarithmic", power(used.end)]));
    }
    return made;
  }

  // facets: [quantity, unit, rows of label, colour, value now and at the start]
  function draw(figure, facets, shown) {
    figure.querySelector("[data-facets]").replaceChildren(...facets.map((one) => facet(one, shown)));
    figure.hidden = false;
  }

  return { draw };
})();
