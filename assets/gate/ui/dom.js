// Short ways to the page.

import { language, t } from "../core/texts.js";

/** @template {HTMLElement} [T=HTMLElement] @param {string} id @returns {T} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element ${id}`);
  return /** @type {T} */ (element);
}

/**
 * Makes an element. `on…` are listeners, other properties attributes; false and undefined are left out.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string|false|undefined)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Changes text only where it differs: screen readers and layout stay calm. @param {HTMLElement} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} name one of the symbols in index.html @param {string} [className] */
export function icon(name, className = "icon") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#${name}`);
  svg.append(use);
  return svg;
}

const SCREENS = ["setup", "places", "scan", "kiosk", "readiness", "uploads", "evacuation"];

/** Shows one screen and moves the focus to its heading. @param {string} name */
export function showScreen(name) {
  for (const screen of SCREENS) byId(screen).hidden = screen !== name;
  document.body.dataset.screen = name;
  if (name !== "scan") byId(name).querySelector("h1")?.focus();
}

/** @type {WeakMap<HTMLElement, string>} */
const filled = new WeakMap();

/** Fills an element with one child an item, only where an item changed. @template T @param {HTMLElement} element @param {T[]} items @param {(item: T) => Node} draw */
export function fill(element, items, draw) {
  const drawn = JSON.stringify(items);
  if (filled.get(element) === drawn) return;
  filled.set(element, drawn);
  element.replaceChildren(...items.map(draw));
}

/** Fills the elements of the page that name their text, in the crew's language. @param {ParentNode} root */
export function fillTexts(root) {
  document.documentElement.lang = language();
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = t(element.getAttribute("data-text") ?? "");
  for (const element of root.querySelectorAll("[data-label]")) element.setAttribute("aria-label", t(element.getAttribute("data-label") ?? ""));
  for (const element of root.querySelectorAll("[data-hint]")) element.setAttribute("placeholder", t(element.getAttribute("data-hint") ?? ""));
  for (const element of root.querySelectorAll("[data-alt]")) element.setAttribute("alt", t(element.getAttribute("data-alt") ?? ""));
}

export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) /** @type {HTMLDialogElement} */ (dialog).close();
}

const TOAST_S = 5;
let toastTimer = /** @type {ReturnType<typeof setInterval>|undefined} */ (undefined);

/** A message for some seconds, above the dialog that is open; a verdict comes first. @param {string} text */
export function toast(text) {
  (document.querySelector("dialog[open]") ?? document.body).append(byId("toast"));
  setText(byId("toast"), text);
  clearInterval(toastTimer);
  let left = TOAST_S;
  toastTimer = setInterval(() => {
    if (byId("verdict").hidden) left -= 1;
    if (left > 0) return;
    clearInterval(toastTimer);
    setText(byId("toast"), "");
  }, 1000);
}
