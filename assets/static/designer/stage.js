// The badge as the server draws it, below a handle for each element.

import { nameOf, placeOf } from "./layout.js";
import { snapMove, snapResize } from "./snap.js";

/** @typedef {import("./layout.js").Frame} Frame */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./layout.js").BadgeElement} BadgeElement */
/** @typedef {{ choose(at: number): void, drag(frame: Frame, corner: string): void, drop(): void, cancel(): void }} Hooks */

const CORNERS = ["nw", "ne", "sw", "se"];
/** So many pixels are a slip of the hand. */
const SLIP_PX = 3;
const NEAR_PX = 6;

export class Stage {
  /** @type {HTMLElement[]} */
  #handles = [];
  /** @type {Layout} */
  #layout = { width: 1, height: 1, front: [], back: [] };
  /** @type {BadgeElement[]} */
  #elements = [];
  /** @type {{ at: number, corner: string, frame: Frame, x: number, y: number, isMoving: boolean } | undefined} */
  #drag;

  /**
   * @param {HTMLElement} root
   * @param {Hooks} hooks
   */
  constructor(root, hooks) {
    this.root = root;
    this.hooks = hooks;
    this.picture = document.createElement("img");
    this.picture.alt = "";
    this.picture.draggable = false;
    this.guides = document.createElement("div");
    root.append(this.picture, this.guides);
    root.addEventListener("pointerdown", (event) => this.#begin(event));
    root.addEventListener("pointermove", (event) => this.#move(event));
    root.addEventListener("pointerup", () => this.#end());
    root.addEventListener("pointercancel", () => this.#end());
    root.addEventListener("focusin", (event) => {
      const at = this.atOf(event.target);
      if (at >= 0) hooks.choose(at);
    });
  }

  /** The position of the handle that something is, or a part of; -1: it is none. */
  atOf(/** @type {EventTarget | null} */ target) {
    const handle = target instanceof HTMLElement ? target.closest(".handle") : null;
    return handle instanceof HTMLElement ? this.#handles.indexOf(handle) : -1;
  }

  get isDragging() {
    return this.#drag?.isMoving === true;
  }

  focus(/** @type {number} */ at) {
    this.#handles[at]?.focus();
  }

  /** Ends a drag as if it had not begun. */
  cancel() {
    this.#drag = undefined;
    this.#guide({ x: [], y: [] });
    this.hooks.cancel();
  }

  show(/** @type {string | undefined} */ address) {
    if (address) this.picture.src = address;
    this.picture.hidden = !address;
  }

  /**
   * @param {Layout} layout
   * @param {BadgeElement[]} elements
   * @param {number} chosen
   */
  draw(layout, elements, chosen) {
    [this.#layout, this.#elements] = [layout, elements];
    const { width, height } = layout;
    this.root.style.aspectRatio = `${width} / ${height}`;
    this.root.style.maxInlineSize = `calc(66vh * ${width / height})`;
    while (this.#handles.length > elements.length) this.#handles.pop()?.remove();
    while (this.#handles.length < elements.length) this.#handles.push(this.#handle());
    elements.forEach((element, at) => {
      const handle = this.#handles[at];
      this.#place(handle, element);
      const isChosen = at === chosen;
      handle.setAttribute("aria-label", `${nameOf(element)}, ${placeOf(element)}`);
      handle.setAttribute("aria-pressed", String(isChosen));
      if (isChosen === handle.childElementCount > 0) return;
      handle.replaceChildren(...(isChosen ? CORNERS.map(corner) : []));
    });
  }

  #handle() {
    const handle = document.createElement("div");
    handle.className = "handle";
    handle.tabIndex = 0;
    handle.setAttribute("role", "button");
    this.root.insertBefore(handle, this.guides);
    return handle;
  }

  #place(/** @type {HTMLElement} */ part, /** @type {Frame} */ { x, y, width, height }) {
    const share = (/** @type {number} */ length, /** @type {number} */ whole) => `${(100 * length) / whole}%`;
    part.style.left = share(x, this.#layout.width);
    part.style.top = share(y, this.#layout.height);
    part.style.width = share(width, this.#layout.width);
    part.style.height = share(height, this.#layout.height);
  }

  #begin(/** @type {PointerEvent} */ event) {
    const at = this.atOf(event.target);
    if (at < 0 || event.button !== 0) return;
    event.preventDefault();
    this.focus(at);
    const { corner = "" } = /** @type {HTMLElement} */ (event.target).dataset;
    const { x, y, width, height } = this.#elements[at];
    this.#drag = { at, corner, frame: { x, y, width, height }, x: event.clientX, y: event.clientY, isMoving: false };
    this.root.setPointerCapture(event.pointerId);
  }

  #move(/** @type {PointerEvent} */ event) {
    const drag = this.#drag;
    if (!drag) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.isMoving && Math.hypot(x, y) < SLIP_PX) return;
    drag.isMoving = true;
    const scale = this.#layout.width / this.root.clientWidth;
    const by = { x: x * scale, y: y * scale };
    const { frame } = drag;
    const badge = { x: 0, y: 0, width: this.#layout.width, height: this.#layout.height };
    const others = [badge, ...this.#elements.filter((_, other) => other !== drag.at)];
    const reach = event.altKey ? { step: 0.1, near: 0.15 } : { step: 1, near: NEAR_PX * scale };
    const snapped = drag.corner
      ? snapResize(frame, drag.corner, by, others, reach)
      : snapMove({ ...frame, x: frame.x + by.x, y: frame.y + by.y }, others, reach);
    this.#guide(snapped.guides);
    this.hooks.drag(snapped.frame, drag.corner);
  }

  #end() {
    const wasMoving = this.isDragging;
    this.#drag = undefined;
    this.#guide({ x: [], y: [] });
    if (wasMoving) this.hooks.drop();
  }

  #guide(/** @type {{ x: number[], y: number[] }} */ { x, y }) {
    const { width, height } = this.#layout;
    const line = (/** @type {string} */ way, /** @type {Frame} */ frame) => {
      const part = document.createElement("div");
      part.className = `guide ${way}`;
      this.#place(part, frame);
      return part;
    };
    this.guides.replaceChildren(
      ...x.map((at) => line("down", { x: at, y: 0, width: 0, height })),
      ...y.map((at) => line("across", { x: 0, y: at, width, height: 0 })),
    );
  }
}

const corner = (/** @type {string} */ name) => {
  const part = document.createElement("span");
  part.className = `corner ${name}`;
  part.dataset.corner = name;
  return part;
};
