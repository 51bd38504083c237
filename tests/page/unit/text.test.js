// Texts for people: durations, times, ticks; colours; the search; the hash.

import assert from "node:assert/strict";
import test from "node:test";

import { decodeView, encodeView } from "../../../tokio-statemap/src/render/html/page/ui/hash.js";
import { LINE_COLOURS, OTHER_COLOURS, STATE_ROLES, colourOf, readPalette } from "../../../tokio-statemap/src/render/html/page/draw/palette.js";
import { groupName, groupText } from "../../../tokio-statemap/src/render/html/page/model/names.js";
import { search } from "../../../tokio-statemap/src/render/html/page/model/search.js";
import { formatCount, formatMoment, formatNs, formatSetting, formatShare, niceTicks } from "../../../tokio-statemap/src/render/html/page/format/numbers.js";
import { clustersOf, LONGEST_CLUSTER } from "../../../tokio-statemap/src/render/html/page/format/clusters.js";
import { cleanText, shorten, visible } from "../../../tokio-statemap/src/render/html/page/format/text.js";
import { TASK_STATES, modelOf, randomOf, randomPicture } from "./random.js";

test("durations have three digits", () => {
  const cases = [[0, "0 ns"], [1, "1 ns"], [999, "999 ns"], [1000, "1.00 µs"], [9994, "9.99 µs"], [9995, "10.0 µs"], [99949, "99.9 µs"], [99950, "100 µs"],
    [999499, "999 µs"], [999500, "1.00 ms"], [51.2e6, "51.2 ms"], [999.5e6, "1.00 s"], [1.25e9, "1.25 s"], [123.4e9, "123 s"], [4523e9, "4523 s"], [-2500, "\u22122.50 µs"]];
  for (const [ns, text] of cases) assert.equal(formatNs(ns), text);
  assert.deepEqual([formatSetting(1e6), formatSetting(2.5e6), formatSetting(100e6), formatSetting(20)], ["1 ms", "2.5 ms", "100 ms", "20 ns"]);
  assert.deepEqual([formatMoment(731.4e6), formatMoment(1, 9)], ["0.731 s", "0.000000001 s"]);
  assert.deepEqual([formatCount(999), formatCount(16900000), formatCount(12345678901234567890n)], ["999", "16\u202f900\u202f000", "12\u202f345\u202f678\u202f901\u202f234\u202f567\u202f890"]);
  assert.deepEqual([formatShare(0.1234), formatShare(0.9995), formatShare(0)], ["12.3 %", "100 %", "0.0 %"]);
});

test("ticks are round, within the window, and at most the given number", () => {
  const random = randomOf(5);
  for (let n = 0; n < 2000; n++) {
    const t0 = Math.floor(random() * 10 ** random.below(16)), t1 = t0 + 1 + Math.floor(random() * 10 ** random.below(16)), most = 1 + random.below(20);
    const { ticks, step, format } = niceTicks(t0, t1, most);
    assert.ok(ticks.length <= most && Number.isInteger(step) && /^[125]0*$/.test(String(step)), `${step}`);
    assert.ok(ticks.every((tick) => tick >= t0 && tick <= t1 && tick % step === 0));
    assert.ok(ticks.length >= Math.min(most, Math.floor((t1 - t0) / step)));
    assert.equal(new Set(ticks.map(format)).size, ticks.length, "labels differ");
  }
  assert.deepEqual(niceTicks(0, 1e9, 5).ticks.map(niceTicks(0, 1e9, 5).format), ["0.0 s", "0.2 s", "0.4 s", "0.6 s", "0.8 s", "1.0 s"].slice(0, 5));
  assert.deepEqual(niceTicks(5, 5, 10).ticks, [5]);
});

test("text of the program can't change its direction or hide", () => {
  assert.equal(cleanText("src/a.rs:1:1"), "src/a.rs:1:1");
  assert.equal(cleanText("a\u202eb\n\u200bc\ud800"), "a\\u{202e}b\\u{a}\\u{200b}c\\u{d800}");
  assert.equal(cleanText("\u{1f600}é"), "\u{1f600}é");
  assert.equal(cleanText("0123456789", 5), "…6789");
});

/** Characters that consist of several code points: a family, a letter with an accent, a flag, a hand, England, a heart. */
const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}";
const JOINED = [FAMILY, "e\u0301", "\u{1f1e9}\u{1f1ea}", "\u{1f44d}\u{1f3fd}", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "\u2764\ufe0f\u200d\u{1f525}"];

test("a grapheme cluster counts as one character", () => {
  const text = `a${JOINED.join("")}z`;
  assert.deepEqual(clustersOf(text), ["a", ...JOINED, "z"]);
  // A letter with a hundred accents doesn't exceed a limit.
  assert.equal(clustersOf(`a${"\u0301".repeat(LONGEST_CLUSTER)}`).length, LONGEST_CLUSTER + 1);
});

test("emoji and accents are cut as a whole", () => {
  for (const one of JOINED) {
    const name = `task-1 "${one.repeat(40)}"`;
    for (let most = 2; most < 45; most++) {
      const shown = shorten(name, most);
      const [before, after] = shown.split("…");
      assert.ok(clustersOf(shown).length <= most, `${most}: ${shown}`);
      assert.ok(name.startsWith(before) && name.endsWith(after), `${most}: ${shown}`);
      const whole = clustersOf(name);
      assert.ok([before, after].every((part) => clustersOf(part).every((cluster) => whole.includes(cluster))), `${most}: ${shown}`);
    }
    assert.equal(cleanText(one.repeat(9), 4), `…${one.repeat(3)}`);
    assert.ok(shorten(`src/${one.repeat(30)}.rs:389:5`, 14).endsWith(`${one}${one}.rs:389`));
  }
  // A joiner that joins nothing would be invisible.
  assert.equal(visible(`a\u200db${FAMILY}\u200d`), `a\\u{200d}b${FAMILY}\\u{200d}`);
});

/** A palette, as the style sheet has it. */
const OWN = readPalette((name) => ({ "--state-running": "#dc267f", "--at-line-1": "#123321" })[name] ?? "#0a0b0c");

test("a state has the colour of its meaning, or of the line at which it waits", () => {
  for (const role of STATE_ROLES) assert.match(colourOf({ name: "x", colour: "#111111", role }, OWN, "page"), /^#/);
  assert.equal(colourOf(TASK_STATES[1], OWN, "page"), "#dc267f");
  assert.equal(colourOf({ ...TASK_STATES[2], line: 1 }, OWN, "lines"), "#123321");
  assert.equal(OWN.others.length, OTHER_COLOURS);
  assert.equal(OWN.lines.length, LINE_COLOURS);
});

test("colours of a file are accepted, but nothing that could be more than a colour", () => {
  const colour = (text, kind = "statemap") => colourOf({ name: "x", colour: text, role: "other" }, OWN, kind);
  assert.deepEqual(["#ABC", "#A1b2C3", "Red", "rgb(1, 2, 3)", "hsl(1deg 2% 3%)"].map((text) => colour(text, "page")), ["#aabbcc", "#a1b2c3", "red", "rgb(1, 2, 3)", "hsl(1deg 2% 3%)"]);
  for (const text of [null, undefined, 7, "", "#12", "url(x)", "var(--x)", "red;x", "image-set(x)", "r".repeat(1000)]) assert.match(colour(text), /^#[0-9a-f]{6}$/);
  assert.equal(colourOf(TASK_STATES[3], OWN, "page"), null);
  assert.equal(colourOf(TASK_STATES[3], OWN, "statemap"), null);
  assert.equal(colourOf(TASK_STATES[1], OWN, "statemap"), "#123456");
});

function named(...names) {
  const lanes = names.map((name) => [{ name, transitions: [{ time: 0, state: 0 }, { time: 50, state: 1 }] }]);
  return modelOf({ length: 100, sections: [{ kind: "tasks", states: TASK_STATES, groups: [{ label: "src/Main.rs:7:1", lanes }] }] });
}

test("the search lists exact names first", async () => {
  const model = await named("main", "task-17", "task-7", "task-70", "api/task-7", "worker-1");
  const labels = (text) => search(model, text).map((hit) => hit.label);
  assert.deepEqual(labels("7"), ["task-7", "api/task-7", "src/Main.rs:7:1", "task-17", "task-70"]);
  assert.deepEqual(labels("TASK-7"), ["task-7", "api/task-7", "task-70"]);
  assert.deepEqual(labels("main"), ["main", "src/Main.rs:7:1"]);
  const shown = (text) => search(model, text).map(({ label, word, shows }) => [label, word, shows()]);
  assert.deepEqual(shown("main.rs"), [["src/Main.rs:7:1", "location", [{ kind: "group", section: 0, group: 0 }]]]);
  assert.deepEqual(shown("worker-1"), [["worker-1", "task", [{ kind: "row", section: 0, row: 5 }]]]);
  assert.deepEqual([labels(" "), labels("nothing"), labels(".*")], [[], [], []]);
  const many = await named(...Array.from({ length: 500 }, (_, i) => `task-${i}`));
  assert.equal(search(many, "task").length, 200);
  assert.equal(search(many, "499")[0].label, "task-499");
});

test("the search finds functions, spans, and times", async () => {
  const model = await named("task-1", "task-2");
  const [section] = model.sections;
  const frame = (name, origin, line) => ({ name, file: line > 0 ? "src/shop.rs" : null, line, origin });
  const [handler, render, read, lock] = [frame("async shop::invoice", "program", 80), frame("shop::render", "program", 21),
    frame("std::io::read", "std", 0), frame("async tokio::sync::Mutex<T>::lock", "runtime", 0)];
  // The poll of task-2 is longer.
  section.endOf = (i) => section.time[i] + [0, 10, 0, 40][i];
  const poll = (transition, samples, blamed = null) => [transition, { transition, frame: blamed, samples }];
  section.why = {
    polls: new Map([poll(1, [{ call: 2 }]), poll(3, [{ call: 1 }, { call: 3 }], render), poll(-1, [{ call: 3 }])]),
    calls: [[handler, 0], [render, 1], [read, 2]],
  };
  section.awaits = { places: [{ functions: [{ frame: handler, awaits: [{ frame: lock, awaits: [] }] }] }] };
  section.tag = Uint32Array.of(0, 0, 1, 0);
  section.requests = { rows: [{ name: "request GET /invoice" }] };
  const found = (text) => search(model, text).map(({ label, word, shows }) => [label, word, shows().map((to) => to.transition ?? to.tab ?? [to.t0, to.t1])]);
  assert.deepEqual(found("Render"), [["render at src/shop.rs:21", "2 polls", [3, 1]]]);
  assert.deepEqual(found("shop.rs:80"), [["async invoice at src/shop.rs:80", "2 polls", [3, 1]], ["async invoice at src/shop.rs:80", "wait", [2]]]);
  assert.deepEqual(found("invoice").map(([label]) => label), ["async invoice at src/shop.rs:80", "async invoice at src/shop.rs:80", "request GET /invoice"]);
  assert.deepEqual(found("get /"), [["request GET /invoice", "span", ["requests"]]]);
  assert.deepEqual(found("std::io"), [["std::io::read", "1 poll", [3]]]);
  assert.deepEqual(found("lock"), [], "the runtime's functions aren't listed");
  assert.deepEqual(found("50 ns"), [["at 50 ns", "time", [[0, 100]]]]);
  assert.deepEqual(found("0.00000001s"), [["at 0.00000001s", "time", [[0, 100]]]]);
  assert.deepEqual([found("101 ns"), found("1 hour"), found("9e99 s")], [[], [], []], "none beyond the end, and no other units");
});

test("a group is named by what its tasks run, if a library spawned them", async () => {
  const [own, library] = [{ label: "src/main.rs:7:1", runs: null }, { label: "axum/mod.rs:9:1", runs: ["async shop::a\u202e", "async shop::a\u202e in 2 tasks"] }];
  assert.deepEqual([groupName(own), groupText(own)], ["src/main.rs:7:1", "src/main.rs:7:1"]);
  assert.deepEqual([groupName(library), groupText(library)].map((text) => text.includes("\u202e")), [false, false]);
  assert.match(groupName(library), /^async shop::a/);
  assert.match(groupText(library), /^axum\/mod\.rs:9:1, ran async shop::a.* in 2 tasks$/);
});

test("a view is restored from the hash", async () => {
  const model = await modelOf(randomPicture(2));
  const random = randomOf(6);
  for (let n = 0; n < 200; n++) {
    const section = model.sections[random.below(2)];
    const a = random.below(model.lengthNs), b = a + 1 + random.below(model.lengthNs - a);
    const sel = [undefined, { section: section.index, row: random.below(section.nRows) }, { t0: a, t1: b }, { section: section.index, transition: random.below(section.nTransitions) }][n % 4];
    const view = { t0: a, t1: b, threshold: random.below(1e9), palette: "statemap", tab: "issues", folds: ["0", "1.0"], group: { section: 1, group: 0 } };
    if (sel) view.sel = sel;
    const back = decodeView("#" + encodeView(view, model), model);
    if (sel?.transition !== undefined) {
      // Any of several at the same time is right.
      assert.equal(section.time[back.sel.transition], section.time[sel.transition]);
      assert.equal(section.rowOf(back.sel.transition), section.rowOf(sel.transition));
      view.sel = back.sel;
    }
    assert.deepEqual(back, view);
  }
});

test("an invalid hash is ignored, and times are clamped", async () => {
  const model = await named("task-1.2", "a.b_c&d=#%", "row.0");
  for (const text of ["", "#", "#x", "t=5", "t=9_3", "t=NaN_3", "t=200_300", "sel=row.9.task-1", "sel=row.0.none", "sel=at.0.x.task-1", "sel=at.0.5", "sel=range.5", "sel=__proto__",
    "group=0.9", "group=9.0", "group=length.0", "long=-5", "long=1e9", "palette=x", "tab=<b>", "%", "%ff", "t".repeat(200000)]) {
    assert.deepEqual(decodeView(text, model), {}, text);
  }
  assert.deepEqual(decodeView("t=-50_500", model), { t0: 0, t1: 100 });
  assert.deepEqual(decodeView("folds=0_9_0.0_0.7_x", model), { folds: ["0", "0.0"] });
  for (let row = 0; row < 3; row++) {
    for (const sel of [{ section: 0, row }, { section: 0, transition: row * 2 + 1 }]) assert.deepEqual(decodeView(encodeView({ sel }, model), model), { sel });
  }
  // If the poll no longer exists, its task is selected.
  assert.deepEqual(decodeView("sel=at.0.51.row.0", model), { sel: { section: 0, row: 2 } });
});
