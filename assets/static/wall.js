// The wall display: it loads itself anew with a new version of the server, and says when its numbers are old.
(() => {
  "use strict";
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const find = (css) => document.querySelector(css);
  const version = () => find("[data-version]")?.dataset.version;
  const first = version();
  const time = () => find(".clock")?.textContent.trim() ?? "";
  let last = time();
  document.addEventListener("htmx:sseMessage", () => {
    document.body.classList.remove("old");
    last = time();
    if (version() !== first) location.reload();
  });
  document.addEventListener("htmx:sseError", async () => {
    const line = find(".connection");
    document.body.classList.add("old");
    line.hidden = false;
    line.className = "connection old";
    line.textContent = say("Last contact #").replace("#", last);
    // A link that was revoked ends the display; a server that is away comes back.
    const answer = await fetch(location.pathname, { redirect: "manual" }).catch(() => null);
    if (answer && !answer.ok) location.reload();
  });
})();
