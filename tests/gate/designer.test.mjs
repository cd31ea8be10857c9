// The designer of badges: what snaps where, what can be undone, and what is written.

import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../../assets/static/designer/history.js";
import { KINDS, make, moved, read, sized, write } from "../../assets/static/designer/layout.js";
import { snapMove, snapResize } from "../../assets/static/designer/snap.js";

const badge = { x: 0, y: 0, width: 105, height: 148 };
const reach = { step: 1, near: 1.5 };
const frame = { x: 20.2, y: 30.3, width: 10, height: 6 };

test("a frame rests on whole millimetres, unless an edge or a centre is near", () => {
  assert.deepEqual(snapMove(frame, [badge], reach), { frame: { ...frame, x: 20, y: 30 }, guides: { x: [], y: [] } });
  // Its centre at that of the badge, its lower edge at the upper one of another.
  const other = { x: 80, y: 36.9, width: 5, height: 50 };
  const snapped = snapMove({ ...frame, x: 46.9 }, [badge, other], reach);
  assert.deepEqual(snapped.guides, { x: [52.5], y: [36.9] });
  assert.equal(snapped.frame.x, 47.5);
  assert.ok(Math.abs(snapped.frame.y - 30.9) < 1e-9);
  const fine = snapMove(frame, [badge], { step: 0.1, near: 0.15 }).frame;
  assert.ok(Math.abs(fine.x - 20.2) < 1e-9 && Math.abs(fine.y - 30.3) < 1e-9);
});

test("a corner that is dragged leaves the opposite one where it is", () => {
  const corner = (name, x, y) => snapResize({ x: 20, y: 30, width: 10, height: 6 }, name, { x, y }, [badge], reach).frame;
  assert.deepEqual(corner("se", 3.2, 1.6), { x: 20, y: 30, width: 13, height: 8 });
  assert.deepEqual(corner("nw", -4.8, 2.1), { x: 15, y: 32, width: 15, height: 4 });
  assert.deepEqual(corner("nw", 40, 40), { x: 30, y: 36, width: 0, height: 0 });
  assert.deepEqual(corner("ne", 74.2, 0), { x: 20, y: 30, width: 85, height: 6 });
});

test("elements stay on the badge, and are never nothing", () => {
  const layout = read('{"width": 105, "height": 148, "front": []}');
  assert.deepEqual(moved({ x: 500, y: -500, width: 10, height: 6 }, layout), { x: 104, y: -5 });
  assert.equal(moved({ x: 0.1 + 0.2, y: 0, width: 1, height: 1 }, layout).x, 0.3);
  assert.equal(sized({ x: 0, y: 0, width: -3, height: 0 }, false).width, 0.5);
  assert.equal(sized({ x: 0, y: 0, width: -3, height: 0 }, true).width, 0);
  for (const kind of Object.keys(KINDS)) {
    const { x, y, width, height } = make(kind, { ...layout, width: 20, height: 10 });
    assert.ok(x >= 0 && y >= 0 && x + width <= 20 && y + height <= 10, kind);
  }
});

test("what is undone is redone, and changes of one field are one step", () => {
  const history = new History(0);
  history.push(1);
  history.push(2, "text");
  history.push(3, "text");
  history.rest();
  history.push(4, "text");
  const states = [];
  while (history.undo()) states.push(history.state);
  assert.deepEqual(states, [3, 1, 0]);
  assert.ok(history.redo() && history.state === 1 && history.canRedo);
  history.push(9);
  assert.ok(!history.redo());
});

test("a layout is read and written as it is stored", () => {
  const stored = { width: 62, height: 30, front: [{ kind: "text", text: "{name}", size: 9, x: 1, y: 2, width: 3, height: 4 }] };
  assert.deepEqual(JSON.parse(write(read(JSON.stringify(stored)))), stored);
  assert.equal(JSON.parse(write({ ...read(JSON.stringify(stored)), fold: "none" })).fold, undefined);
  for (const wrong of ["{", "{}", "[]", '{"width": 1, "height": 1, "front": [7]}', '{"width": 1, "height": 1, "front": 1}']) {
    assert.throws(() => read(wrong), wrong);
  }
});
