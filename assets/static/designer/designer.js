// The designer of badges: elements over the server's drawing, by pointer or by keys. What it makes is in the field with the JSON, which
// the form sends: without this script that field does the same.

import { History } from "./history.js";
import { filled, inWords, make, moved, nameOf, placeOf, read, rounded, sized, write } from "./layout.js";
import { Panel } from "./panel.js";
import { previewer } from "./preview.js";
import { Stage } from "./stage.js";

/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").BadgeElement} BadgeElement */
/** @typedef {import("./layout.js").Frame} Frame */
/** @typedef {import("./layout.js").Side} Side */

const root = /** @type {HTMLElement} */ (document.querySelector("[data-designer]"));
const form = /** @type {HTMLFormElement} */ (root.closest("form"));
const json = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("layout"));
const find = (/** @type {string} */ css) => /** @type {HTMLElement} */ (root.querySelector(css));
const buttons = (/** @type {string} */ css) => /** @type {HTMLButtonElement[]} */ ([...root.querySelectorAll(css)]);
const offered = JSON.parse(root.dataset.designer ?? "{}");
const list = find("[data-list]");
const sample = /** @type {HTMLSelectElement} */ (find("[data-sample]"));

/** @type {Side} */
let side = "front";
let chosen = -1;
/** @type {History<Layout>} */
let history;
/** @type {string[]} */
let pages = [];

const layout = () => history.state;
const elements = () => layout()[side];
const current = () => elements()[chosen];

const say = (/** @type {string} */ text) => void (find("[data-said]").textContent = text);

/** @param {{ error?: string, warnings?: string[] }} drawn */
const tell = ({ error, warnings = [] }) => {
  const line = (/** @type {string} */ text, /** @type {string} */ tone) =>
    Object.assign(document.createElement("li"), { className: `notice ${tone}`, textContent: text });
  const lines = error ? [line(error, "bad")] : warnings.map((warning) => line(warning, "warn"));
  find("[data-warnings]").replaceChildren(...lines);
};

/** The number of the attendee who was found. */
const person = () => /** @type {HTMLInputElement | null} */ (root.querySelector("input[name=delegate]:checked"))?.value ?? "";

const preview = previewer(
  root.dataset.preview ?? "",
  () => ({
    csrf: /** @type {HTMLInputElement} */ (form.elements.namedItem("csrf")).value,
    layout: json.value,
    ...(sample.value ? { sample: sample.value } : { delegate: person() }),
  }),
  (drawn) => {
    tell(drawn);
    if (!drawn.pages) return;
    pages = drawn.pages;
    stage.show(pages[side === "front" ? 0 : 1]);
    root.dataset.drawn = drawn.name;
  },
);

/** Shows the state as it is, without asking for a picture. */
const draw = () => {
  stage.draw(layout(), elements(), chosen);
  const items = elements().map((element, at) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "button quiet small cut", textContent: nameOf(element), tabIndex: at === Math.max(chosen, 0) ? 0 : -1 });
    button.setAttribute("aria-pressed", String(at === chosen));
    const item = document.createElement("li");
    item.append(button);
    return item;
  });
  const focused = listed(document.activeElement);
  list.replaceChildren(...items);
  if (items.length === 0)
    list.append(
      Object.assign(document.createElement("li"), {
        className: "help",
        textContent: inWords(side === "front" ? "None on the front yet" : "None on the back yet"),
      }),
    );
  if (focused >= 0) focusListed(Math.min(focused, items.length - 1));
  const size = offered.presets.find((/** @type {Frame} */ { width, height }) => width === layout().width && height === layout().height);
  const element = current();
  panel.show(element ? `${side} ${chosen} ${element.kind}` : "badge", element ?? { ...layout(), preset: size?.name ?? "" });
  for (const button of buttons("[data-side]")) button.setAttribute("aria-pressed", String(button.dataset.side === side));
  for (const button of buttons("[data-do]")) button.disabled = !isPossible(button.dataset.do ?? "");
};

const isPossible = (/** @type {string} */ name) => {
  if (name === "undo") return history.canUndo;
  if (name === "redo") return history.canRedo;
  if (name === "front") return chosen >= 0 && chosen < elements().length - 1;
  if (name === "back") return chosen > 0;
  return chosen >= 0;
};

/** Writes the state into the field that is saved. */
const keep = () => {
  json.value = write(layout());
  draw();
  preview();
};

/**
 * Goes on with another layout.
 * @param {Layout} next
 * @param {string} what
 */
const change = (next, what = "") => {
  history.push(next, what);
  keep();
};

/**
 * The layout with other elements on this side.
 * @param {BadgeElement[]} next
 * @returns {Layout}
 */
const withElements = (next) => ({ ...layout(), [side]: next });

/**
 * @param {Record<string, unknown>} values
 * @param {string} what
 */
const changeElement = (values, what = "") => {
  const next = { ...current(), ...values };
  change(withElements(elements().map((element, at) => (at === chosen ? next : element))), what);
};

const choose = (/** @type {number} */ at) => {
  if (at === chosen) return;
  history.rest();
  chosen = at;
  draw();
};

/** @type {BadgeElement | undefined} */
let dragged;
const stage = new Stage(find("[data-stage]"), {
  choose,
  drag: (frame, corner) => {
    dragged = { ...current(), ...(corner ? sized(frame, current().kind === "line") : moved(frame, layout())) };
    const others = elements().map((element, at) => (at === chosen && dragged ? dragged : element));
    stage.draw(layout(), others, chosen);
    panel.show(`${side} ${chosen} ${dragged.kind}`, dragged);
  },
  drop: () => {
    if (dragged) changeElement(dragged);
    dragged = undefined;
  },
  cancel: () => {
    dragged = undefined;
    draw();
  },
});

const panel = new Panel(find("[data-panel]"), find("[data-heading]"), offered, (name, value) => {
  const what = `${side} ${chosen} ${name}`;
  if (chosen >= 0) return changeElement({ [name]: value }, what);
  const preset = name === "preset" && offered.presets.find((/** @type {{ name: string }} */ preset) => preset.name === value);
  if (preset) change({ ...layout(), width: preset.width, height: preset.height });
  else if (name !== "preset") change({ ...layout(), [name]: value }, what);
});

const add = (/** @type {BadgeElement} */ element) => {
  chosen = elements().length;
  change(withElements([...elements(), element]));
  stage.focus(chosen);
  say(filled("$name added, $place", { name: nameOf(element), place: placeOf(element) }));
};

const remove = () => {
  const gone = nameOf(current());
  const next = elements().filter((_, at) => at !== chosen);
  chosen = Math.min(chosen, next.length - 1);
  change(withElements(next));
  if (chosen >= 0) stage.focus(chosen);
  say(filled("$name removed", { name: gone }));
};

/** Draws the chosen element one place further to the front or the back. */
const order = (/** @type {number} */ step) => {
  const next = [...elements()];
  const [element] = next.splice(chosen, 1);
  chosen += step;
  next.splice(chosen, 0, element);
  change(withElements(next));
  say(filled("$name, $at of $count", { name: nameOf(element), at: chosen + 1, count: next.length }));
};

const travel = (/** @type {boolean} */ isThere, /** @type {string} */ told) => {
  if (!isThere) return;
  chosen = Math.min(chosen, elements().length - 1);
  keep();
  say(inWords(told));
};

const WORK = /** @type {Record<string, () => void>} */ ({
  undo: () => travel(history.undo(), "Undone"),
  redo: () => travel(history.redo(), "Redone"),
  duplicate: () => add({ ...structuredClone(current()), ...moved({ ...current(), x: current().x + 2, y: current().y + 2 }, layout()) }),
  remove,
  front: () => order(1),
  back: () => order(-1),
});

const ARROWS = /** @type {Record<string, [number, number]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] });

/** Moves the chosen element, or with Ctrl its lower right corner; a key that is held down is one step to undo. */
const nudge = (/** @type {KeyboardEvent} */ event) => {
  const length = event.altKey ? 0.1 : event.shiftKey ? 5 : 1;
  const [x, y] = ARROWS[event.key].map((way) => way * length);
  const frame = current();
  const isSizing = event.ctrlKey || event.metaKey;
  const grown = { ...frame, width: rounded(frame.width + x), height: rounded(frame.height + y) };
  const next = isSizing ? sized(grown, frame.kind === "line") : moved({ ...frame, x: frame.x + x, y: frame.y + y }, layout());
  if (!event.repeat) history.rest();
  changeElement(next, `keys ${side} ${chosen}`);
  say(filled(isSizing ? "$width by $height mm" : "$x from the left, $y from the top", current()));
};

const listed = (/** @type {EventTarget | null} */ target) => buttons("[data-list] button").findIndex((button) => button === target);
const focusListed = (/** @type {number} */ at) => buttons("[data-list] button")[at]?.focus();

/** The work of a key that is pressed where nothing is typed; on an element it need not have a modifier. */
const workOf = (/** @type {KeyboardEvent} */ event, /** @type {boolean} */ isOnElement) => {
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === "z") return event.shiftKey ? "redo" : "undo";
    return { y: "redo", d: "duplicate" }[key];
  }
  return isOnElement ? { delete: "remove", backspace: "remove", pageup: "front", pagedown: "back" }[key] : undefined;
};

/** Works, and keeps the focus where the work is when its button or element is gone. */
const work = (/** @type {string} */ name) => {
  if (isPossible(name)) WORK[name]();
  if (document.activeElement?.matches(":disabled, body")) {
    if (chosen >= 0) stage.focus(chosen);
    else buttons("[data-add]")[0].focus();
  }
};

const isTyped = (/** @type {EventTarget | null} */ target) => target instanceof HTMLInputElement || target instanceof HTMLSelectElement;

/** Keys of the badge: `at` is the handle with the focus. */
const onHandle = (/** @type {KeyboardEvent} */ event) => {
  if (event.key in ARROWS) nudge(event);
  else if (event.key === "Enter") panel.focus();
  else if (event.key === "Escape" && stage.isDragging) stage.cancel();
  else if (event.key === "Escape") focusListed(chosen);
  else return false;
  return true;
};

/** Keys of the list, of which one button is reached by Tab. */
const onListed = (/** @type {KeyboardEvent} */ event, /** @type {number} */ at) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return false;
  const next = (at + step + elements().length) % elements().length;
  choose(next);
  focusListed(next);
  return true;
};

root.addEventListener("keydown", (event) => {
  if (isTyped(event.target)) {
    // Enter would save, and Escape goes back to what the fields are about.
    if (event.key === "Enter") event.preventDefault();
    if (event.key === "Escape" && find("[data-panel]").contains(/** @type {Node} */ (event.target))) stage.focus(chosen);
    return;
  }
  const at = listed(event.target);
  const isHandle = stage.atOf(event.target) >= 0;
  const isDone = isHandle ? onHandle(event) : at >= 0 && onListed(event, at);
  const name = isDone ? undefined : workOf(event, isHandle || at >= 0);
  if (name) work(name);
  if (isDone || name) event.preventDefault();
});

root.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  const at = listed(button);
  if (at >= 0) {
    choose(at);
    stage.focus(at);
  }
  if (button.dataset.add) add(make(button.dataset.add, layout()));
  if (button.dataset.do) work(button.dataset.do);
  if (button.dataset.side) {
    side = /** @type {Side} */ (button.dataset.side);
    chosen = -1;
    draw();
    stage.show(pages[side === "front" ? 0 : 1]);
  }
  if ("badge" in button.dataset) {
    choose(-1);
    panel.focus();
  }
});

sample.addEventListener("change", () => {
  find("[data-person]").hidden = sample.value !== "";
  if (sample.value) preview();
});
find("[data-person]").addEventListener("change", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.name === "delegate") preview();
});

/** Begins with what the field has: at first, and whenever somebody changed it by hand. */
const begin = () => {
  try {
    const state = read(json.value);
    if (history) history.push(state, "json");
    else history = new History(state);
    chosen = Math.min(chosen, elements().length - 1);
    draw();
    preview();
  } catch (cause) {
    tell({ error: `The JSON cannot be read: ${cause instanceof Error ? cause.message : cause}` });
  }
  find("[data-board]").hidden = !history;
};
json.addEventListener("input", begin);
root.hidden = false;
begin();
