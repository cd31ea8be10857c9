// The gate finds attendees of its own list as the server does: whom names.tsv says, first.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { find, indexed, isLongEnough } from "../../assets/gate/core/find.js";

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

function crowd(people) {
  const list = new Map(people.map((person, at) => [at + 1, { ...person, id: at + 1 }]));
  const texts = new Map([...list].map(([id, person]) => [id, indexed(person)]));
  return (query, most = 8) => find(list, texts, query, most).map(({ codes }) => codes[0]);
}

function amongOthers() {
  const { first, last, company } = JSON.parse(read("./others.json"));
  const others = first.flatMap((one) => last.map((other) => `${one} ${other}`));
  const people = others.map((name, at) => ({ name, company: company[at % company.length], codes: [`OTHER-${at}`] }));
  for (const line of read("./names.csv").trim().split("\n").slice(1)) {
    const [given, family, firm, , , code] = line.split(",");
    people.push({ name: `${given} ${family}`, company: firm, codes: [code] });
  }
  return people;
}

test("names are found first however they are typed", () => {
  const search = crowd(amongOthers());
  const lines = read("./names.tsv").trim().split("\n").slice(1).map((line) => line.split("\t"));
  const wrong = lines.filter(([typed, code]) => search(typed)[0] !== code).map(([typed, code]) => `${typed}: ${search(typed)[0]} for ${code}`);
  assert.ok(wrong.length <= 2, wrong.join("\n"));
});

test("spellings find each other, and come after what was typed", () => {
  const search = crowd(["Mueller", "Müller", "Muller", "Mullerin", "Muehler", "Miller"].map((name, at) => ({ name: `Jo ${name}`, codes: [String(at)] })));
  assert.deepEqual(search("muller", 4), ["1", "2", "3", "0"]);
  assert.deepEqual(search("mueller", 4), ["0", "1", "2", "3"]);
  assert.equal(search("milller")[0], "5");
});

test("three letters, one of Chinese, Japanese or Korean, or two that are a whole name", () => {
  const search = crowd([{ name: "Bo Xu", company: "Lotus", codes: ["B-1"] }, { name: "明 李", codes: ["B-2"] }, { name: "Xuan Bond", company: "Xu", codes: ["B-3"] }]);
  assert.deepEqual(["xu", "李", "lot", "xua"].map((typed) => search(typed).join(" ")), ["B-1", "B-2", "B-1", "B-3"]);
  assert.deepEqual(["", "x", "- x"].map((typed) => [isLongEnough(typed), search(typed)]), [[false, []], [false, []], [false, []]]);
  assert.deepEqual(["xu", "李", "lot"].map(isLongEnough), [true, true, true]);
});

test("a hundred thousand attendees are searched at once", () => {
  const people = amongOthers();
  const many = Array.from({ length: 100_000 - people.length }, (_, at) => {
    const { name, company } = people[at % 1500];
    return { name: `${name} ${at}`, company, codes: [`M-${at}`] };
  });
  const begun = performance.now();
  const search = crowd([...people, ...many]);
  const indexedMs = performance.now() - begun;
  const taken = ["szucs", "gunther weiss", "maria", "ma", "nakamurra", "schmitd kath", "xqzwv"].map((typed) => {
    const at = performance.now();
    search(typed);
    return performance.now() - at;
  });
  console.log(`indexed in ${Math.round(indexedMs)} ms; searches: ${taken.map(Math.round).join(", ")} ms`);
  // A bound that a busy machine keeps as well.
  assert.ok(Math.max(...taken) < 2000, taken.join(" "));
});
