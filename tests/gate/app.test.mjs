// What the app is made of: texts, files, digits.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { checkDigits } from "../../assets/gate/secrets.js";
import { hasText, t } from "../../assets/gate/texts.js";
import { sha256 } from "../../assets/gate/vendor/noble-hashes-2.4.0.js";
import { TEST_CODE, layoutOf, translate } from "../../assets/gate/wedge.js";

const folder = new URL("../../assets/gate/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const own = readdirSync(folder).filter((name) => name.endsWith(".js"));

test("SHA-256 and the digits are those of the console", () => {
  for (const [secret, digits] of [["gatepost", "1879"], ["s1", "0572"], ["Süd", "1544"]]) assert.equal(checkDigits(secret), digits);
  // A block of 64 bytes ends with the length: around its end another one is needed.
  for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 121, 127, 128, 129, 1000]) {
    const bytes = Buffer.alloc(length, "x");
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"), `${length} bytes`);
  }
});

test("every text that is asked for exists", () => {
  const asked = [...read("index.html").matchAll(/data-(?:text|label|alt)="([^"]+)"/g)].map(([, key]) => key);
  for (const name of own) asked.push(...[...read(name).matchAll(/\bt\([^)"]*"([a-z]+(?:\.[\w.]+)?)"/g)].map(([, key]) => key));
  assert.deepEqual(asked.filter((key) => !hasText(key)), []);
  assert.equal(t("status.queue", { count: 3 }), "3 to upload");
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
