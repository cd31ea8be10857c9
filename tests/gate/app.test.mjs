// What the app is made of: texts, files, digits.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { checkDigits } from "../../assets/gate/core/secrets.js";
import { LANGUAGES, answerOf, hasText, setLanguage, t } from "../../assets/gate/core/texts.js";
import { sha256 } from "../../assets/gate/vendor/noble-hashes-2.4.0.js";
import { TEST_CODE, layoutOf, translate } from "../../assets/gate/io/wedge.js";

const folder = new URL("../../assets/gate/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const own = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".js") && !name.startsWith("vendor"));

test("SHA-256 and the digits are those of the console", () => {
  for (const [secret, digits] of [["gatepost", "1879"], ["s1", "0572"], ["Süd", "1544"]]) assert.equal(checkDigits(secret), digits);
  // A block of 64 bytes ends with the length: around its end another one is needed.
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 121, 127, 128, 129, 1000]) {
    const bytes = Buffer.alloc(length, "x");
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"), `${length} bytes`);
  }
});

test("every text that is asked for exists", () => {
  const asked = [...read("index.html").matchAll(/data-(?:text|label|alt|hint)="([^"]+)"/g)].map(([, key]) => key);
  for (const name of own) asked.push(...[...read(name).matchAll(/\bt\([^)"]*"([a-z]+(?:\.[\w.]+)?)"/g)].map(([, key]) => key));
  assert.deepEqual(asked.filter((key) => !hasText(key)), []);
  assert.equal(t("status.queue", { count: 3 }), "3 to upload");
});

test("both languages have every text, with the same parameters", () => {
  const { en, de } = LANGUAGES;
  const shape = (texts) => Object.entries(texts).map(([key, text]) => [key, text.match(/\{\w+\}/g)?.sort()]).sort();
  assert.deepEqual(shape(de), shape(en));
  for (const [language, texts] of Object.entries(LANGUAGES)) {
    for (const [key, text] of Object.entries(texts)) assert.ok(text.trim() || key === "refusal.passes", `${language}: ${key}`);
  }
  // Whoever is spoken to is spoken to as a guest is.
  assert.doesNotMatch(Object.values(de).join(" "), /\b(du|dein|deine|dir|dich)\b/i);
});

test("every text is asked for", () => {
  const sources = ["index.html", ...own.filter((name) => !name.includes("texts"))].map(read).join("\n");
  const built = /^(why|refusal|code|blocked|policy|ready|camera|age|ticket|time)\.|^setup\.name\.example$/;
  const unused = Object.keys(LANGUAGES.en).filter((key) => !built.test(key) && !sources.includes(`"${key.replace(/\.one$/, "")}"`));
  assert.deepEqual(unused, []);
});

test("the language is that of the menu, or the browser's first that there is", (context) => {
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  context.after(() => {
    Object.defineProperty(globalThis, "navigator", before ?? { value: undefined, configurable: true });
    setLanguage("en");
  });
  const spoken = (languages, chosen) => {
    Object.defineProperty(globalThis, "navigator", { value: { languages }, configurable: true });
    setLanguage(chosen);
    return t("verdict.next");
  };
  assert.deepEqual([spoken(["de-AT", "en"]), spoken(["tlh", "de"], "auto"), spoken(["tlh"]), spoken(["de"], "en"), spoken([], "de")], ["Weiter", "Weiter", "Next", "Next", "Weiter"]);
  assert.equal(answerOf({ internalCode: 1105, message: "code: taken" }), LANGUAGES.de["code.1105"]);
  assert.equal(answerOf({ internalCode: 4711, message: "code: taken" }), "code: taken");
  assert.equal(t("ready.todo", { count: 1 }), "Bereit, mit 1 Hinweis");
  setLanguage("en");
  assert.equal(answerOf({ internalCode: 1105, message: "code: taken" }), "code: taken");
});

test("one of something is not spoken of as many", () => {
  const hints = (count) => t("ready.todo", { count });
  assert.deepEqual([0, 1, 2].map(hints), ["Ready, with 0 hints", "Ready, with 1 hint", "Ready, with 2 hints"]);
});

test("the page has no script or style of its own", () => {
  assert.doesNotMatch(read("index.html"), /<style|style=|<script(?![^>]*src=)| on[a-z]+=/);
});

test("a scanner's keyboard layout is found by the test code", () => {
  const german = (text) => [...text].map((key) => ({ Y: "Z", Z: "Y", y: "z", z: "y", "-": "ß", "/": "-" })[key] ?? key).join("");
  const layout = layoutOf(german(TEST_CODE));
  assert.equal(translate(german("XYZ-12/z"), layout), "XYZ-12/z");
  assert.deepEqual(layoutOf(TEST_CODE), {});
  assert.equal(layoutOf(TEST_CODE.slice(1)), undefined);
  assert.equal(layoutOf(TEST_CODE.replace("A", "B")), undefined);
});
