// Imports of the app point down: app.js puts together what is on the screen (`ui`), what reaches out of the page (`io`), and
// what is known and decided (`core`).

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, posix } from "node:path";
import { test } from "node:test";

const folder = new URL("../../assets/gate/", import.meta.url);

/** From the bottom up: modules of one import from those before it, and of their own. */
const FOLDERS = ["vendor", "core", "io", "ui", "."];

/** Only these reach the page, the network and the disk. */
const OUTSIDE = { core: /\bdocument\b|\bfetch\(|\bindexedDB\b|\blocalStorage\b|\bsessionStorage\b/, io: /\bbyId\b|getElementById|querySelector/ };

/** The modules of the app, with their code less comments. */
const modules = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith(".js") && !name.startsWith("vendor"))
  .map((name) => ({ name, of: dirname(name), code: readFileSync(new URL(name, folder), "utf8").replace(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, "") }));

/** The modules that code imports, by their names. @returns {string[]} */
const imports = ({ of, code }) => [...code.matchAll(/(?:^import |\bfrom |\bimport\()"([^"]+)"/gm)].map(([, path]) => posix.join(of, path));

test("modules import from their own folder and from those below it", () => {
  const edges = modules.flatMap((module) => imports(module).map((to) => ({ from: module.name, to })));
  assert.ok(edges.length > 100, `${edges.length} imports`);
  const level = (name) => FOLDERS.indexOf(dirname(name));
  assert.deepEqual(modules.filter(({ name }) => level(name) < 0), []);
  assert.deepEqual(edges.filter(({ from, to }) => level(to) < 0 || level(to) > level(from)), []);
});

test("what is known and decided does not reach out, and what reaches out draws nothing", () => {
  for (const { name, of, code } of modules) if (OUTSIDE[of]) assert.doesNotMatch(code, OUTSIDE[of], name);
});

test("what puts the app together does nothing else", () => {
  const lines = readFileSync(new URL("app.js", folder), "utf8").split("\n").length;
  assert.ok(lines < 150, `app.js has ${lines} lines`);
});
