// The modules can be joined to one script: each is listed once, no name occurs twice, and nothing needs modules. Their
// folders import in one direction.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const page = fileURLToPath(new URL("../../../tokio-statemap/src/render/html/page/", import.meta.url));
const modules = readFileSync(`${page}modules.txt`, "utf8").trimEnd().split("\n");
/** The folders, the lowest first; `main.js` is above them. */
const FOLDERS = ["format", "data", "model", "draw", "ui"];
const level = (name) => (name === "main.js" ? FOLDERS.length : FOLDERS.indexOf(name.split("/")[0]));
const lines = (name) => readFileSync(page + name, "utf8").split("\n");

test("each module is listed once, after those that it imports", () => {
  assert.deepEqual(modules.toSorted(), readdirSync(page, { recursive: true }).filter((name) => name.endsWith(".js")).sort());
  const wrong = [];
  for (const [place, name] of modules.entries()) {
    for (const line of lines(name).filter((line) => /^import\b/.test(line))) {
      const [, names, path] = /^import \{ ([\w, ]+) \} from "(\.[\w./]+)";$/.exec(line) ?? [];
      if (path === undefined) {
        wrong.push(`${name}: ${line}`);
        continue;
      }
      const from = join(dirname(name), path);
      if (!modules.slice(0, place).includes(from)) wrong.push(`${name} imports from ${from}, which isn't before it`);
      for (const one of names.split(", ")) {
        const exported = new RegExp(`^export (const|class|(async )?function\\*?) ${one}\\b`);
        if (!lines(from).some((line) => exported.test(line))) wrong.push(`${from} exports no ${one}: ${name}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test("a folder imports from itself and those before it", () => {
  const wrong = [];
  for (const name of modules) {
    assert.ok(level(name) >= 0, `${name} is in none of the folders`);
    for (const line of lines(name)) {
      const path = /^import .* from "(.*)";$/.exec(line)?.[1];
      if (path !== undefined && level(join(dirname(name), path)) > level(name)) wrong.push(`${name}: ${line}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("no top-level name occurs twice, and the whole is a script", () => {
  const seen = new Map(), wrong = [];
  let script = "";
  for (const name of modules) {
    for (const line of lines(name)) {
      assert.doesNotMatch(line, /^export (default|\{|\*|let|var)/, name);
      const [, kind, list] = /^(?:export )?(const|let|var|class|(?:async )?function\*?) (.+)/.exec(line) ?? [];
      // `const A = 1, B = 2;` has both.
      const declared = /^(const|let|var)$/.test(kind) && !list.includes("=>") ? /(?:^|, )([\w$]+)(?= =)/g : /^([\w$]+)/g;
      for (const [, one] of (list ?? "").matchAll(declared)) {
        if (seen.has(one)) wrong.push(`${one} is in ${seen.get(one)} and in ${name}`);
        seen.set(one, name);
      }
      if (!line.startsWith("import ")) script += line.replace(/^export /, "") + "\n";
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(seen.size > 100);
  assert.ok(!/<\/script|<!--|<script/i.test(script), "the script would end the element that it stands in");
  new vm.Script(`"use strict";{${script}}`);
});
