// Who woke a task is told for its poll, and for the time in which it is ready before that. The wakes can be followed from poll to poll.

import assert from "node:assert/strict";
import test from "node:test";

import { wakerOf, wokenAt } from "../../../tokio-statemap/src/render/html/page/model/wakers.js";
import { wakingStep, wokenSteps } from "../../../tokio-statemap/src/render/html/page/model/wake_steps.js";
import { TASK_STATES, modelOf } from "./random.js";

const state = (role) => TASK_STATES.findIndex((state) => state.role === role);
const [spawned, running, waiting, ready] = ["spawned", "running", "waiting", "ready"].map(state);

const picture = () => {
  const sends = { name: "task-1", transitions: [{ time: 0, state: spawned }, { time: 10, state: running, waker: 1 }, { time: 50, state: waiting }] };
  const receives = {
    name: "task-2",
    transitions: [
      { time: 5, state: running, waker: 0 }, { time: 9, state: waiting },
      { time: 40, state: ready }, { time: 60, state: running, waker: sends }, { time: 70, state: waiting },
      { time: 80, state: running, waker: 4 }, { time: 90, state: waiting },
    ],
  };
  receives.transitions[0].waker = 3;
  const groups = [{ label: "shop.rs:1:1", lanes: [[sends], [receives]] }];
  return { length: 100, sections: [{ title: "Tasks", kind: "tasks", states: TASK_STATES, hasWorkers: true, hasWakers: true, groups }] };
};

test("a poll and the time before it say who woke", async () => {
  const { sections: [section] } = await modelOf(picture(), 1000);
  const told = [...Array(section.nTransitions).keys()].map((transition) => {
    const waker = wakerOf(section, transition);
    return waker === null ? null : [waker.poll, waker.row < 0 ? waker.name : waker.row, wokenAt(section, waker)];
  });
  assert.deepEqual(told, [
    [1, "the runtime", null], [1, "the runtime", null], null,
    [3, "another thread", null], null, [6, 0, 40], [6, 0, 40], null, [8, "a task that isn't shown", null], null,
  ]);
});

test("data that doesn't say it has no wakers", async () => {
  const one = picture();
  one.sections[0].hasWakers = false;
  const { sections: [section] } = await modelOf(one, 1000);
  assert.equal(section.waker, null);
  assert.equal(wakerOf(section, 1), null);
});

test("a waker that isn't there is damage", async () => {
  const one = picture();
  one.sections[0].groups[0].lanes[0][0].transitions[1].waker = 7;
  // The encoder writes codes as they are.
  await assert.rejects(modelOf(one, 1000), /a waker isn't there/);
});

test("the time of a wake is only known if who woke was polled then", async () => {
  for (const [ready, expected] of [[40_000, 40_000], [50_400, 50_000], [90_000, null]]) {
    const one = picture();
    const times = (row, all) => row.transitions.forEach((transition, i) => { transition.time = all[i]; });
    const [[sends], [receives]] = one.sections[0].groups[0].lanes;
    times(sends, [0, 10_000, 50_000]);
    times(receives, [5_000, 9_000, ready, 95_000, 96_000, 97_000, 98_000]);
    const { sections: [section] } = await modelOf({ ...one, length: 100_000 }, 1000);
    assert.equal(wokenAt(section, wakerOf(section, 6)), expected);
  }
});

test("a poll is found if its task was ready again within the slack", async () => {
  // It sends until 50 µs, waits for 0.2 µs, and is ready for longer than the slack.
  const sends = {
    name: "task-1",
    transitions: [
      { time: 0, state: spawned }, { time: 10_000, state: running, waker: 1 }, { time: 50_000, state: waiting },
      { time: 50_200, state: ready }, { time: 60_000, state: running, waker: 1 }, { time: 61_000, state: waiting },
    ],
  };
  const receives = {
    name: "task-2",
    transitions: [
      { time: 5_000, state: running, waker: 0 }, { time: 9_000, state: waiting },
      { time: 50_100, state: ready }, { time: 70_000, state: running, waker: sends }, { time: 71_000, state: waiting },
    ],
  };
  const groups = [{ label: "shop.rs:1:1", lanes: [[sends], [receives]] }];
  const one = { ...picture(), length: 100_000 };
  one.sections[0].groups = groups;
  const { sections: [section] } = await modelOf(one, 1000);
  const poll = [...Array(section.nTransitions).keys()].find((i) => section.rowOf(i) === 1 && section.isReady[section.state[i]]) + 1;
  assert.equal(wokenAt(section, wakerOf(section, poll)), 50_000);
});

/** A message goes from task-1 over task-2 to task-3, which task-2 spawned, and task-2 wakes itself before. */
const relay = () => {
  const rows = [
    { name: "task-1", transitions: [[0, spawned], [10, running, 1], [40, waiting]] },
    { name: "task-2", transitions: [[5, waiting], [30, ready], [50, running, 0], [60, ready], [61, running, 1], [80, waiting]] },
    { name: "task-3", transitions: [[70, spawned], [90, running], [95, waiting]] },
  ];
  for (const row of rows) row.transitions = row.transitions.map(([time, state, waker]) => ({ time: time * 1000, state, waker: typeof waker === "number" && waker < 2 ? rows[waker] : waker }));
  rows[0].transitions[1].waker = 1;
  rows[2].parent = rows[1];
  const groups = [{ label: "shop.rs:1:1", lanes: rows.map((row) => [row]) }];
  return { ...picture(), length: 100_000, sections: [{ ...picture().sections[0], groups }] };
};

test("a message is followed from wake to wake, there and back", async () => {
  const { sections: [section] } = await modelOf(relay(), 1000);
  const gaps = [];
  const at = (poll) => [section.rowOf(poll), section.time[poll] / 1000];
  const there = [1];
  for (let n = 0; n < 5; n++) {
    const [next] = wokenSteps(section, gaps, there.at(-1));
    if (next === undefined) break;
    there.push(next);
  }
  assert.deepEqual(there.map(at), [[0, 10], [1, 50], [1, 61], [2, 90]]);
  const back = [there.at(-1)];
  for (let n = 0; n < 5; n++) {
    const last = wakingStep(section, gaps, back.at(-1));
    if (last < 0) break;
    back.push(last);
  }
  assert.deepEqual(back, there.toReversed());
  // From a wait the way leads to the poll that ends it, and back to the one that woke its task.
  const wait = section.rowFirst[1];
  assert.deepEqual(wokenSteps(section, gaps, wait).map(at), [[1, 50]]);
  assert.deepEqual(at(wakingStep(section, gaps, wait)), [0, 10]);
});

test("what isn't known isn't followed", async () => {
  const { sections: [section] } = await modelOf(relay(), 1000);
  // Between two polls of task-2, of which it woke itself for the second one; and within its first wait.
  assert.equal(wakingStep(section, [[60_200, 60_800]], there(section, 61)), -1);
  assert.deepEqual(wokenSteps(section, [[10_000, 20_000]], section.rowFirst[1]), []);
});

const there = (section, us) => [...Array(section.nTransitions).keys()].find((i) => section.time[i] === us * 1000);
