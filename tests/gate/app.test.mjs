// What the app is made of: texts, files, digits.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { checkDigits, isPin, sha256, toHex } from "../../assets/gate/sha256.js";
import { hasText, t } from "../../assets/gate/texts.js";
import { TEST_CODE, layoutOf, translate } from "../../assets/gate/wedge.js";

const folder = new URL("../../assets/gate/", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const own = readdirSync(folder).filter((name) => name.endsWith(".js"));

test("SHA-256 and the digits are those of the console", () => {
  assert.equal(toHex(sha256(new TextEncoder().encode("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (const [secret, digits] of [["gatepost", "1879"], ["s1", "0572"], ["Süd", "1544"]]) assert.equal(checkDigits(secret), digits);
  assert.ok(isPin("1234", { salt: "a1b2", hash: toHex(sha256(new Uint8Array([0xa1, 0xb2, 0x31, 0x32, 0x33, 0x34]))) }));
});

test("every text that is asked for exists", () => {
  const asked = [...read("index.html").matchAll(/data-(?:text|label|alt)="([^"]+)"/g)].map(([, key]) => key);
  for (const name of own) asked.push(...[...read(name).matchAll(/\bt\([^)"]*"([a-z]+(?:\.[\w.]+)?)"/g)].map(([, key]) => key));
  assert.deepEqual(asked.filter((key) => !hasText(key)), []);
  assert.equal(t("status.queue", { count: 3 }), "3 to upload");
});

test("the service worker keeps every file of the app", () => {
  const files = [...own, ...["index.html", "kiosk.css", "style.css", "manifest.webmanifest", "icon.svg", "test-code.svg"], ...readdirSync(new URL("vendor/", folder)).map((name) => `vendor/${name}`)];
  const kept = [...read("worker.js").matchAll(/"(\/gate[^"]*)"/g)].map(([, path]) => path);
  const needed = files.filter((name) => name !== "worker.js" && !/LICENSE|\.d\.ts/.test(name)).map((name) => (name === "index.html" ? "/gate" : `/gate/${name}`));
  assert.deepEqual(kept.filter((path) => path !== "/gate/trust").sort(), needed.sort());
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
