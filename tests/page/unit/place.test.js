// Source locations in little room, as in the report and the SVG.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { fitPlace } from "../../../tokio-statemap/src/render/html/page/format/place.js";
import { shorten } from "../../../tokio-statemap/src/render/html/page/format/text.js";
import { randomOf } from "./random.js";

const cases = JSON.parse(readFileSync(new URL("../../../tokio-statemap/src/util/source_path/cases.json", import.meta.url), "utf8"));

test("the file and the line stay, as in all outputs", () => {
  assert.ok(cases.length > 20);
  for (const [text, room, fitted] of cases) assert.equal(fitPlace(text, room), fitted, `${text} in ${room}`);
});

test("more room never shows less", () => {
  const random = randomOf(3);
  const pick = (all) => all[random.below(all.length)];
  for (let n = 0; n < 300; n++) {
    const path = `${pick(["", "crates/", "/home/me/"])}${pick(["axum-0.8.9/", "shop/", ""])}${pick(["src/", "src/a/b/", "tests/", "x/y/"])}`;
    const text = `${pick(["", "shop::render at "])}${path}${pick(["mod.rs", "é😀.rs"])}:${random.below(3000)}:9${pick(["", " (main)"])}`;
    let before = 0;
    for (let room = 1; room <= [...text].length; room++) {
      const { length } = [...fitPlace(text, room)];
      assert.ok(length <= room && length >= before, `${text} in ${room}`);
      before = length;
    }
    assert.equal(fitPlace(text, 1000), text);
  }
});

test("only a source location is shortened as one", () => {
  assert.equal(shorten("axum-0.8.9/src/serve/mod.rs:389:5", 28), "axum-0.8.9/…/mod.rs:389:5");
  assert.equal(shorten("a\u202e/src/mod.rs:389:5", 13), "mod.rs:389:5");
  assert.equal(shorten("some-runtime/task-17", 12), "…ime/task-17");
  assert.equal(shorten("x".repeat(10_000), 20).length, 20);
  const long = `${"folder/".repeat(1000)}mod.rs:1`;
  assert.ok(shorten(long, 30).endsWith("mod.rs:1") && shorten(long, 30).length <= 30);
});
