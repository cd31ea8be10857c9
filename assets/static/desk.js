// The desk: scanners type fast and end in Enter, and the field is always ready for the next person.
(() => {
  "use strict";
  const desk = document.querySelector("[data-desk]");
  if (!desk) return;
  const field = document.getElementById("desk-field");
  const form = document.getElementById("desk-form");
  const list = () => document.getElementById("desk-list");
  /** Keys of a scanner come at most so far apart. */
  const SCAN_MS = 35;
  const ready = list().innerHTML;

  const clear = () => {
    field.value = "";
    list().innerHTML = ready;
    list().removeAttribute("data-typed");
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const options = () => [...list().querySelectorAll("[role=option]:not([aria-disabled])")];
  const chosen = () => options().find((option) => option.getAttribute("aria-selected") === "true");
  const choose = (step) => {
    const all = options();
    if (!all.length) return;
    const next = all[(all.indexOf(chosen()) + step + all.length) % all.length];
    for (const option of all) option.setAttribute("aria-selected", String(option === next));
    field.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  };
  const undo = () => {
    const row = desk.querySelector("[data-last]");
    const input = row && desk.querySelector(`form[action$="/undo"] input[value="${row.dataset.last}"]`);
    input?.form.requestSubmit();
  };

  // How fast the last keys came, wherever they were typed.
  let burst = "";
  let last = 0;
  addEventListener("keydown", (event) => {
    const now = event.timeStamp;
    const fast = now - last <= SCAN_MS;
    last = now;
    if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) burst = fast ? burst + event.key : event.key;
    const scanned = event.key === "Enter" && fast && burst.length >= 4;
    const typing = event.target.closest?.("input, textarea, select");
    if (scanned && !typing) {
      // A scan while the focus was elsewhere on the desk.
      event.preventDefault();
      field.value = burst;
    }
    if (event.key === "Enter" && (scanned ? !typing || typing === field : typing === field)) {
      // The list may be that of an earlier letter; the server then decides who is meant.
      if (scanned || list().dataset.typed !== field.value.trim()) {
        event.preventDefault();
        event.stopImmediatePropagation();
        if (field.value.trim()) form.requestSubmit();
      }
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && typing === field) { event.preventDefault(); choose(step); }
    if (event.key === "Enter" && typing === field && !event.defaultPrevented) { event.preventDefault(); if (chosen()) chosen().click(); else form.requestSubmit(); }
    if (event.key === "Enter") burst = "";
    if (event.key === "F2") { event.preventDefault(); document.querySelector(".desk-place > summary").click(); }
    if (event.key === "F4") { event.preventDefault(); document.querySelector("[data-key=F4]")?.click(); }
    if (event.key === "Escape" && document.activeElement === field) clear();
    if (event.key === "Escape" && document.getElementById("walk-in")) document.querySelector("[data-key=Escape]")?.click();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) document.getElementById("walk-in")?.requestSubmit();
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !field.value && document.activeElement === field) { event.preventDefault(); undo(); }
  }, true);

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "desk-list") {
      field.setAttribute("aria-expanded", String(options().length > 0));
      if (chosen()) field.setAttribute("aria-activedescendant", chosen().id);
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig?.verb !== "post" || !event.detail.successful) return;
    clear();
    field.focus();
  });
})();
