// The properties of what is chosen, as fields with labels.

import { KINDS, inWords } from "./layout.js";

/** @typedef {import("./layout.js").BadgeElement} BadgeElement */
/** @typedef {{ name: string, label: string, type: string, choices?: Record<string, string>, min?: number, max?: number, isWide?: boolean }} Property */
/** @typedef {{ fields: string[], types: string[], presets: { name: string, width: number, height: number }[] }} Offered */
/** @typedef {(name: string, value: unknown) => void} SetValue */

/** @type {Property[]} */
const FRAME = [
  { name: "x", label: "From the left, mm", type: "number", min: -420, max: 420 },
  { name: "y", label: "From the top, mm", type: "number", min: -420, max: 420 },
  { name: "width", label: "Width, mm", type: "number", min: 0, max: 420 },
  { name: "height", label: "Height, mm", type: "number", min: 0, max: 420 },
];
/** @type {Property} */
const TEXT = { name: "text", label: "Text", type: "fields", isWide: true };
/** @type {Property} */
const COLOUR = { name: "colour", label: "Colour", type: "colour" };
/** @type {Property} */
const THICKNESS = { name: "thickness", label: "Thickness, mm", type: "number", min: 0, max: 50 };
/** @type {Property} */
const TYPES = { name: "when", label: "Only for types", type: "types", isWide: true };

/** @type {Record<string, Property[]>} */
const PROPERTIES = {
  text: [
    TEXT,
    { name: "size", label: "Size, points", type: "number", min: 1, max: 300 },
    COLOUR,
    { name: "align", label: "Alignment", type: "choice", choices: { left: "Left", centre: "Centre", right: "Right" } },
    { name: "position", label: "Position", type: "choice", choices: { top: "Top", middle: "Middle", bottom: "Bottom" } },
    { name: "bold", label: "Bold", type: "flag", isWide: true },
  ],
  qr: [TEXT],
  code128: [TEXT],
  image: [{ name: "image", label: "Picture", type: "choice", choices: { logo: "Logo, from the general settings" }, isWide: true }],
  box: [
    { name: "fill", label: "Fill", type: "maybe" },
    { name: "line", label: "Edge", type: "maybe" },
    THICKNESS,
    { name: "radius", label: "Radius of corners, mm", type: "number", min: 0, max: 50 },
  ],
  line: [COLOUR, THICKNESS],
};

const FOLDS = { none: "A page of its own", below: "Folded, below the front", beside: "Folded, beside the front" };
/** @type {Property[]} */
const OF_BADGE = [
  { name: "preset", label: "Size", type: "preset", isWide: true },
  { name: "width", label: "Width, mm", type: "number", min: 10, max: 420 },
  { name: "height", label: "Height, mm", type: "number", min: 10, max: 420 },
  { name: "fold", label: "Back", type: "choice", choices: FOLDS, isWide: true },
];

/** The values of properties that a layout does not name. */
const USUAL = /** @type {Record<string, unknown>} */ ({ colour: "#000000", align: "centre", position: "middle", fold: "none", thickness: 0.3, radius: 0 });

/**
 * @template {"div" | "input" | "label" | "option" | "select" | "span"} Tag
 * @param {Tag} tag
 * @param {Partial<HTMLElementTagNameMap[Tag]>} properties
 * @param {...(Node | string)} parts
 */
const element = (tag, properties = {}, ...parts) => {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...parts);
  return made;
};

const option = (/** @type {string[]} */ [value, text]) => element("option", { value, textContent: text });
const listed = (/** @type {string} */ text) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

export class Panel {
  /** @type {Map<string, (value: unknown) => void>} */
  #shows = new Map();
  #of = "";

  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} heading
   * @param {Offered} offered
   * @param {SetValue} set
   */
  constructor(root, heading, offered, set) {
    this.root = root;
    this.heading = heading;
    this.offered = offered;
    this.set = set;
  }

  focus() {
    const field = this.root.querySelector("input, select");
    if (field instanceof HTMLElement) field.focus();
  }

  /**
   * Shows the properties of an element, or of the badge. `of` names it: its fields stay while it is the same.
   * @param {string} of
   * @param {Record<string, any>} values
   */
  show(of, values) {
    const kind = /** @type {string | undefined} */ (values.kind);
    this.heading.textContent = `${inWords("Properties")}: ${inWords(kind ? (KINDS[kind]?.label ?? kind) : "Badge")}`;
    const properties = kind ? [...(PROPERTIES[kind] ?? []), ...FRAME, TYPES] : OF_BADGE;
    if (of !== this.#of) {
      this.#of = of;
      this.#shows.clear();
      this.root.replaceChildren(...properties.map((property) => this.#field(property)));
    }
    for (const { name } of properties) this.#shows.get(name)?.(values[name] ?? USUAL[name]);
  }

  #field(/** @type {Property} */ property) {
    const { name, label, type, isWide } = property;
    const id = `element-${name}`;
    const field = element("div", { className: isWide ? "field span2" : "field" });
    if (type === "flag" || type === "maybe") {
      field.append(...this.#ticked(property, id));
      return field;
    }
    field.append(element("label", { htmlFor: id, textContent: inWords(label) }), ...this.#control(property, id));
    return field;
  }

  /** A box to tick, of a colour with the colour. */
  #ticked(/** @type {Property} */ { name, label, type }, /** @type {string} */ id) {
    const box = element("input", { type: "checkbox", id });
    const tick = element("label", { className: "tick" }, box, element("span", { textContent: inWords(label) }));
    if (type === "flag") {
      box.addEventListener("change", () => this.set(name, box.checked || undefined));
      this.#shows.set(name, (value) => void (box.checked = value === true));
      return [tick];
    }
    const colour = element("input", { type: "color", ariaLabel: `${inWords(label)}: ${inWords("Colour")}` });
    const send = () => this.set(name, box.checked ? colour.value : undefined);
    box.addEventListener("change", send);
    colour.addEventListener("input", send);
    this.#shows.set(name, (value) => {
      box.checked = typeof value === "string";
      colour.disabled = !box.checked;
      if (typeof value === "string") colour.value = value;
    });
    return [tick, colour];
  }

  /** @returns {HTMLElement[]} */
  #control(/** @type {Property} */ { name, type, choices = {}, min, max }, /** @type {string} */ id) {
    if (type === "choice" || type === "preset") {
      const presets = this.offered.presets.map(({ name, width, height }) => [name, `${name} (${width} × ${height} mm)`]);
      const all = type === "preset" ? [["", inWords("Other")], ...presets] : Object.entries(choices).map(([value, words]) => [value, inWords(words)]);
      const select = element("select", { id }, ...all.map(option));
      select.addEventListener("change", () => this.set(name, select.value));
      this.#shows.set(name, (value) => {
        const shown = String(value ?? "");
        if (![...select.options].some((one) => one.value === shown)) select.append(option([shown, shown]));
        select.value = shown;
      });
      return [select];
    }
    const isNumber = type === "number";
    const input = element("input", { id, type: isNumber ? "number" : type === "colour" ? "color" : "text", autocomplete: "off" });
    if (isNumber) Object.assign(input, { step: "any", min, max });
    const read = () => {
      if (isNumber) return Number.isFinite(input.valueAsNumber) ? input.valueAsNumber : null;
      if (type === "types") return input.value.trim() ? { types: listed(input.value) } : undefined;
      return input.value;
    };
    // A number that is not typed to its end is none yet.
    input.addEventListener("input", () => read() !== null && this.set(name, read()));
    this.#shows.set(name, (value) => {
      const types = /** @type {{ types?: string[] } | undefined} */ (value)?.types;
      const shown = type === "types" ? (types ?? []).join(", ") : String(value ?? "");
      // What is being typed stays as it is.
      if (document.activeElement !== input) input.value = shown;
    });
    if (type === "types") input.placeholder = this.offered.types.slice(0, 2).join(", ");
    return type === "fields" ? [input, this.#inserter(input)] : [input];
  }

  /** Puts a field of attendees where the caret is. */
  #inserter(/** @type {HTMLInputElement} */ input) {
    const fields = this.offered.fields.map((field) => [`{${field}}`, field]);
    const select = element("select", { ariaLabel: inWords("Insert a field") }, option(["", inWords("Insert a field …")]), ...fields.map(option));
    select.addEventListener("change", () => {
      const [from, to] = [input.selectionStart ?? input.value.length, input.selectionEnd ?? input.value.length];
      input.setRangeText(select.value, from, to, "end");
      select.value = "";
      input.dispatchEvent(new Event("input"));
      input.focus();
    });
    return select;
  }
}
