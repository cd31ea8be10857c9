// What plain HTML and htmx leave: small manners of the console. Every page works without it.
(() => {
  "use strict";
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const find = (css, root = document) => root.querySelector(css);
  const all = (css, root = document) => [...root.querySelectorAll(css)];

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const text = document.getElementById(copy.dataset.copy).textContent.trim();
      navigator.clipboard?.writeText(text).then(() => { copy.textContent = say("Copied"); });
    }
    if (event.target.closest("[data-print]")) print();
    const insert = event.target.closest("[data-insert]");
    if (insert) {
      const form = insert.closest("form");
      const field = form.contains(written) ? written : find("textarea", form);
      field.focus();
      field.setRangeText(insert.dataset.insert, field.selectionStart, field.selectionEnd, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });
  let written = null;
  document.addEventListener("focusout", (event) => { if (event.target.matches("textarea, input[type=text]")) written = event.target; });

  // What is cut off tells the whole under the pointer.
  document.addEventListener("pointerover", (event) => {
    const cut = event.target.closest?.(".cut, .lead, .desk-place span");
    if (cut && !cut.title && cut.scrollWidth > cut.clientWidth) cut.title = cut.textContent.trim();
  });

  // Buttons that are nothing without scripts.
  for (const button of all("[data-print], [data-keys], [data-insert]")) button.hidden = false;

  // What cannot be taken back is asked for once more, as is what loses changes in another form of the settings.
  const isChanged = (field) => {
    if (field.options) return field.value !== ([...field.options].find((option) => option.defaultSelected) ?? field.options[0])?.value;
    // A button has no value that was typed.
    return "defaultValue" in field && (field.checked !== field.defaultChecked || field.value !== field.defaultValue);
  };
  const loses = (form) => form.closest(".settings")
    && all(".settings form").some((other) => other !== form && [...other.elements].some((field) => field.name && !field.disabled && isChanged(field)));
  document.addEventListener("submit", (event) => {
    const asked = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    const question = loses(event.target) ? say("Changes in other sections of this page are not saved and will be lost. Go on?") : asked;
    if (question && !confirm(question)) event.preventDefault();
  });

  // A long upload is seen to be on its way, and a file that is too large need not be sent to be told.
  document.addEventListener("submit", (event) => {
    const busy = event.target.dataset.busy;
    if (busy && !event.defaultPrevented && event.submitter) event.submitter.textContent = busy;
  });
  document.addEventListener("change", (event) => {
    const input = event.target.closest("input[type=file][data-most]");
    if (!input) return;
    const large = [...input.files].some((file) => file.size > input.dataset.most);
    input.setCustomValidity(large ? say("This file is too large. Split it.") : "");
    input.reportValidity();
  });

  // Answers that tell what was wrong with a form are shown like others.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 422) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  // What renews itself moves nothing under the pointer, the focus or an open menu: then its values change and no more.
  let movedAt = -Infinity;
  addEventListener("pointermove", (event) => { movedAt = event.timeStamp; });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, requestConfig, xhr } = event.detail;
    if (!target.matches?.("[data-quiet]") || requestConfig.elt !== target) return;
    const isPointed = target.matches(":hover") && performance.now() - movedAt < 10_000;
    if (target.dataset.quiet !== "always" && !isPointed && !find(":focus, details[open], [data-hold]", target)) return;
    event.detail.shouldSwap = false;
    for (const value of all("[data-now]", new DOMParser().parseFromString(xhr.responseText, "text/html"))) {
      const shown = document.getElementById(value.id);
      if (shown && shown.innerHTML !== value.innerHTML) shown.innerHTML = value.innerHTML;
    }
  });

  // Focus stays where the work is, and lists stay as far as they were scrolled, whatever part of the page is renewed.
  const reachable = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  let held = [];
  let scrolled = [];
  document.addEventListener("htmx:beforeSwap", () => {
    held = [];
    for (let part = document.activeElement; part && part !== document.body; part = part.parentElement) if (part.id) held.push(part.id);
    scrolled = all(".scroll[id]").map((part) => [part.id, part.scrollTop, part.scrollLeft]);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const [id, top, left] of scrolled) document.getElementById(id)?.scrollTo(left, top);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    const ids = held;
    held = [];
    if (document.activeElement !== document.body) return;
    let part = ids.map((id) => document.getElementById(id)).find(Boolean);
    if (part?.contains(event.target)) part = event.target;
    const next = part && (part.matches(reachable) ? part : all(reachable, part).find((one) => one.checkVisibility() && !one.disabled));
    next?.focus({ preventScroll: true });
  });

  // A menu with a form begins at its field, and a form that came back at what is wrong with it.
  document.addEventListener("toggle", (event) => { if (event.target.open) find("[data-first]", event.target)?.focus(); }, true);
  const wrong = find("main [aria-invalid], main [data-wrong]") ?? find("main form .notice.bad[role=alert]");
  if (wrong) {
    for (let folded = wrong.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
    if (wrong.matches(".notice")) wrong.tabIndex = -1;
    wrong.focus();
    wrong.scrollIntoView({ block: "center" });
  }

  // Requests of a page that renews itself end in time, and addresses of lists name only what is set.
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, formData } = event.detail;
    if (elt.getAttribute("hx-trigger")?.startsWith("every")) event.detail.timeout = 8000;
    if (elt.closest(".toolbar")) for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });

  // Contact with the server: when it is lost, the page says since when, and its numbers are pale.
  const clock = () => find(".clock")?.textContent.trim() ?? "";
  let last = clock();
  const lose = () => {
    const line = find(".connection");
    document.body.classList.add("old");
    if (!line) return;
    line.classList.add("old");
    line.setAttribute("role", "status");
    find(".dot", line).className = "dot warn";
    find("[data-contact]", line).textContent = say("Last contact #").replace("#", last);
  };
  const regain = () => {
    last = clock();
    if (!document.body.classList.contains("old")) return;
    document.body.classList.remove("old");
    globalThis.htmx?.ajax("GET", "/console/contact", { target: "#contact", swap: "outerHTML" });
  };
  for (const name of ["timeout", "sendError", "sseError"]) document.addEventListener(`htmx:${name}`, lose);
  document.addEventListener("htmx:sseOpen", regain);
  document.addEventListener("htmx:sseMessage", regain);
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) regain(); });

  // Menus close when the work is elsewhere; Escape closes the innermost.
  const menus = () => all("details.menu[open]");
  document.addEventListener("click", (event) => {
    for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
    if (event.target instanceof HTMLDialogElement) event.target.close();
    if (event.target.closest("[data-palette]")) { event.preventDefault(); openPalette(); }
    if (event.target.closest("[data-keys]")) openKeys();
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && menus().at(-1);
    if (menu) { menu.open = false; find("summary", menu).focus(); return; }
    if (event.key === "Escape") find("[data-cancel]", event.target.closest?.(".editing") ?? document.createElement("p"))?.click();
  });

  // Rows of a list are selected: one, with Shift all from the last one, the page, or, by the key X, the row with the focus.
  const boxes = () => all("[data-selection] tbody [name=id]");
  let lastBox = null;
  const count = () => {
    const chosen = boxes().filter((box) => box.checked).length;
    const told = find("[data-selection] [data-count]");
    if (told) told.textContent = find("[data-selection] [name=all]")?.checked ? say("All selected") : say("# selected").replace("#", String(chosen));
    const page = find("[data-select-page]");
    if (page) { page.checked = chosen > 0 && chosen === boxes().length; page.indeterminate = chosen > 0 && !page.checked; }
  };
  const showPageBox = () => { const page = find("[data-select-page]"); if (page) { page.hidden = false; count(); } };
  showPageBox();
  document.addEventListener("htmx:afterSwap", showPageBox);
  addEventListener("pageshow", count);
  document.addEventListener("click", (event) => {
    const box = event.target.closest("[data-selection] tbody [name=id]");
    if (!box) return;
    const [from, to] = [boxes().indexOf(lastBox), boxes().indexOf(box)].sort((one, other) => one - other);
    if (event.shiftKey && from >= 0) for (const other of boxes().slice(from, to + 1)) other.checked = box.checked;
    lastBox = box;
    count();
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-select-page]")) for (const box of boxes()) box.checked = event.target.checked;
    if (event.target.closest("[data-selection]")) count();
  });
  document.addEventListener("reset", (event) => { if (event.target.matches("[data-selection]")) setTimeout(count); });
  const stepRow = (step) => {
    const rows = boxes();
    const at = rows.indexOf(find("[name=id]", document.activeElement?.closest("tr") ?? document.createElement("p")));
    rows[Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus();
  };

  // The groups of the navigation stay as they were left: the server reads this cookie.
  const groups = all("[data-group]");
  for (const group of groups) {
    find("summary", group).addEventListener("click", () => setTimeout(() => {
      // The group of this page is open whatever was left, unless it is the one that is meant.
      const isLeft = (one) => one.open && (one === group || !find("[aria-current]", one));
      const open = groups.filter(isLeft).map((one) => one.dataset.group);
      document.cookie = `gatepost_open=${open.join(".")}; path=/console; samesite=strict; max-age=31536000`;
    }));
  }

  // The palette: results follow what is typed, the first one is chosen, arrows choose another.
  const palette = find("#palette");
  const input = palette && find("input[role=combobox]", palette);
  const options = () => all("[role=option][href]", palette);
  const choose = (chosen) => {
    for (const option of options()) option.setAttribute("aria-selected", option === chosen);
    if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
    else input.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  };
  function openPalette() {
    if (!palette || palette.open || !globalThis.htmx) { if (!palette?.open) location.assign("/console/find"); return; }
    palette.showModal();
    input.select();
    htmx.trigger(input, "open");
  }
  palette?.addEventListener("htmx:afterSwap", () => choose(options()[0]));
  input?.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const found = options();
    const at = found.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (step && found.length) {
      event.preventDefault();
      choose(found[(at + step + found.length) % found.length]);
    }
    // Results of other letters are not what is meant: the server then finds the first one itself.
    const isOf = find("[data-found]", palette)?.dataset.found === input.value.trim();
    // In a field, the first Escape would only empty it.
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); palette.close(); }
    if (event.key === "Enter" && isOf && found[at]) { event.preventDefault(); found[at].click(); }
  });

  // Keys. None counts in a field, beside a modifier, or within 300 ms of another: wedge scanners type.
  const QUIET_MS = 300;
  const keys = find("#keys");
  const box = keys && find("[data-keys-on]", keys);
  const stored = "gatepost.keys";
  if (box) box.checked = localStorage.getItem(stored) !== "off";
  box?.addEventListener("change", () => localStorage.setItem(stored, box.checked ? "on" : "off"));
  function openKeys() { if (keys && !keys.open) keys.showModal(); }
  const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog");
  let before = -Infinity;
  let typed = "";
  let due = 0;
  const MODIFIERS = ["Shift", "Control", "Alt", "AltGraph", "Meta"];
  const jump = (key) => find(`.side [data-key="${key}"]`)?.click();
  document.addEventListener("keydown", (event) => {
    // On the way to a sign such as ? a modifier is no key of its own.
    if (MODIFIERS.includes(event.key)) return;
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey) { event.preventDefault(); openPalette(); return; }
    const isQuiet = event.timeStamp - before > QUIET_MS;
    before = event.timeStamp;
    clearTimeout(due);
    if (event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1 || isTyping(event.target) || !box?.checked) {
      typed = "";
      return;
    }
    const key = event.key.toUpperCase();
    if (typed === "G") {
      typed = "";
      due = setTimeout(() => jump(key), QUIET_MS);
    } else if (isQuiet) {
      typed = key;
      if (key === "/") { event.preventDefault(); openPalette(); }
      if (key === "?") openKeys();
      if (key === "X") find("[name=id]", document.activeElement?.closest("[data-selection] tr") ?? document.createElement("p"))?.click();
      if (key === "J" || key === "K") stepRow(key === "J" ? 1 : -1);
      const button = find(`main [data-press="${key}"]`);
      if (button) due = setTimeout(() => button.click(), QUIET_MS);
    } else {
      typed = "";
    }
  });

  // A server in the cloud knows no zone; the browser of whoever sets it up mostly is in that of the venue.
  const ownZone = find("[data-own-zone]");
  if (ownZone?.value === "UTC") ownZone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

  // Countdowns: <time data-until="Unix milliseconds">.
  const left = () => {
    for (const until of all("[data-until]")) {
      const seconds = Math.max(0, Math.round((until.dataset.until - Date.now()) / 1000));
      const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (until.textContent !== text) until.textContent = text;
    }
  };
  left();
  setInterval(left, 1000);
})();
