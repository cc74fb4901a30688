// Draws each figure.vl-chart when it comes near the viewport, and again when the page changes between light and
// dark; what the reader has set (sliders, selections) stays. Vega comes from the folder beside this file.
(() => {
  const NARROW = 480; // pixels: below this a legend gets two columns
  const vendor = new URL("vendor/vega/", document.currentScript.src).href;
  const views = new Map(); // figure -> Vega view
  const queue = new Map(); // figure -> the drawing under way
  let libraries = null;

  const load = (file) => new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = vendor + file;
    script.onload = done;
    script.onerror = () => fail(new Error(`cannot load ${file}`));
    document.head.append(script);
  });
  const vega = () => (libraries ??= load("vega.min.js")
    .then(() => load("vega-lite.min.js"))
    .then(() => load("vega-embed.min.js")));

  // A stored chart names its colours as CSS variables; Vega needs the values they have now.
  const inColour = (value, styles) => {
    if (typeof value === "string") {
      const name = /^var\((--rl-[a-z-]+)\)$/.exec(value);
      return name ? styles.getPropertyValue(name[1]).trim() : value;
    }
    if (Array.isArray(value)) return value.map((item) => inColour(item, styles));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) =>
      [key, key === "datasets" || key === "values" ? item : inColour(item, styles)]));
  };

  // Once drawn, the same the other way round, so that what is printed from dark mode turns light.
  const asVariables = (svg, names) => {
    const styles = getComputedStyle(document.documentElement);
    const variables = new Map(names.map((name) => [styles.getPropertyValue(name).trim(), `var(${name})`]));
    for (const node of svg?.querySelectorAll("[fill], [stroke]") ?? []) {
      for (const key of ["fill", "stroke"]) {
        const variable = variables.get(node.getAttribute(key));
        if (variable) node.setAttribute(key, variable);
      }
    }
  };

  const specification = (figure, slot) => {
    const stored = JSON.parse(figure.querySelector("script.vl-spec").textContent);
    const spec = inColour(stored, getComputedStyle(document.documentElement));
    if (spec.mark || spec.layer) {
      spec.width = "container";
      spec.autosize = { type: "fit-x", contains: "padding" };
    }
    if (slot.clientWidth < NARROW) {
      spec.config.legend = { ...spec.config.legend, columns: 2, titleOrient: "top" };
    }
    return spec;
  };

  // Only what the reader can set: parameters and selections, not sizes or scales.
  const settings = (view, spec) => {
    const names = new Set((spec.params ?? []).map((parameter) => parameter.name));
    return view.getState({
      signals: (name) => names.has(name),
      data: (name) => name.endsWith("_store"),
      recurse: false,
    });
  };

  const drawNow = async (figure) => {
    const slot = figure.querySelector(".vl-slot");
    try {
      await vega();
      const spec = specification(figure, slot);
      const before = views.get(figure);
      const kept = before ? settings(before, spec) : null;
      before?.finalize();
      const { view } = await vegaEmbed(slot, spec, {
        mode: "vega-lite",
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
      });
      views.set(figure, view);
      if (kept) {
        view.setState(kept);
        showSettings(slot, kept.signals);
      }
      await view.runAsync();
      const stored = figure.querySelector("script.vl-spec").textContent;
      asVariables(slot.querySelector("svg"), [...new Set(stored.match(/--rl-[a-z-]+/g))]);
      for (const bind of slot.querySelectorAll(".vega-bind")) nameInput(bind);
      // a mark without a name says nothing: the figure's description and its data table do
      for (const mark of slot.querySelectorAll('svg [role^="graphics-"]:not([aria-label])')) mark.setAttribute("aria-hidden", "true");
      figure.dataset.drawn = document.documentElement.dataset.theme === "dark" ? "dark" : "light";
    } catch (error) {
      slot.textContent = "This chart could not be drawn. Its numbers are in the table below.";
      console.error(error);
    }
  };

  const draw = (figure) =>
    queue.set(figure, (queue.get(figure) ?? Promise.resolve()).then(() => drawNow(figure)));

  const nameInput = (bind) => {
    const name = bind.querySelector(".vega-bind-name")?.textContent.trim();
    for (const input of bind.querySelectorAll("input:not([type=radio]), select")) {
      if (name) input.setAttribute("aria-label", name);
    }
  };

  // setState moves the chart but not its controls.
  const showSettings = (slot, signals) => {
    for (const input of slot.querySelectorAll(".vega-bind :is(input, select)")) {
      const value = signals[input.name];
      if (value === undefined) continue;
      if (input.type === "checkbox") input.checked = value;
      else if (input.type === "radio") input.checked = input.value === String(value);
      else input.value = value;
      const shown = input.type === "range" ? input.nextElementSibling : null;
      if (shown) shown.textContent = value;
    }
  };

  const start = () => {
    const figures = document.querySelectorAll("figure.vl-chart");
    if (!figures.length) return;
    const near = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((seen) => seen.isIntersecting)) {
        near.unobserve(entry.target);
        draw(entry.target);
      }
    }, { rootMargin: "400px" });
    for (const figure of figures) near.observe(figure);
    new MutationObserver(() => {
      for (const figure of queue.keys()) draw(figure);
    }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
