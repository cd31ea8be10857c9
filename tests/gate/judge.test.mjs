// judge.js and the server's rules give the same verdict, in the same words, for every combination of facts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { judge, judgeOffline, spokenTime, word } from "../../assets/gate/core/judge.js";
import { dayBegan } from "../../assets/gate/core/list.js";

const law = JSON.parse(readFileSync(new URL("./judge.json", import.meta.url), "utf8"));

/** Every combination, in the order in which Rust wrote them. */
function* facts(set, rules) {
  const { days, zone } = law;
  for (const passage of set.passage) {
    for (const available of set.available) {
      const place = { ...law.place, available };
      for (const at of set.at) {
        for (const { lastIn, lastOut, ...state } of set.state) {
          for (const joined of set.joined) {
            for (const rooms of set.rooms) {
              for (const type of set.type) {
                yield { passage, place, rules, at, lastIn: lastIn ?? undefined, lastOut: lastOut ?? undefined, ...state, joined, rooms, days, zone, type: type ?? undefined };
              }
            }
          }
        }
      }
    }
  }
}

test("the gate judges as the server does", () => {
  const counts = law.sets.map((set) => {
    let count = 0;
    for (const { rules, verdicts } of set.results) {
      let index = 0;
      for (const one of facts(set, rules)) {
        const verdict = judge(one);
        const told = verdict.code === 0 ? "0" : `${verdict.code} ${word(verdict, law.zone, law.now)}`;
        const expected = set.verdicts[parseInt(verdicts[index], 36)];
        if (told !== expected) assert.equal(told, expected, JSON.stringify(one));
        index += 1;
        count += 1;
      }
      assert.equal(index, verdicts.length);
    }
    return count;
  });
  assert.ok(counts[0] > 70_000 && counts[1] >= 800, `${counts} combinations`);
});

test("days are those that the server told, and then of 24 hours", () => {
  const hour = 3_600_000;
  // The second day has 25 hours.
  const days = [0, 24 * hour, 49 * hour];
  const began = [-1, 0, 24 * hour - 1, 24 * hour, 49 * hour - 1, 49 * hour, 100 * hour].map((at) => dayBegan(days, at));
  assert.deepEqual(began, [-Infinity, 0, 0, 24 * hour, 24 * hour, 49 * hour, 97 * hour]);
  assert.equal(dayBegan(undefined, 5), -Infinity);
});

test("times of types are of the venue's zone, and a missing hour is nobody's", () => {
  const rules = { typeTimes: [{ types: ["Crew"], from: "02:00", until: "03:30" }] };
  const at = (utc, zone) => judge({ passage: "in", place: { name: "Gate B", available: true }, rules, inside: false, entries: 0, joined: false, rooms: [], type: "crew", zone, at: Date.parse(utc) }).code;
  assert.deepEqual(["2026-03-29T00:59Z", "2026-03-29T01:00Z", "2026-03-29T01:29Z", "2026-03-29T01:30Z"].map((utc) => at(utc, "Europe/Berlin")), [742, 0, 0, 742]);
  assert.deepEqual(["2026-10-24T23:59Z", "2026-10-25T00:00Z", "2026-10-25T01:59Z", "2026-10-25T02:30Z"].map((utc) => at(utc, "Europe/Berlin")), [742, 0, 0, 742]);
});

test("at a door the rules of its place hold, and what the door sets", () => {
  const { place, cases, ...axes } = law.doors;
  const told = new Set();
  for (const { rules, door, verdicts } of cases) {
    let index = 0;
    for (const at of axes.at) {
      for (const state of axes.state) {
        for (const joined of axes.joined) {
          const facts = { ...state, passage: "in", place, rules, door, at, joined, rooms: [] };
          const verdict = judge(facts);
          const said = verdict.code === 0 ? "0" : `${verdict.code} ${word(verdict, law.zone, law.now)}`;
          assert.equal(said, verdicts[index], JSON.stringify(facts));
          told.add(said);
          index += 1;
        }
      }
    }
    assert.equal(index, verdicts.length);
  }
  assert.ok(told.has("740 already used at Hall, South at 09:02"), [...told].join("; "));
});

test("the policy of an offline gate comes before the rules", () => {
  const open = { passage: "in", place: { name: "Gate B", available: true }, rules: {}, inside: false, entries: 0, joined: false, rooms: [], at: 0 };
  assert.equal(judgeOffline("admit", open).key, "passes");
  assert.equal(judgeOffline("joined-only", open).key, "offlineJoinedOnly");
  assert.equal(judgeOffline("joined-only", { ...open, joined: true }).key, "passes");
  assert.equal(judgeOffline("joined-only", { ...open, passage: "out" }).key, "passes");
  assert.equal(judgeOffline("hold", { ...open, joined: true }).key, "offlineHold");
  assert.equal(judgeOffline("hold", { ...open, passage: "out" }).key, "passes");
});

test("times are told in the venue's zone, with the day where it is another", () => {
  const noon = Date.UTC(2026, 10, 21, 12);
  assert.equal(spokenTime(noon, "Europe/Berlin", noon), "13:00");
  assert.equal(spokenTime(noon - 86_400_000, "Europe/Berlin", noon), "13:00 on 2026-11-20");
  assert.equal(spokenTime(noon + 11.5 * 3_600_000, "UTC", noon), "23:30");
  assert.equal(spokenTime(noon + 11.5 * 3_600_000, "Europe/Berlin", noon), "00:30 on 2026-11-22");
});
