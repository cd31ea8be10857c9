// The desk: scanners type fast and end in Enter, and the field is always ready for the next person.
(() => {
  "use strict";
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const places = document.querySelector(".desk-place");
  const desk = document.querySelector("[data-desk]");
  addEventListener("keydown", (event) => {
    const links = [...places.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "F2") {
      event.preventDefault();
      places.open = !places.open;
      (places.open ? links[0] : document.getElementById("desk-field") ?? places.querySelector("summary"))?.focus();
    } else if (step && places.open && places.contains(document.activeElement)) {
      event.preventDefault();
      links[(at + step + links.length) % links.length]?.focus();
    } else if (event.key === "Escape" && places.open) {
      places.open = false;
      document.getElementById("desk-field")?.focus();
    }
  });
  if (!desk) { places.querySelector("summary").focus(); return; }
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
  // Of several who are meant, before anything else is typed.
  const meant = () => (field.value.trim() ? null : desk.querySelector("#verdict .options"));
  const options = () => [...(meant() ?? list()).querySelectorAll("[role=option]:not([aria-disabled])")];
  const chosen = () => options().find((option) => option.getAttribute("aria-selected") === "true");
  const choose = (step) => {
    const all = options();
    if (!all.length) return;
    const next = all[(all.indexOf(chosen()) + step + all.length) % all.length];
    for (const option of all) option.setAttribute("aria-selected", String(option === next));
    field.setAttribute("aria-activedescendant", next.id);
    next.scrollIntoView({ block: "nearest" });
  };
  /** Enters whoever is marked: as a field of the form, so that nothing hangs on which button had the focus. */
  const take = (option) => {
    if (option.form !== form) { option.click(); return; }
    const person = document.createElement("input");
    [person.type, person.name, person.value] = ["hidden", option.name, option.value];
    form.append(person);
    form.requestSubmit();
    person.remove();
  };
  const undo = () => {
    desk.querySelector("#verdict form[action$='/undo']")?.requestSubmit();
  };

  /** Says that nothing was recorded; the next scan replaces what was typed. */
  const failed = (xhr) => {
    const page = new DOMParser().parseFromString(xhr?.responseText ?? "", "text/html");
    const why = page.querySelector("[data-failure]")?.textContent.trim() || say("The server does not answer.");
    const box = document.createElement("div");
    box.id = "verdict";
    box.className = "verdict bad";
    box.setAttribute("role", "alert");
    for (const [tag, name, text] of [["strong", "verdict-word", say("Not recorded")], ["p", "verdict-why", why]]) {
      const part = document.createElement(tag);
      part.className = name;
      part.textContent = text;
      box.append(part);
    }
    document.getElementById("verdict")?.remove();
    document.getElementById("desk-side").prepend(box);
    field.focus();
    field.select();
  };

  const walkIn = document.getElementById("walk-in");
  walkIn?.addEventListener("submit", (event) => {
    if (walkIn.dataset.sent) event.preventDefault();
    walkIn.dataset.sent = "1";
  });
  addEventListener("pageshow", () => { if (walkIn) delete walkIn.dataset.sent; });

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
      if (scanned || (field.value.trim() && list().dataset.typed !== field.value.trim())) {
        event.preventDefault();
        event.stopImmediatePropagation();
        if (field.value.trim()) form.requestSubmit();
      }
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && typing === field) { event.preventDefault(); choose(step); }
    if (event.key === "Enter" && typing === field && !event.defaultPrevented) { event.preventDefault(); if (chosen()) take(chosen()); else if (field.value.trim()) form.requestSubmit(); }
    if (event.key === "Enter") burst = "";
    if (event.key === "F4") { event.preventDefault(); document.querySelector("[data-key=F4]")?.click(); }
    if (event.key === "Escape" && document.activeElement === field) clear();
    if (event.key === "Escape" && document.getElementById("walk-in")) document.querySelector("[data-key=Escape]")?.click();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) walkIn?.requestSubmit();
    const print = document.querySelector("#desk-side form[action='/console/desk/print'] button");
    if (print && event.key.toLowerCase() === "p" && (event.ctrlKey || event.metaKey) && !field.value) { event.preventDefault(); if (!event.repeat) print.click(); }
    if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !field.value && document.activeElement === field) { event.preventDefault(); if (!event.repeat) undo(); }
  }, true);

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "desk-list") {
      // The answer for a name that was entered meanwhile.
      if ((list().dataset.typed ?? "") !== field.value.trim() && !field.value.trim()) { clear(); return; }
      field.setAttribute("aria-expanded", String(options().length > 0));
      if (chosen()) field.setAttribute("aria-activedescendant", chosen().id);
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig?.verb !== "post") return;
    if (event.detail.successful) { clear(); field.focus(); }
    else failed(event.detail.xhr);
  });
})();
