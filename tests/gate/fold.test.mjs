// fold.js folds as the server does: both are held to the same table.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { alternative, fold, foldType, forms } from "../../assets/gate/core/fold.js";

const table = JSON.parse(readFileSync(new URL("./fold.json", import.meta.url), "utf8"));

test("names are folded as on the server, and once is enough", () => {
  for (const [text, folded] of table.fold) {
    assert.equal(fold(text), folded, text);
    assert.equal(fold(folded), folded, text);
    for (const form of ["NFC", "NFD"]) assert.equal(fold(text.normalize(form)), folded, `${text} ${form}`);
  }
});

test("alternative spellings and joined words are those of the server", () => {
  for (const [folded, other] of table.alternative) assert.equal(alternative(folded), other, folded);
  for (const [text, found] of table.forms) assert.deepEqual(forms(text), found, text);
});

test("types are folded as on the server", () => {
  for (const [text, folded] of table.types) {
    assert.equal(foldType(text), folded, text);
    assert.equal(foldType(folded), folded, text);
  }
});
