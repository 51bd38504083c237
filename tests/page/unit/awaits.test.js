// Where tasks wait: the places of tags, the longest wait at a line, and waiting split by line.

import assert from "node:assert/strict";
import test from "node:test";

import { awaitOf, longestWait } from "../../../tokio-statemap/src/render/html/page/model/awaits.js";
import { MOST_LINES, hasLines, splitWaiting } from "../../../tokio-statemap/src/render/html/page/model/by_line.js";
import { sectionTotals } from "../../../tokio-statemap/src/render/html/page/model/lanes.js";
import { search } from "../../../tokio-statemap/src/render/html/page/model/search.js";
import { TASK_STATES, modelOf } from "./random.js";

const [SPAWNED, RUNNING, WAITING] = [0, 1, 2];
const LENGTH = 100;

/** Tasks that wait at these places (tags) for the given times, one wait after the other. */
const row = (name, ...waits) => {
  const transitions = [{ time: 0, state: SPAWNED }];
  let now = 0;
  for (const [tag, length] of waits) {
    transitions.push({ time: ++now, state: RUNNING, worker: 0 }, { time: ++now, state: WAITING, tag });
    now += length;
  }
  return { name, transitions };
};

const line = (label, frame) => ({ label, frame, awaits: null, times: 1, total: 1, longest: 1, p50: 1, p99: 1, now: 0, holder: null });

/** Four waits: for a lock; in a `join!` for the lock and a timer; for a future that took no waker; elsewhere. */
const AWAITS = {
  names: ["async shop::checkout", "src/shop.rs", "Mutex::lock", "Sleep", "async shop::main"],
  // name, file from 1, line, origin
  frames: [[0, 2, 18, 0], [2, 0, 0, 3], [3, 0, 0, 3], [4, 2, 9, 0], [0, 2, 20, 0]],
  // frame, awaited by (from 1), name
  places: [
    [[[3, 0, null], [0, 1, "paying"], [1, 2, null]], [0]],
    [[[3, 0, null], [0, 1, null], [1, 2, null], [4, 1, null], [2, 4, null]], [0, 1]],
    [[], []],
    [[[3, 0, null]], []],
  ],
  lines: [line("src/shop.rs:18, Mutex::lock", 0), line("src/shop.rs:20, Sleep", 4)],
  still: [{ row: 0, tasks: 2, for: 9, forgotten: true }],
  notes: [],
};
const TAGS = [
  "src/shop.rs:18, Mutex::lock", "src/shop.rs:18, Mutex::lock + src/shop.rs:20, Sleep", "nothing took its waker", "src/shop.rs:9",
].map((tag) => ({ state: WAITING, tag, fields: [] }));

const picture = (...rows) => ({
  length: LENGTH,
  sections: [{ kind: "tasks", states: TASK_STATES, hasTags: true, tags: TAGS, awaits: AWAITS, groups: [{ label: "src/a.rs:1:1", lanes: rows.map((each) => [each]) }] }],
});
const two = () => modelOf(picture(row("task-1", [0, 10], [1, 20], [undefined, 5]), row('task-2 "conn"', [0, 30], [2, 7], [3, 9])));

/** Returns the waits of a section, in their order. */
const waits = (section) => [...section.state.keys()].filter((i) => section.states[section.state[i]].role === "waiting");

test("a tag is a place, with its functions as a tree", async () => {
  const { sections: [tasks] } = await two();
  const places = waits(tasks).map((i) => awaitOf(tasks, i));
  assert.deepEqual(places.map((place) => place && place.label), [
    "src/shop.rs:18, Mutex::lock", "src/shop.rs:18, Mutex::lock + src/shop.rs:20, Sleep", null,
    "src/shop.rs:18, Mutex::lock", "nothing took its waker", "src/shop.rs:9",
  ]);
  const names = (functions) => functions.map(({ frame, name, awaits }) => [frame.name, name, names(awaits)]);
  assert.deepEqual(names(places[1].functions), [["async shop::main", null, [
    ["async shop::checkout", null, [["Mutex::lock", null, []]]],
    ["async shop::checkout", null, [["Sleep", null, []]]],
  ]]]);
  assert.equal(places[0].functions[0].awaits[0].name, "paying");
  // A poll isn't a wait.
  assert.equal(awaitOf(tasks, waits(tasks)[0] - 1), null);
});

test("the longest wait at a line is one of all places with the line", async () => {
  const { sections: [tasks] } = await two();
  const found = tasks.awaits.lines.map((each) => longestWait(tasks, each));
  const all = waits(tasks);
  assert.deepEqual(found, [all[3], all[1]]);
  assert.equal(longestWait(tasks, { places: new Set() }), -1);
});

test("waiting is split by line, and joined again", async () => {
  const { sections: [tasks] } = await two();
  const totals = () => Object.fromEntries(tasks.states.map(({ name }, state) => [name, Number(sectionTotals(tasks, 0, LENGTH, null)[state])]));
  const before = totals();
  const states = [...tasks.state];
  assert.equal(splitWaiting(tasks, false), false);
  assert.equal(splitWaiting(tasks, true), true);
  assert.equal(splitWaiting(tasks, true), false);
  // The last span of a lane lasts to the right edge.
  const after = totals();
  assert.deepEqual(Object.entries(after).slice(TASK_STATES.length).map(([name]) => name), [
    "waiting at src/shop.rs:9", "waiting at src/shop.rs:18, Mutex::lock", "waiting at src/shop.rs:18, Mutex::lock + src/shop.rs:20, Sleep",
  ]);
  assert.equal(after["waiting at src/shop.rs:18, Mutex::lock"], 42, "each up to the next poll");
  const split = Object.entries(after).filter(([name]) => name.startsWith("waiting")).reduce((sum, [, ns]) => sum + ns, 0);
  assert.equal(split, before.waiting);
  assert.equal(after.running, before.running);
  assert.equal(tasks.isRunning.length, tasks.states.length);
  splitWaiting(tasks, false);
  assert.deepEqual([totals(), [...tasks.state], tasks.states], [before, states, TASK_STATES]);
});

test("the lines with the longest waits have a state, all others share one", async () => {
  const many = picture(...Array.from({ length: 12 }, (_, i) => row(`task-${i}`, [i, 40 - i], [i, 0])));
  const [section] = many.sections;
  section.tags = Array.from({ length: 12 }, (_, i) => ({ state: WAITING, tag: `src/shop.rs:${i}`, fields: [] }));
  section.awaits = {
    ...AWAITS, lines: section.tags.map(({ tag }) => line(tag, 0)), places: section.tags.map((_, i) => [[[0, 0, null]], [i]]), still: [],
  };
  const { sections: [tasks] } = await modelOf(many);
  splitWaiting(tasks, true);
  const added = tasks.states.slice(TASK_STATES.length);
  assert.equal(added.length, MOST_LINES + 1);
  assert.equal(added.at(-1).name, "waiting at other lines");
  const used = new Set(waits(tasks).map((i) => tasks.states[tasks.state[i]].name));
  assert.equal(used.size, MOST_LINES + 1);
});

test("without waits nothing is split", async () => {
  const bare = picture(row("task-1", [undefined, 5]));
  Object.assign(bare.sections[0], { awaits: null, hasTags: false, tags: [] });
  const { sections: [tasks] } = await modelOf(bare);
  assert.deepEqual([hasLines(tasks), splitWaiting(tasks, true), awaitOf(tasks, 2)], [false, false, null]);
});

test("a task is found by its name", async () => {
  const model = await two();
  for (const text of ["conn", "2", "task-2", "CONN"]) {
    const [{ label, shows }] = search(model, text);
    assert.deepEqual([label, shows()], ['task-2 "conn"', [{ kind: "row", section: 0, row: 1 }]], text);
  }
});
