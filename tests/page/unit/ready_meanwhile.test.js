// Tasks that were ready while a worker was parked.

import assert from "node:assert/strict";
import test from "node:test";

import { readyMeanwhile } from "../../../tokio-statemap/src/render/html/page/model/ready_meanwhile.js";
import { buildWorkerPolls } from "../../../tokio-statemap/src/render/html/page/model/worker_polls.js";
import { TASK_STATES, modelOf } from "./random.js";

const state = (role) => TASK_STATES.findIndex((state) => state.role === role);
const [running, waiting, ready] = ["running", "waiting", "ready"].map(state);
const WORKER_STATES = [{ name: "running", colour: "#000", role: "awake" }, { name: "parked", colour: "#fff", role: "parked" }];

/** A poll on worker 0 goes on for 20 ms, and wakes a task at its beginning, which nobody polls before its end. */
const model = async () => {
  const us = (all) => all.map(([time, state, worker, waker]) => ({ time: time * 1000, state, worker, waker }));
  const holds = { name: "task-1", transitions: us([[0, waiting], [1000, running, 1, 1], [21_000, waiting]]) };
  const late = { name: "task-2", transitions: us([[0, waiting], [2000, ready], [21_010, running, 1, holds], [21_020, waiting]]) };
  const soon = { name: "task-3", transitions: us([[0, waiting], [5000, ready], [5100, running, 1, 1], [5110, waiting]]) };
  const groups = [{ label: "shop.rs:1:1", lanes: [[holds], [late], [soon]] }];
  const workers = [0, 1].map((n) => [{ name: `worker-${n}`, transitions: us(n === 0 ? [[0, 0]] : [[0, 0], [500, 1], [30_000, 0]]) }]);
  const made = await modelOf({
    length: 40_000_000,
    sections: [
      { title: "Workers", kind: "workers", states: WORKER_STATES, indices: [0, 1], groups: [{ label: "workers", lanes: workers }] },
      { title: "Tasks", kind: "tasks", states: TASK_STATES, hasWorkers: true, hasWakers: true, groups },
    ],
  }, 1000);
  buildWorkerPolls(made);
  return made;
};

test("a task that is kept for another worker is told, with the poll that holds it up", async () => {
  const { sections: [workers, tasks] } = await model();
  const parked = workers.rowFirst[1] + 1;
  const found = readyMeanwhile(workers, [], parked);
  assert.equal(found.length, 1, "a short time doesn't count");
  const [{ transition, ns, by, isHeld }] = found;
  assert.deepEqual([tasks.name(tasks.rowOf(transition)), ns, tasks.name(tasks.rowOf(by)), isHeld], ["task-2", 19_010_000, "task-1", true]);
  assert.deepEqual(readyMeanwhile(workers, [], parked - 1), [], "it isn't parked");
  assert.deepEqual(readyMeanwhile(workers, [[3_000_000, 4_000_000]], parked), [], "what happened in a gap isn't known");
});
