// What plain HTML and htmx leave: small manners of the console. Every page works without it.
(() => {
  "use strict";

  // The menu is closed on small screens and always open on large ones.
  const menu = document.querySelector("[data-menu]");
  if (menu) {
    const wide = matchMedia("(min-width: 60rem)");
    const fit = () => { menu.open = wide.matches; };
    fit();
    wide.addEventListener("change", fit);
  }

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const text = document.getElementById(copy.dataset.copy).textContent.trim();
      navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; });
    }
    if (event.target.closest("[data-print]")) print();
  });

  // Buttons that are nothing without scripts.
  for (const button of document.querySelectorAll("[data-print]")) button.hidden = false;

  // What cannot be taken back is asked for once more.
  document.addEventListener("submit", (event) => {
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
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
    input.setCustomValidity(large ? "This file is too large. Split it." : "");
    input.reportValidity();
  });

  // Answers that tell what was wrong with a form are shown like others.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 422) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    }
  });

  // A part that follows what happens tells when it cannot.
  const lost = document.createElement("p");
  lost.className = "notice bad";
  lost.textContent = "The server does not answer. What this page shows may be old.";
  lost.setAttribute("role", "status");
  const lose = () => document.querySelector("main")?.prepend(lost);
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.getAttribute("hx-trigger")?.startsWith("every")) event.detail.timeout = 8000;
  });
  document.addEventListener("htmx:timeout", lose);
  document.addEventListener("htmx:sendError", lose);
  document.addEventListener("htmx:sseError", lose);
  document.addEventListener("htmx:sseOpen", () => lost.remove());
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.successful) lost.remove(); });

  // Countdowns: <time data-until="Unix milliseconds">.
  const left = () => {
    for (const clock of document.querySelectorAll("[data-until]")) {
      const seconds = Math.max(0, Math.round((clock.dataset.until - Date.now()) / 1000));
      const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      if (clock.textContent !== text) clock.textContent = text;
    }
  };
  left();
  setInterval(left, 1000);
})();
