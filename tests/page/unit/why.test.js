// The causes of long polls: found again in the page, grouped by blamed function, summed to a flame graph.

import assert from "node:assert/strict";
import test from "node:test";

import { blamedPolls } from "../../../tokio-statemap/src/render/html/page/model/blamed.js";
import { lengthsOf } from "../../../tokio-statemap/src/render/html/page/model/lengths.js";
import { firstNames, firstTarget, issueList } from "../../../tokio-statemap/src/render/html/page/model/reported.js";
import { buildFlame, layOutFlame } from "../../../tokio-statemap/src/render/html/page/model/flame.js";
import { openingOf } from "../../../tokio-statemap/src/render/html/page/model/opening.js";
import { formatLength } from "../../../tokio-statemap/src/render/html/page/format/numbers.js";
import { shortName, sourceOf } from "../../../tokio-statemap/src/render/html/page/model/frames.js";
import { heldNs, ownNs, pollInfo, worstPolls } from "../../../tokio-statemap/src/render/html/page/model/polls.js";
import { distributionsOf } from "../../../tokio-statemap/src/render/html/page/model/distributions.js";
import { locationTable } from "../../../tokio-statemap/src/render/html/page/model/locations.js";
import { whyOf } from "../../../tokio-statemap/src/render/html/page/model/why.js";
import { TASK_STATES, WORKER_STATES, modelOf } from "./random.js";

const MS = 1e6;
const poll = (start, length) => [{ time: start * MS, state: 1, worker: 0 }, { time: (start + length) * MS, state: 2 }];
const row = (name, ...polls) => ({ name, transitions: [{ time: 0, state: 0 }, ...polls.flat()] });

/**
 * Returns three tasks: one sleeps and computes, one is taken off its processor and isn't sampled otherwise, one is never
 * long.
 */
function picture() {
  const why = {
    names: ["shop::render", "src/shop.rs", "async shop::handle", "std::thread::sleep", "/rustc/x/thread.rs"],
    words: ["blocked in std::thread::sleep (clock_nanosleep)", "clock_nanosleep", "computed"],
    // name, file from 1, line, origin
    frames: [[2, 2, 9, 0], [0, 2, 21, 0], [3, 5, 300, 2], [0, 2, 22, 0]],
    // frame from 1, within from 1
    calls: [[1, 0], [2, 1], [3, 2], [4, 1], [0, 0], [2, 5]],
    polls: [
      [0, 10 * MS, [1 * MS, 27 * MS, 2 * MS, 0, 0], [1, 0], [[10 * MS, 2, 3], [25 * MS, 2, 3]], 2 * MS],
      [0, 50 * MS, [8 * MS, 0, 0, 12 * MS, 3], [1, 2], [[5 * MS, 0, 2], [8 * MS, 0, 4], [9 * MS, 0, 6]], 12 * MS],
      [1, 80 * MS, [0.5 * MS, 0, 4.5 * MS, 0, 0], null, [], 4.5 * MS],
      [1, 81 * MS, null, null, [], 0],
      [1, 100 * MS, null, null, [], 0],
    ],
    culprits: [{ at: [0, 1], blockingCause: 0, frame: 1, longest: 0, own: 36 * MS, place: "src/a.rs:1:1", polls: 2 }],
    unattributed: { at: [2], polls: 1, taken: 4.5 * MS, unseen: 1, unseenAt: [4], unseenTime: 12 * MS },
  };
  return {
    length: 200 * MS,
    sections: [
      { kind: "workers", states: WORKER_STATES, indices: [0], groups: [{ label: "", lanes: [[{ name: "worker-0", transitions: [{ time: 0, state: 0 }] }]] }] },
      { kind: "tasks", states: TASK_STATES, hasWorkers: true, why,
        groups: [{ label: "src/a.rs:1:1", lanes: [[row("task-1", poll(10, 30), poll(50, 20))], [row("task-2", poll(80, 5), poll(100, 12))]] }, { label: "src/b.rs:2:2", lanes: [[row("task-3", poll(90, 0.5), poll(95, 0.3))]] }] },
    ],
  };
}

test("polls are found again by row and start", async () => {
  const model = await modelOf(picture());
  const [, tasks] = model.sections;
  const known = [...tasks.why.polls.values()].filter(({ transition }) => transition >= 0).map(({ transition }) => [tasks.rowOf(transition), tasks.time[transition] / MS]);
  assert.deepEqual(known, [[0, 10], [0, 50], [1, 80], [1, 100]]);
  const worst = tasks.why.culprits[0].longest;
  assert.deepEqual([tasks.time[worst.transition], heldNs(tasks, worst.transition)], [10 * MS, 30 * MS]);
  const why = whyOf(tasks, worst.transition);
  assert.deepEqual([why.frame.name, sourceOf(why.frame), why.blockingCause, ownNs(tasks, why.transition)], ["shop::render", "src/shop.rs:21", "blocked in std::thread::sleep (clock_nanosleep)", 28 * MS]);
  assert.equal(whyOf(tasks, worst.transition + 1), null);
});

test("polls are grouped by blamed function, at any threshold", async () => {
  const model = await modelOf(picture());
  const groups = (ms) => blamedPolls(model, ms * MS).map(({ kind, label, polls, ns, list }) => [kind, label, polls, ns / MS, list.length]);
  // A poll of the same spawn location without a sampled stack isn't attributed, at any threshold.
  const unseen = ["unknown", "No stack was sampled", 1, 12, 1];
  assert.deepEqual(groups(1), [["culprit", "render", 2, 36, 2], ["machine", "The machine took the processor", 1, 4.5, 1], unseen]);
  // Time that the machine took from a poll doesn't count against it.
  assert.deepEqual(groups(10), [["culprit", "render", 1, 28, 1], ["machine", "The machine took the processor", 1, 12, 1], unseen]);
  assert.deepEqual(groups(29), [["machine", "The machine took the processor", 1, 2, 1]]);
  assert.deepEqual(groups(100), []);
  // Shorter polls aren't in the report.
  assert.deepEqual(groups(0.4), [["culprit", "render", 2, 36, 2], ["place", "src/b.rs:2:2", 1, 0.5, 1], ["machine", "The machine took the processor", 1, 4.5, 1], unseen]);
  const foreign = await modelOf({ ...picture(), sections: [picture().sections[0]] });
  assert.equal(blamedPolls(foreign, MS), null);
});

/** Returns a flame graph as lines of text, the outermost function first. */
const flameLines = (node, describe, depth = 0) =>
  node.calls.flatMap((call) => [describe(call, "  ".repeat(depth)), ...flameLines(call, describe, depth + 1)]);

test("a flame graph sums the time since the sample before, by function", async () => {
  const [, { why }] = (await modelOf(picture())).sections;
  const root = buildFlame([{ why, polls: [...why.polls.values()] }]);
  assert.deepEqual(flameLines(root, ({ name, line, ns, samples }, indent) => `${indent}${name}:${line} ${ns / MS} ${samples}`), [
    "async shop::handle:9 33 4",
    // It was at two lines, longer at 21.
    "  shop::render:21 33 4",
    "    std::thread::sleep:300 25 2",
    "      clock_nanosleep:0 25 2",
    "(unknown caller):0 1 1",
    "  shop::render:21 1 1",
  ]);
  assert.deepEqual([root.ns, root.samples], [34 * MS, 5]);
  const boxes = layOutFlame(root, 0.1);
  assert.deepEqual(boxes.map(({ node, depth, left, width }) => [node.name, depth, left, width.toFixed(2)]), [
    ["async shop::handle", 0, 0, "0.97"], ["shop::render", 1, 0, "0.97"], ["std::thread::sleep", 2, 0, "0.74"], ["clock_nanosleep", 3, 0, "0.74"],
  ]);
  // The selected function has the full width, and its callers are above it.
  const sleep = boxes[2].node;
  assert.deepEqual(layOutFlame(sleep, 0.1).map(({ node, depth, width }) => [node.name, depth, width]), [
    ["async shop::handle", 0, 1], ["shop::render", 1, 1], ["std::thread::sleep", 2, 1], ["clock_nanosleep", 3, 1],
  ]);
  assert.equal(buildFlame([]).samples, 0);
});

test("a short name is the name of the function itself", () => {
  const cases = { render: "render", "shop::render_invoice": "render_invoice", "async shop::handle": "async handle", "<a::B as c::D>::e": "e",
    "a::b<c::D>": "b<c::D>", "a::{closure#0}": "{closure#0}", "f::g<fn() -> x::Y>": "g<fn() -> x::Y>" };
  for (const [name, short] of Object.entries(cases)) assert.equal(shortName(name), short);
});

test("the numbers of polls are listed by length in steps of 1, 2, 5 and so on, as in the report", () => {
  assert.equal(lengthsOf([]), null);
  assert.deepEqual(lengthsOf([60_000, 900, 1_000, 1_001, 4_000]), {
    p50: 1_001, p99: 60_000, steps: [[1_000, 2], [2_000, 1], [5_000, 1], [10_000, 0], [20_000, 0], [50_000, 0], [100_000, 1]],
  });
  assert.deepEqual(lengthsOf([1, 2]).steps, [[1, 1], [2, 1]]);
});

/** Returns the issues of `picture()`: stalls, a blamed function, and an issue whose polls aren't kept. */
function withIssues() {
  const issue = (kind, label, number, total, more) => ({
    kind, label, number, total, noun: "poll", text: `${kind} of ${label}.`, meaning: "It means.", advice: "Do this.", source: null, group: null,
    lengths: null, culprit: null, spots: [], ...more,
  });
  const why = picture();
  why.sections[1].issues = [
    issue("stall", "shop::render", 1, 30 * MS, { source: "src/shop.rs:21", group: "src/a.rs:1:1", spots: [[0, 10 * MS, 30 * MS]] }),
    issue("long polls", "shop::render", 2, 36 * MS, { source: "src/shop.rs:21", group: "src/a.rs:1:1", culprit: 0, lengths: [8 * MS, 28 * MS, [[10 * MS, 1], [20 * MS, 0], [50 * MS, 1]]] }),
    issue("long polls", "src/gone.rs:1:1", 7, 9 * MS, { group: "src/gone.rs:1:1" }),
  ];
  return why;
}

test("the issues are the report's at its threshold, and their long polls are counted again at others", async () => {
  const model = await modelOf(withIssues());
  const groups = (ms) => issueList(model, ms * MS).map(({ kind, name, label, polls, ns, list, spots }) => [name ?? kind, label, polls, ns / MS, list.length, spots?.length]);
  const stall = ["stall", "render", 1, 30, 0, 1], machine = ["machine", "The machine took the processor", 1, 4.5, 1, undefined];
  const unseen = ["unknown", "No stack was sampled", 1, 12, 1, undefined];
  const gone = ["long polls", "src/gone.rs:1:1", 7, 9, 0, 0];
  assert.deepEqual(groups(1), [stall, ["long polls", "render", 2, 36, 2, 0], gone, machine, unseen]);
  assert.deepEqual(groups(0.4), [stall, ["long polls", "render", 2, 36, 2, 0], gone, ["place", "src/b.rs:2:2", 1, 0.5, 1, undefined], machine, unseen]);
  assert.deepEqual(groups(10).slice(0, 2), [stall, ["long polls", "render", 1, 28, 1, 0]]);
  assert.deepEqual(groups(100), [stall]);
  assert.deepEqual(issueList(model, 10 * MS)[1].lengths, { p50: 28 * MS, p99: 28 * MS, steps: [[50 * MS, 1]] });
  const target = firstTarget(model);
  assert.deepEqual([target.kind, model.sections[1].time[target.transition]], ["span", 10 * MS]);
  assert.deepEqual(firstNames(model), ["shop::render at src/shop.rs:21", "shop::render in src/shop.rs:21", "shop::render", "src/a.rs:1:1"]);
  const healthy = await modelOf({ ...withIssues(), sections: [picture().sections[0], { ...picture().sections[1], issues: [] }] });
  assert.deepEqual([firstTarget(healthy), firstNames(healthy)], [null, []]);
});

test("the page opens on the first issue, or on nothing", async () => {
  const opening = async (first) => {
    const given = withIssues();
    if (first !== undefined) Object.assign(given.sections[1].issues[0], { culprit: null, spots: [], group: null }, first);
    const model = await modelOf(given);
    const found = openingOf(model);
    return found && [found.target.kind, found.row, found.start / MS, found.end / MS, found.group];
  };
  assert.deepEqual(await opening(), ["span", 0, 10, 40, 0]);
  // A stall by the poll of another, a wait up to the end, tasks known only by their group, and none at all.
  assert.deepEqual(await opening({ spots: [[0, 50 * MS, 20 * MS]] }), ["span", 0, 50, 70, 0]);
  assert.deepEqual(await opening({ kind: "never finished", spots: [[0, 70 * MS, 130 * MS]] }), ["span", 0, 70, 200, 0]);
  assert.deepEqual(await opening({ kind: "blocking pool", group: "src/b.rs:2:2" }), ["group", null, 0, 200, 1]);
  assert.equal(await opening({ kind: "blocking pool" }), null);
  assert.equal(openingOf(await modelOf(picture())), null, "no report");
});

test("polls are ranked and described by their own time, and the page opens on the first of the list", async () => {
  const given = withIssues();
  const [{ why }] = given.sections.slice(1);
  // The machine took most of the poll that held its worker longest.
  why.polls[0][2] = [1 * MS, 7 * MS, 22 * MS, 0, 0];
  why.polls[0][5] = 22 * MS;
  why.polls[1][5] = 5 * MS;
  why.culprits[0] = { ...why.culprits[0], longest: 1, own: 23 * MS };
  given.sections[1].issues.shift();
  const model = await modelOf(given);
  const [, section] = model.sections;
  const [first] = issueList(model, MS);
  assert.deepEqual(first.list.map(({ start, own, held }) => [start / MS, own / MS, held / MS]), [[50, 15, 20], [10, 8, 30]]);
  const opening = openingOf(model);
  assert.deepEqual([opening.start / MS, opening.target.transition], [50, first.list[0].transition]);
  const ofRow = pollInfo(section, worstPolls(section, 1, { row: 0 })[0]);
  assert.deepEqual([ofRow.transition, formatLength(ofRow.own, ofRow.held)], [opening.target.transition, "15.0 ms (wall time 20.0 ms)"]);
  assert.equal(formatLength(20 * MS, 20 * MS + 1), "20.0 ms", "no more than rounding");
  const counts = distributionsOf(model, { kind: "culprit", section: 1, culprit: 0 });
  let counted = counts.next();
  while (!counted.done) counted = counts.next();
  assert.deepEqual([counted.value.polls.longest, counted.value.polls.p50], [15 * MS, 8 * MS]);
  const location = locationTable(model).find(({ label }) => label === "src/a.rs:1:1");
  // All four polls of the location: 8, 15, 0.5 and 12 ms.
  assert.deepEqual([location.longestNs, location.p50Ns, location.heldNs], [15 * MS, 8 * MS, 67 * MS]);
});
