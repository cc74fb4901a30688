// Before a page is printed: worked answers are opened, and tables that are too wide for the paper made smaller.
(() => {
  const PAPER = 650; // pixels: A4 without its margins
  const SIZE = 8 * (96 / 72); // of text in a printed table: 8pt, as frame.css has it

  const begin = () => {
    for (const answer of document.querySelectorAll(".tag_hide-cell details.hide:not([open]), details.sd-dropdown:not([open])")) {
      answer.open = true;
      answer.dataset.opened = "";
    }
    for (const table of document.querySelectorAll(".rl-table table")) {
      const printed = table.offsetWidth * (SIZE / parseFloat(getComputedStyle(table).fontSize));
      if (printed > PAPER) table.style.zoom = PAPER / printed;
    }
  };

  const end = () => {
    for (const answer of document.querySelectorAll("details[data-opened]")) {
      answer.open = false;
      delete answer.dataset.opened;
    }
    for (const table of document.querySelectorAll(".rl-table table")) table.style.zoom = "";
  };

  window.addEventListener("beforeprint", begin);
  window.addEventListener("afterprint", end);
})();
