// Shows the definition of a term beside it, when it is pointed at or reached with the keyboard. The text is the
// link's own description, so it is read out without this script.
(() => {
  const box = document.createElement("div");
  box.className = "rl-definition";
  box.setAttribute("aria-hidden", "true");
  box.hidden = true;
  let shown = null;
  let timer = 0;

  const hide = () => {
    clearTimeout(timer);
    box.hidden = true;
    shown = null;
  };

  const show = (term) => {
    clearTimeout(timer);
    if (shown === term) return;
    shown = term;
    box.textContent = term.getAttribute("aria-description");
    box.hidden = false;
    const place = term.getClientRects()[0];
    const room = document.documentElement.clientWidth - box.offsetWidth - 12;
    const above = place.bottom + box.offsetHeight + 16 > document.documentElement.clientHeight;
    box.style.left = `${window.scrollX + Math.max(12, Math.min(place.left, room))}px`;
    box.style.top = `${window.scrollY + (above ? place.top - box.offsetHeight - 6 : place.bottom + 6)}px`;
  };

  // the pointer may move into the box and stay there
  const hideSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, 250);
  };

  const start = () => {
    document.body.append(box);
    for (const term of document.querySelectorAll("a.rl-term")) {
      term.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && show(term));
      term.addEventListener("pointerleave", hideSoon);
      term.addEventListener("focus", () => show(term));
      term.addEventListener("blur", hide);
    }
    box.addEventListener("pointerenter", () => clearTimeout(timer));
    box.addEventListener("pointerleave", hideSoon);
    document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  };

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
