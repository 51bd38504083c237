// What differs in a period from the times before and after it, or from another one.

import assert from "node:assert/strict";
import test from "node:test";

import { changesBetween, changesOf } from "../../../tokio-statemap/src/render/html/page/model/periods.js";
import { TASK_STATES, modelOf } from "./random.js";

const state = (role) => TASK_STATES.findIndex((state) => state.role === role);
const [running, waiting, ready] = ["running", "waiting", "ready"].map(state);

/** One task is polled all the time from 400 to 600, while another one is ready; before and after both wait. */
const picture = () => {
  const us = (all) => all.map(([time, state]) => ({ time: time * 1000, state }));
  const burns = { name: "task-1", transitions: us([[0, waiting], [400, running], [600, waiting]]) };
  const late = { name: "task-2", transitions: us([[0, waiting], [400, ready], [600, running], [610, waiting]]) };
  const groups = [{ label: "burns.rs:1:1", lanes: [[burns]] }, { label: "late.rs:1:1", lanes: [[late]] }];
  return { length: 1_000_000, sections: [{ title: "Tasks", kind: "tasks", states: TASK_STATES, groups }] };
};

test("what changed is told with the averages before, during and after", async () => {
  const model = await modelOf(picture(), 1000);
  assert.deepEqual(changesOf(model, model.sections[0], [400_000, 600_000]).changes, [
    { kind: "running", label: "burns.rs:1:1", group: 0, average: [0, 1, 0] },
    { kind: "ready", label: "late.rs:1:1", group: 1, average: [0, 1, 0] },
  ]);
});

test("a period at an edge is compared with the other side", async () => {
  const model = await modelOf(picture(), 1000);
  const [first] = changesOf(model, model.sections[0], [0, 400_000]).changes;
  assert.deepEqual([first.label, first.average[0], first.average[1]], ["burns.rs:1:1", null, 0]);
  assert.equal(changesOf(model, model.sections[0], [0, 1_000_000]).isKept, false, "nothing is left to compare it with");
});

test("times of which nothing is kept don't count", async () => {
  const model = await modelOf(picture(), 1000);
  model.meta.gaps = [[0, 200_000]];
  assert.deepEqual(changesOf(model, model.sections[0], [300_000, 500_000]).changes[0].average, [0, 0.5, 0.2]);
  assert.equal(changesOf(model, model.sections[0], [0, 200_000]).isKept, false);
});

test("waits in a gap don't count, either", async () => {
  const one = picture();
  one.sections[0].tags = [{ state: waiting, tag: "shop.rs:7, Sleep", fields: [] }];
  one.sections[0].hasTags = true;
  one.sections[0].groups[0].lanes[0][0].transitions[0].tag = 0;
  const model = await modelOf(one, 1000);
  const [section] = model.sections;
  section.awaits = { places: [{ label: "shop.rs:7, Sleep", functions: [] }], lines: [], still: [], notes: [] };
  model.meta.gaps = [[0, 300_000]];
  const { changes } = changesOf(model, section, [400_000, 600_000]);
  assert.deepEqual(changes.filter(({ kind }) => kind === "waiting"), [{ kind: "waiting", label: "shop.rs:7, Sleep", group: -1, average: [1, 0, 0] }]);
});

test("two periods are compared, each with its average", async () => {
  const model = await modelOf(picture(), 1000);
  const { changes, isKept } = changesBetween(model, model.sections[0], [[100_000, 300_000], [500_000, 700_000]], 1);
  assert.ok(isKept);
  assert.deepEqual(changes.map(({ kind, label, average }) => [kind, label, average]), [
    ["running", "burns.rs:1:1", [0, 0.5]], ["running", "late.rs:1:1", [0, 0.05]], ["ready", "late.rs:1:1", [0, 0.5]],
  ]);
  assert.deepEqual(changesBetween(model, model.sections[0], [[0, 100_000], [200_000, 300_000]], 1).changes, [], "they are alike");
});

test("workers that a function held are told by its name", async () => {
  const model = await modelOf(picture(), 1000);
  const [section] = model.sections;
  const poll = [...Array(section.nTransitions).keys()].find((i) => section.isRunning[section.state[i]]);
  section.why = { culprits: [{ frame: { name: "shop::burn", file: "shop.rs", line: 3, origin: "program" }, place: "", polls: 1, at: [{ transition: poll }] }] };
  const held = changesOf(model, section, [300_000, 500_000]).changes.filter(({ kind }) => kind === "held");
  assert.deepEqual(held, [{ kind: "held", label: "burn", group: -1, average: [0, 0.5, 0.2] }]);
  // Another function of that name is another one.
  const [one] = section.why.culprits;
  section.why.culprits.push({ ...one, frame: { ...one.frame, name: "mill::burn" }, polls: 2 });
  const changes = changesOf(model, section, [300_000, 500_000]);
  assert.deepEqual(changes.changes.filter(({ kind }) => kind === "held").map(({ label, average }) => [label, average]), [
    ["shop::burn in shop.rs", [0, 0.5, 0.2]], ["mill::burn in shop.rs", [0, 0.5, 0.2]],
  ]);
  // Another line of it is not.
  section.why.culprits[1].frame = { ...one.frame, line: 9 };
  assert.equal(changesOf(model, section, [300_000, 500_000]).changes.filter(({ kind }) => kind === "held").length, 1);
  assert.equal(changes.arePollsCounted, false, "one of its polls isn't in the data");
});
