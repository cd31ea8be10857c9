// Activity as it comes in: new rows take their place at the top, and wait while somebody points at the list or
// has paused it.
(() => {
  "use strict";
  // What a page says in its language, by the English words.
  const say = (words) => JSON.parse(document.body.dataset.texts || "{}")[words] ?? words;
  const hold = document.getElementById("hold");
  const waiting = document.getElementById("waiting");
  if (!hold) return;
  hold.hidden = false;
  /** Rows that a page has at most. */
  const MOST = 200;
  let queue = [];
  let isOver = false;
  const list = () => document.getElementById("tail");
  const isPaused = () => hold.getAttribute("aria-pressed") === "true";

  const insert = (row) => {
    const same = row.id && document.getElementById(row.id);
    if (same && !row.classList.contains("fold-row")) return;
    same?.remove();
    if (row.dataset.undoes) document.getElementById(row.dataset.undoes)?.remove();
    const next = [...list().children].find((other) => Number(other.dataset.at) <= Number(row.dataset.at));
    // What is older than this page has its place on a later one.
    if (!next && list().childElementCount && document.querySelector("#found .list-foot")) return;
    list().insertBefore(row, next ?? null);
    row.classList.add("new");
    globalThis.htmx?.process(row);
    while (list().childElementCount > MOST) list().lastElementChild.remove();
    document.querySelector("#found > .empty")?.remove();
  };
  const show = () => {
    for (const row of queue.splice(0)) insert(row);
    waiting.hidden = true;
  };
  const tell = () => {
    // What an undo has put in its place is there already.
    queue = queue.filter((row) => row.classList.contains("fold-row") || !document.getElementById(row.id));
    waiting.textContent = say("# new").replace("#", queue.length === MOST ? `${MOST}+` : String(queue.length));
    waiting.hidden = queue.length === 0;
  };

  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    event.preventDefault();
    const parsed = document.createElement("template");
    parsed.innerHTML = event.detail.data;
    const rows = [...parsed.content.children].reverse();
    const names = new Set(rows.map((row) => row.id));
    queue = [...queue.filter((row) => !names.has(row.id)), ...rows].slice(-MOST);
    if (isPaused() || isOver) tell(); else show();
  });
  hold.addEventListener("click", () => {
    hold.setAttribute("aria-pressed", String(!isPaused()));
    if (!isPaused()) show();
  });
  waiting.addEventListener("click", () => { show(); hold.focus(); });
  const point = (over) => {
    isOver = over;
    if (!over && !isPaused() && queue.length) show();
  };
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse") point(Boolean(event.target.closest?.("#tail")));
  });
  document.documentElement.addEventListener("pointerleave", () => point(false));
  // Another filter is another list.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id === "found") queue = [];
    tell();
  });
})();
