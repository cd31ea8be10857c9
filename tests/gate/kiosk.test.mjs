// The kiosk: its texts in every language, and what it shows after what.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fresh, mustSeeCrew, next, resultOf, whenIdle } from "../../assets/gate/core/kiosk-flow.js";
import { TEXTS, say } from "../../assets/gate/core/kiosk-texts.js";

const read = (name) => readFileSync(new URL(`../../assets/gate/${name}`, import.meta.url), "utf8");
const ada = { id: 1, name: "Ada Lovelace", category: "vip", codes: ["T-1"] };
const place = { id: 5, name: "Hall 2", available: true, rules: {}, startAt: Date.UTC(2026, 10, 21, 9, 0) };
const now = Date.UTC(2026, 10, 21, 8, 2);
const keys = ({ kind, title, lines }) => [kind, title.key, ...lines.map(({ key }) => key)].join(" ");
const outcome = (more) => ({ scan: {}, passed: true, person: ada, shown: {}, ...more });

test("every language has the same texts with the same parameters", () => {
  const shape = (texts) => Object.entries(texts).map(([key, text]) => [key, text.match(/\{\w+\}/g)?.sort()]);
  assert.deepEqual(Object.keys(TEXTS), ["en", "de", "fr", "es", "da"]);
  for (const [language, texts] of Object.entries(TEXTS)) {
    assert.deepEqual(shape(texts).sort(), shape(TEXTS.en).sort(), language);
    for (const text of Object.values(texts)) assert.ok(text.trim(), language);
  }
});

test("every text that is asked for exists, and every text is asked for", () => {
  const asked = [...read("index.html").matchAll(/data-say(?:-label)?="([^"]+)"/g)].map(([, key]) => key);
  for (const name of ["ui/kiosk.js", "core/kiosk-flow.js"]) {
    asked.push(...[...read(name).matchAll(/(?:#say\(|help\(|key: |problem: |#problem\(|\? |: )"([a-z]+(?:\.\w+)*)"/g)].map(([, key]) => key));
  }
  const codes = [740, 741, 742, 743, 744, 745, 746, 1301].map((code) => `why.${code}`);
  const known = Object.keys(TEXTS.en);
  assert.deepEqual(known.filter((key) => ![...asked, ...codes, "language", "result.since.day", "why.opens.day"].includes(key)), []);
  assert.deepEqual(asked.filter((key) => key.includes(".") && !known.includes(key) && !key.startsWith("status.") && !key.startsWith("camera.")), []);
});

test("a ticket is confirmed, and somebody else's is put down", () => {
  let state = next(fresh("de"), { type: "people", people: [ada], code: "T-1" });
  assert.deepEqual([state.step, state.people[0].name, state.language], ["confirm", "Ada Lovelace", "de"]);
  state = next(state, { type: "not-me" });
  assert.deepEqual(state, fresh("de"));
});

test("of several with one e-mail, each is asked in turn, then the help desk helps", () => {
  let state = next(fresh("en"), { type: "people", people: [ada, { id: 2, name: "Byron Lovelace" }] });
  state = next(state, { type: "not-me" });
  assert.deepEqual([state.step, state.people[0].id], ["confirm", 2]);
  state = next(state, { type: "not-me" });
  assert.equal(keys(state.result), "help result.help why.notMe");
  assert.deepEqual(state.people, []);
});

test("another language changes nothing else, another step forgets everything", () => {
  const confirm = next(fresh("en"), { type: "people", people: [ada], code: "T-1" });
  assert.deepEqual(next(confirm, { type: "language", language: "fr" }), { ...confirm, language: "fr" });
  assert.deepEqual(next(confirm, { type: "open", step: "start" }), { ...fresh("en"), problem: undefined });
});

test("what attendees read after a check-in", () => {
  const inside = { ...ada, inside: true, entries: 1, lastIn: now - 60_000 };
  const refused = (code, person = ada) => outcome({ passed: false, code, person, shown: { reason: "for stewards" } });
  const cases = [
    [outcome({}), "good result.welcome result.in"],
    [outcome({ person: undefined }), "good result.welcome.plain result.in"],
    [outcome({ shown: { note: { level: "warning", note: "owes 40 EUR" } } }), "good result.welcome result.in result.desk"],
    [outcome({ shown: { note: { level: "stop", note: "banned" } } }), "help result.help why.other"],
    [outcome({ person: inside }), "already result.already result.since result.ifWrong"],
    [outcome({ person: inside, scan: { walkIn: {} }, shown: { badge: "W-7" } }), "good result.welcome result.in result.code"],
    [outcome({ person: { ...inside, inside: false } }), "good result.welcome result.in"],
    [refused(740, inside), "already result.already result.since result.ifWrong"],
    [refused(740), "help result.help why.740"],
    [refused(742), "help result.help why.opens"],
    [refused(1), "help result.help why.offline"],
    [refused(1202), "help result.help why.other"],
    ...[741, 743, 744, 745, 1301].map((code) => [refused(code), `help result.help why.${code}`]),
  ];
  for (const [given, expected] of cases) {
    const result = resultOf(given, place, now);
    assert.equal(keys(result), expected);
    assert.doesNotMatch(JSON.stringify(result), /stewards|banned|owes/);
  }
  assert.equal(keys(resultOf(refused(742), place, place.startAt + 1)), "help result.help why.742");
  assert.ok(mustSeeCrew({ ...ada, note: { level: "stop", note: "" } }) && !mustSeeCrew({ ...ada, note: { level: "warning", note: "" } }));
});

test("times are told in the attendee's language and the venue's zone", () => {
  const clock = { zone: "Europe/Berlin", now };
  const at = Date.UTC(2026, 10, 21, 8, 2);
  const since = (language, ms = at) => say(language, { key: "result.since", at: ms }, clock);
  assert.equal(since("en"), "You checked in at 09:02.");
  assert.equal(since("de"), "Sie haben um 09:02 Uhr eingecheckt.");
  assert.equal(since("da"), "Du tjekkede ind kl. 09.02.");
  assert.equal(since("fr", at - 86_400_000), "Elle a été enregistrée le 20 novembre à 09:02.");
  assert.equal(since("es", at - 86_400_000), "Se registró el 20 de noviembre a las 09:02.");
});

test("a kiosk that nobody touches counts down, then starts over", () => {
  const form = next(fresh("en"), { type: "open", step: "register" });
  assert.deepEqual(whenIdle(form, 34_000, 45), { action: "stay", left: 11 });
  assert.deepEqual(whenIdle(form, 35_000, 45), { action: "ask", left: 10 });
  assert.deepEqual(whenIdle(form, 45_000, 45), { action: "reset", left: 0 });
  assert.deepEqual(whenIdle(form, 4000, 10), { action: "stay", left: 6 });
  assert.equal(whenIdle(fresh("de"), 44_000, 45).action, "stay");
  assert.equal(whenIdle(fresh("de"), 45_000, 45).action, "reset");
  const result = next(form, { type: "result", result: resultOf(outcome({}), place, now) });
  assert.deepEqual([whenIdle(result, 7000, 45).action, whenIdle(result, 8000, 45).action], ["stay", "reset"]);
  // A new code takes time to write down.
  const registered = next(form, { type: "result", result: resultOf(outcome({ scan: { walkIn: {} }, shown: { badge: "W-7" } }), place, now) });
  assert.deepEqual([whenIdle(registered, 59_000, 45).action, whenIdle(registered, 60_000, 45).action], ["stay", "reset"]);
});
