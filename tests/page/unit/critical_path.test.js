// What the length of a task or of a wait depended on: a way back, from each wait to who ended it.

import assert from "node:assert/strict";
import test from "node:test";

import { stretchOfPath } from "../../../tokio-statemap/src/render/html/page/draw/path_lane.js";
import { pathOfSelection, pathOfTask, pathOfWait, pathWithin } from "../../../tokio-statemap/src/render/html/page/model/critical_path.js";
import { TASK_STATES, modelOf } from "./random.js";

const state = (role) => TASK_STATES.findIndex((state) => state.role === role);
const [spawned, running, waiting, ready, completed] = ["spawned", "running", "waiting", "ready", "completed"].map(state);

/** A root future spawns two tasks and joins both; the second one is woken by a timer, and wakes the first, which ends last. */
const picture = () => {
  const us = (all) => all.map(({ time, ...other }) => ({ ...other, time: time * 1000 }));
  const main = { name: "main", root: true, transitions: us([
    { time: 0, state: running, waker: 0 }, { time: 20, state: waiting },
    { time: 380, state: ready }, { time: 390, state: running }, { time: 400, state: completed },
  ]) };
  const first = { name: "task-1", transitions: us([
    { time: 10, state: spawned }, { time: 30, state: running }, { time: 40, state: waiting },
    { time: 210, state: ready }, { time: 300, state: running }, { time: 380, state: completed },
  ]) };
  const second = { name: "task-2", transitions: us([
    { time: 12, state: spawned }, { time: 40, state: running }, { time: 50, state: waiting },
    { time: 180, state: ready }, { time: 200, state: running, waker: 1 }, { time: 220, state: completed },
  ]) };
  first.parent = second.parent = main;
  main.transitions[3].waker = first;
  first.transitions[4].waker = second;
  const groups = [{ label: "shop.rs:1:1", lanes: [[main], [first], [second]] }];
  return { length: 500_000, sections: [{ title: "Tasks", kind: "tasks", states: TASK_STATES, hasWorkers: true, hasWakers: true, groups }] };
};

const sums = (path) => Object.fromEntries(path.parts.map(({ kind, total }) => [kind, total / 1000]));
const all = (path) => path.parts.reduce((sum, { total }) => sum + total, 0);

test("the way goes from each wait to who ended it", async () => {
  const { sections: [section] } = await modelOf(picture(), 1000);
  const path = pathOfTask(section, [], 0);
  // Back from 400: main runs 10, is ready 10, task-1 runs 80, is ready 90, task-2 runs 10, is ready 20, waits 130, runs 10, is ready 28,
  // and main runs 12.
  assert.deepEqual(sums(path), { running: 122, ready: 148, waiting: 130 });
  assert.deepEqual([path.tasks, path.length, all(path)], [3, 400_000, 400_000]);
  const longest = path.parts.find(({ kind }) => kind === "waiting");
  assert.equal(section.name(section.rowOf(longest.transition)), "task-2");
});

test("of a wait it is the way from its end to its start", async () => {
  const { sections: [section] } = await modelOf(picture(), 1000);
  const path = pathOfWait(section, [], section.rowFirst[1] + 2);
  assert.deepEqual([sums(path), path.length], [{ running: 20, ready: 20, waiting: 130 }, 170_000]);
  assert.deepEqual([path.tasks, path.hasOthers], [1, true]);
  assert.equal(pathOfWait(section, [], section.rowFirst[1] + 4), null, "it is no wait");
});

test("what is in a gap isn't known", async () => {
  const { sections: [section] } = await modelOf(picture(), 1000);
  assert.deepEqual(sums(pathOfTask(section, [[60_000, 70_000]], 0)), { running: 122, ready: 148, unknown: 130 });
});

test("a task that lives on has no length", async () => {
  const one = picture();
  one.sections[0].groups[0].lanes[0][0].transitions.pop();
  const { sections: [section] } = await modelOf(one, 1000);
  assert.equal(pathOfTask(section, [], 0), null);
});

test("without wakers nothing is known", async () => {
  const one = picture();
  one.sections[0].hasWakers = false;
  const { sections: [section] } = await modelOf(one, 1000);
  assert.equal(pathOfTask(section, [], 0), null);
});

test("short polls of a task that wakes itself are followed once", async () => {
  const transitions = [{ time: 0, state: running, waker: 0 }];
  const main = { name: "main", root: true, transitions };
  for (let n = 1; n < 100_000; n++) {
    transitions.push({ time: n * 200 - 100, state: ready }, { time: n * 200, state: running, waker: main });
  }
  transitions.push({ time: 100_000 * 200, state: completed });
  const groups = [{ label: "shop.rs:1:1", lanes: [[main]] }];
  const sections = [{ title: "Tasks", kind: "tasks", states: TASK_STATES, hasWorkers: true, hasWakers: true, groups }];
  const { sections: [section] } = await modelOf({ length: 30_000_000, sections }, 1000);
  const path = pathOfTask(section, [], 0);
  assert.deepEqual([path.tasks, path.hasOthers, all(path)], [1, false, 20_000_000]);
  assert.deepEqual(Object.keys(sums(path)).sort(), ["ready", "running"]);
});

test("what was dropped between two polls is unknown, also if the task woke itself", async () => {
  const us = (all) => all.map(({ time, ...other }) => ({ ...other, time: time * 1000 }));
  const main = { name: "main", root: true, transitions: us([
    { time: 0, state: running, waker: 0 }, { time: 50, state: waiting },
    { time: 890, state: ready }, { time: 900, state: running }, { time: 1000, state: completed },
  ]) };
  main.transitions[3].waker = main;
  const groups = [{ label: "shop.rs:1:1", lanes: [[main]] }];
  const sections = [{ title: "Tasks", kind: "tasks", states: TASK_STATES, hasWorkers: true, hasWakers: true, groups }];
  const { sections: [section] } = await modelOf({ length: 2_000_000, sections }, 1000);
  assert.deepEqual(sums(pathOfTask(section, [[100_000, 800_000]], 0)), { running: 150, ready: 10, unknown: 840 });
});

test("the stretches of a path follow one another, and are its parts", async () => {
  const { sections: [section] } = await modelOf(picture(), 1000);
  const { way, parts, length } = pathOfTask(section, [], 0);
  const n = way.to.length;
  assert.equal(way.to[n - 1] - way.from[0], length);
  for (let i = 1; i < n; i++) assert.equal(way.from[i], way.to[i - 1]);
  // A task that was just spawned is ready.
  const roleOf = (transition) => section.states[section.state[transition]].role.replace("spawned", "ready");
  const kinds = way.transition.map((transition, i) => (way.isKnown[i] ? roleOf(transition) : "unknown"));
  for (const kind of new Set(kinds)) {
    const [stretches, ofKind] = [[...kinds.keys()].filter((i) => kinds[i] === kind), parts.filter((part) => part.kind === kind)];
    assert.equal(stretches.length, ofKind.reduce((sum, { times }) => sum + times, 0), kind);
    assert.equal(stretches.reduce((sum, i) => sum + way.to[i] - way.from[i], 0), ofKind.reduce((sum, { total }) => sum + total, 0), kind);
  }
  for (let i = 0; i < n; i++) {
    assert.equal(stretchOfPath(way, way.from[i]), i);
    assert.equal(stretchOfPath(way, way.to[i] - 1), i);
  }
  assert.equal(stretchOfPath(way, way.from[0] - 1), -1);
  assert.equal(stretchOfPath(way, way.to[n - 1]), -1);
});

test("a task's path or a wait's is that of what is selected", async () => {
  const model = await modelOf(picture(), 1000);
  const [section] = model.sections;
  model.meta = { ...model.meta, gaps: [] };
  const row = pathOfSelection(model, { kind: "row", section: 0, row: 0 });
  assert.equal(row.row, 0);
  assert.deepEqual(row.path, pathOfTask(section, [], 0));
  // The wait of main for both.
  const wait = pathOfSelection(model, { kind: "span", section: 0, transition: section.rowFirst[0] + 1 });
  assert.deepEqual([wait.row, wait.path.way.from[0], wait.path.way.to.at(-1)], [0, 20_000, 380_000]);
  assert.equal(pathOfSelection(model, { kind: "span", section: 0, transition: section.rowFirst[0] }), null, "a poll");
  // No other task was on the way of the second one.
  assert.equal(pathOfSelection(model, { kind: "row", section: 0, row: 2 }), null);
  assert.equal(pathOfSelection(model, { kind: "range", t0: 410_000, t1: 420_000 }), null);
  assert.equal(pathOfSelection(model, null), null);
});

test("the path in a time is what lies in it of the whole path", async () => {
  const model = await modelOf(picture(), 1000);
  const [section] = model.sections;
  const { way: whole } = pathOfTask(section, [], 0);
  for (const [from, to] of [[0, 500_000], [45_000, 212_000], [100_000, 101_000], [395_000, 450_000]]) {
    const clipped = [...whole.to.keys()]
      .map((i) => [Math.max(whole.from[i], from), Math.min(whole.to[i], to), whole.transition[i]])
      .filter(([begin, end]) => begin < end);
    const { way, length, parts } = pathWithin(section, [], 0, [from, to]);
    assert.deepEqual([...way.to.keys()].map((i) => [way.from[i], way.to[i], way.transition[i]]), clipped);
    assert.equal(parts.reduce((sum, { total }) => sum + total, 0), length);
    assert.equal(length, Math.min(to, 400_000) - from);
    const selected = pathOfSelection(model, { kind: "range", t0: from, t1: to });
    assert.deepEqual(selected?.path.way, new Set(way.transition.map((i) => section.rowOf(i))).size > 1 || section.rowOf(way.transition[0]) !== 0 ? way : undefined);
  }
  assert.equal(pathWithin(section, [], 0, [410_000, 450_000]), null, "main had ended");
});
