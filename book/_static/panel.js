// Live formulas: fields, sliders and presets of a panel, and every cell's value, computed in the page.
// A panel's data and program come from the page (window.rlmkbPanels), written by rlmkb.views.panel.
"use strict";

// ln(Gamma(upper) / Gamma(lower)) for whole numbers of at least 1; the twin of rlmkb.theory.special.log_gamma_ratio
function logGammaRatio(upper, lower) {
  let sum = 0;
  while (lower < 16 && lower < upper) sum += Math.log(lower++);
  if (lower >= upper) return sum;
  const gap = upper - lower;
  const tail = (x) => {
    const s = 1 / (x * x);
    return ((((s / 1188 - 1 / 1680) * s + 1 / 1260) * s - 1 / 360) * s + 1 / 12) / x;
  };
  return sum + gap * (Math.log(upper) - 1) + (lower - 0.5) * Math.log1p(gap / lower) + tail(upper) - tail(lower);
}

const rlmkbPanel = (() => {
  const DIMENSIONS = ["L", "d", "d_ff", "h"];
  const QUANTITIES = [["work", "FLOP"], ["depth", "steps"], ["memory", "elements"]]; // of the calculator
  const WHOLE = "the whole iteration";

  // One value for each symbol that a panel needs: a role's own, else the bare one; m is S + T.
  function point(panel, values) {
    const out = {};
    for (const name of panel.needs) {
      const bare = name in values ? name : name.slice(0, name.lastIndexOf("_"));
      out[name] = name === "m" && !("m" in values) ? values.S + values.T : values[name in values ? name : bare];
    }
    return out;
  }

  function wrong(panel, values) {
    for (const [name] of panel.fields) {
      if (!Number.isInteger(values[name]) || values[name] < 1) return `${name}: give a whole number of at least 1`;
    }
    for (const [part, cut, why] of panel.limits) {
      for (const name of [cut, ...panel.roles.map((role) => `${cut}_${role}`)]) {
        const whole = name === "m" ? values.S + values.T : values[name];
        if (values[part] > whole) return `${part} is ${values[part]} but ${name} is ${whole}: ${why}`;
      }
    }
    return "";
  }

  function compute(panel, values, chosen) {
    const at = point(panel, values);
    if (panel.programs) return { first: panel.programs[chosen].first(at), second: [] };
    return { first: panel.first(at), second: panel.second ? panel.second.values(at) : [] };
  }

  const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
  function shown(value) {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-3)) {
      const [digits, exponent] = value.toExponential(3).split("e");
      const power = [...String(Number(exponent))].map((c) => SUPERSCRIPT[c]).join("");
      return `${Number(digits)} × 10${power}`;
    }
    return Number(value.toPrecision(size >= 1000 ? 6 : 4)).toLocaleString("en").replaceAll(",", "\u202f");
  }

  // sliders move on a logarithmic scale between 1 and the end
  const toSlider = (value, end) => Math.round((1000 * Math.log(Math.min(Math.max(value, 1), end))) / Math.log(end));
  const fromSlider = (place, end) => {
    const exact = Math.exp((place / 1000) * Math.log(end));
    return exact < 64 ? Math.max(1, Math.round(exact)) : Math.round(exact / 2 ** Math.floor(Math.log2(exact) - 4)) * 2 ** Math.floor(Math.log2(exact) - 4);
  };

  function start(section) {
    const panel = window.rlmkbPanels[section.id.slice("panel-".length)];
    const offered = window.rlmkbShapes;
    const form = section.querySelector("form");
    const message = form.querySelector(".rl-panel-message");
    const inputs = new Map(panel.fields.map(([name]) => [name, form.elements[name]]));
    const sliders = new Map([...form.querySelectorAll("input[type=range]")].map((one) => [one.dataset.for, one]));
    const presets = new Map([...form.querySelectorAll("select[data-preset]")].map((one) => [one.dataset.preset, one]));
    const outputs = [...section.querySelectorAll("output[data-cell]")].map((one) => [one, Number(one.dataset.cell)]);
    const seconds = [...section.querySelectorAll("output[data-second]")].map((one) => [one, Number(one.dataset.second)]);
    const choices = new Map([...form.querySelectorAll("select[data-choice]")].map((one) => [one.dataset.choice, one]));
    const result = section.querySelector("[data-result]");
    const chosen = () => `${choices.get("algorithm")?.value}/${choices.get("configuration")?.value}`;
    const ends = new Map(panel.fields.map(([name, , end]) => [name, end]));

    for (const [name, select] of presets) {
      const names = name === "workload" ? offered.workloads.map(([id, title]) => [id, title]) : Object.keys(offered.shapes).map((id) => [id, id]);
      for (const [id, title] of names) select.add(new Option(title, id));
    }

    // the sizes that a preset gives to the panel's own fields
    function sizes(name, id) {
      const given = name === "shape"
        ? Object.entries(offered.shapes[id] ?? {}).map(([place, size]) => [offered.names[place], size])
        : Object.entries(offered.workloads.find(([one]) => one === id)?.[2] ?? {});
      return given.filter(([symbol]) => inputs.has(symbol));
    }
    // a preset is named only while the fields hold its sizes
    function settle() {
      for (const kind of ["shape", "workload"]) {
        const select = presets.get(kind);
        if (!select?.value) continue;
        const fits = sizes(kind, select.value).every(([symbol, size]) => Number(inputs.get(symbol).value) === size);
        if (!fits) select.value = "";
      }
    }

    function values() {
      const out = {};
      for (const [name, input] of inputs) out[name] = input.value.trim() === "" ? NaN : Number(input.value);
      for (const role of panel.roles) {
        const shape = offered.shapes[presets.get(`shape_${role}`)?.value];
        if (shape) DIMENSIONS.forEach((name, place) => (out[`${name}_${role}`] = shape[place]));
      }
      return out;
    }

    function render() {
      const now = values();
      const problem = wrong(panel, now);
      for (const [name, input] of inputs) {
        const bad = !Number.isInteger(now[name]) || now[name] < 1;
        input.setAttribute("aria-invalid", bad);
        if (bad) continue;
        const slider = sliders.get(name), unit = input.parentElement.querySelector(".rl-unit").textContent;
        slider.value = toSlider(now[name], ends.get(name));
        slider.setAttribute("aria-valuetext", `${shown(now[name])} ${unit}`);
      }
      const found = problem ? null : compute(panel, now, chosen());
      const large = found && ![...found.first, ...found.second].every(Number.isFinite);
      message.textContent = large ? "These sizes are too large: some values exceed 10³⁰⁸." : problem;
      if (result) drawResult(found);
      for (const [output, place] of outputs) {
        output.value = found ? shown(found.first[place]) : "–";
        output.dataset.value = found ? found.first[place] : "";
      }
      for (const [output, place] of seconds) {
        const value = found?.second[panel.second.places.indexOf(place)];
        const same = found && Math.abs(value / found.first[place] - 1) < 1e-12;
        output.value = found ? (same ? "" : shown(value)) : "–";
        output.dataset.value = found ? value : "";
      }
      drawChart(found);
    }

    // the calculator's rows change with algorithm and configuration
    function drawResult(found) {
      const { stages, notes, needs } = panel.programs[chosen()];
      for (const [name, input] of inputs) {
        const used = needs.some((symbol) => symbol === name || symbol.startsWith(`${name}_`) || (symbol === "m" && (name === "S" || name === "T")));
        input.closest(".rl-panel-field").hidden = !used;
      }
      for (const role of panel.roles) {
        const select = presets.get(`shape_${role}`);
        select.parentElement.hidden = !needs.includes(`L_${role}`);
      }
      result.replaceChildren(...[...byStage(stages, found?.first)].map(([stage, costs]) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        head.textContent = stage;
        row.append(head, ...costs.map((cost) => {
          const cell = document.createElement("td");
          cell.className = "num";
          if (cost === null) return cell;
          const output = document.createElement("output");
          output.value = found ? shown(cost) : "–";
          output.dataset.value = found ? cost : "";
          cell.append(output);
          return cell;
        }));
        return row;
      }));
      section.querySelector("[data-notes]").textContent = notes.join(" ");
    }

    // [work, depth, memory] by the calculator's stages and for the whole, from all that its program returns
    function byStage(stages, all) {
      const rows = new Map(stages.slice(0, -1).map((stage, place) => [stage, [0, 1, 2].map((one) => all?.[3 * place + one])]));
      const work = [...rows.values()].reduce((sum, [one]) => sum + one, 0);
      if (!rows.has(WHOLE)) rows.set(WHOLE, [work, all?.at(-1), null]);
      return rows;
    }

    // the chart compares with what the panel shows at first
    const figure = section.querySelector(".rl-facets"), grouped = figure.querySelector("select");
    let begun = null;
    function drawChart(found) {
      if (!result) {
        begun ??= found?.first;
        rlmkbFacets.draw(figure, panel.chart[grouped?.selectedIndex ?? 0].map(([quantity, unit, rows]) => [
          quantity, unit, rows.map(([label, colour, place]) => ({ label, colour, value: found?.first[place], begun: begun?.[place] })),
        ]), shown);
        return;
      }
      const now = byStage(panel.programs[chosen()].stages, found?.first);
      begun ??= now;
      rlmkbFacets.draw(figure, QUANTITIES.map(([quantity, unit], place) => [
        quantity, unit, [...now].filter(([, costs]) => costs[place] !== null).map(([label, costs]) => ({
          label, colour: label.replaceAll(" ", "-"), value: costs[place], begun: begun.get(label)?.[place] ?? undefined })),
      ]), shown);
    }

    // the state of a panel in the address: #panel-III:L=32,d=4096,shape_V=llama-3.2-1b
    const prefix = `#${section.id}:`;
    function address() {
      const parts = [...inputs].map(([name, input]) => `${name}=${input.value}`);
      for (const [name, select] of [...presets, ...choices]) if (select.value) parts.push(`${name}=${select.value}`);
      return prefix + parts.join(",");
    }
    // what is not in the address, or not to be read, stays as at the start
    function restore() {
      if (!location.hash.startsWith(prefix)) return false;
      let state = "";
      try {
        state = decodeURIComponent(location.hash.slice(prefix.length));
      } catch { /* an escape that is cut off */ }
      begin();
      for (const part of state.split(",").filter((one) => one.includes("="))) {
        const [name, value] = part.split("=");
        const select = choices.get(name) ?? presets.get(name);
        if (inputs.has(name)) inputs.get(name).value = value;
        else if (select && [...select.options].some((one) => one.value === value)) select.value = value;
      }
      settle();
      return true;
    }
    function begin() {
      for (const [name, size] of panel.fields) inputs.get(name).value = size;
      for (const select of choices.values()) select.selectedIndex = 0;
      for (const [name, select] of presets) select.value = { shape: offered.start, workload: offered.workloads[0][0] }[name] ?? "";
    }
    function reset() {
      begin();
      render();
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      const { target } = event;
      if (target.type === "range") inputs.get(target.dataset.for).value = fromSlider(Number(target.value), ends.get(target.dataset.for));
      const { preset } = target.dataset;
      if (preset === "shape" || preset === "workload") {
        for (const [symbol, size] of sizes(preset, target.value)) inputs.get(symbol).value = size;
      }
      settle();
      render();
    });
    form.addEventListener("change", () => history.replaceState(null, "", address()));
    form.querySelector("[data-do=reset]").addEventListener("click", () => {
      reset();
      history.replaceState(null, "", location.pathname + location.search);
    });
    form.querySelector("[data-do=share]").addEventListener("click", async () => {
      history.replaceState(null, "", address());
      try {
        await navigator.clipboard.writeText(location.href);
        message.textContent = "Link copied.";
      } catch {
        message.textContent = "The address bar holds the link.";
      }
    });
    grouped?.addEventListener("change", render);
    window.addEventListener("hashchange", () => restore() && render());

    reset();
    if (restore()) {
      render();
      section.scrollIntoView();
    }
    section.dataset.ready = "true";
  }

  const begin = () => document.querySelectorAll(".rl-panel").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
  return {
    compute: (id, values, chosen) => compute(window.rlmkbPanels[id], values, chosen),
    point: (id, values) => point(window.rlmkbPanels[id], values),
  };
})();
