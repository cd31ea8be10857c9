// The programme: a session is dragged to another room or time.
(() => {
  "use strict";
  const table = document.querySelector("[data-programme]");
  const form = document.getElementById("move");
  if (!table || !form) return;
  let moved = null;
  /** The field below the pointer that a session can be dropped on. */
  const field = (event) => moved && event.target.closest("td[data-room]");
  const mark = (target) => {
    table.querySelector(".drop")?.classList.remove("drop");
    target?.classList.add("drop");
  };
  table.addEventListener("dragstart", (event) => {
    moved = event.target.closest("[data-session]");
    if (moved) event.dataTransfer.setData("text/plain", moved.textContent.trim());
  });
  table.addEventListener("dragover", (event) => {
    const target = field(event);
    if (target) event.preventDefault();
    mark(target);
  });
  table.addEventListener("dragend", () => {
    moved = null;
    mark(null);
  });
  table.addEventListener("drop", (event) => {
    const target = field(event);
    if (!target) return;
    event.preventDefault();
    form.action = `/console/devices/${moved.dataset.session}/move`;
    form.elements.room.value = target.dataset.room;
    form.elements.at.value = target.dataset.at;
    form.requestSubmit();
  });
})();
