// Several runs on one page: each has its own workers, charts and long polls, although their workers have the same numbers.

import assert from "node:assert/strict";
import test from "node:test";

import { byRun, chartsOf, initialHidden, partKey } from "../../../tokio-statemap/src/render/html/page/draw/charts/charts.js";
import { longest, occupancy } from "../../../tokio-statemap/src/render/html/page/draw/charts/series.js";
import { findIssues } from "../../../tokio-statemap/src/render/html/page/model/issues.js";
import { locationTable } from "../../../tokio-statemap/src/render/html/page/model/locations.js";
import { workerName } from "../../../tokio-statemap/src/render/html/page/model/names.js";
import { pollAt, workerHeld, workerOfPoll } from "../../../tokio-statemap/src/render/html/page/model/worker_polls.js";
import { decodeView, encodeView } from "../../../tokio-statemap/src/render/html/page/ui/hash.js";
import { modelOf, TASK_STATES, WORKER_STATES } from "./random.js";

const MS = 1e6;
const NAMES = ["api", "db", "jobs"];

/** Returns three runs of a worker each, all with number 0, that a poll holds for 10, 20 or 30 ms from 5 ms on. */
const three = () => {
  const workers = NAMES.map((name, run) => ({
    kind: "workers", run, states: WORKER_STATES, indices: [0], groups: [{ label: "workers", lanes: [[{ name: `${name}/worker-0`, transitions: [{ time: 0, state: 0 }] }]] }],
  }));
  const tasks = NAMES.map((name, run) => ({
    kind: "tasks", run, states: TASK_STATES, hasWorkers: true,
    groups: [{ label: `src/${name}.rs:1:1`, lanes: [[{ name: `${name}/task-1`, transitions: [
      { time: 0, state: 0 }, { time: 5 * MS, state: 1, worker: 0 }, { time: (15 + 10 * run) * MS, state: 3 },
    ] }]] }],
  }));
  return modelOf({ length: 100 * MS, long: MS, runs: NAMES.map((name) => ({ name, long: MS, queue: null })), sections: [...workers, ...tasks] });
};

test("each run's polls are on its own worker", async () => {
  const model = await three();
  assert.equal(model.workerPolls.length, 3);
  for (const [run, name] of NAMES.entries()) {
    const [workers, tasks] = [model.sections[run], model.sections[3 + run]];
    const poll = pollAt(workers, 0, 6 * MS);
    assert.equal(tasks.name(tasks.rowOf(poll)), `${name}/task-1`);
    assert.deepEqual(workerOfPoll(tasks, poll), { section: workers, row: 0 });
    assert.equal(workerName(model, tasks, 0), `${name}/worker-0`);
    assert.equal(workerHeld(workers, 0, 0, model.lengthNs), (10 + 10 * run) * MS);
    const window = { t0: 0, t1: model.lengthNs, bins: 1 };
    assert.equal(longest(tasks.workerPolls, window)[0], (10 + 10 * run) * MS);
    assert.ok(Math.abs(occupancy(tasks.workerPolls, window)[0] - (0.1 + 0.1 * run)) < 1e-9);
  }
  assert.deepEqual(locationTable(model).map(({ label, shareOfWorkers }) => [label, shareOfWorkers]), [["src/jobs.rs:1:1", 0.3], ["src/db.rs:1:1", 0.2], ["src/api.rs:1:1", 0.1]]);
});

test("all long polls are found, with their workers", async () => {
  const model = await three();
  assert.deepEqual(findIssues(model).polls.map(({ section, held, worker }) => [section, held / MS, worker]), [[5, 30, 0], [4, 20, 0], [3, 10, 0]]);
});

test("each run has its charts, of which those of one are shown at first; the address contains the differences", async () => {
  const model = await three();
  const keys = chartsOf(model);
  assert.deepEqual(keys, [0, 1, 2].flatMap((run) => ["ready", "occupancy", "longest", "alive"].map((key) => `${key}.${run}`)));
  assert.deepEqual(byRun(model, keys).map(({ run, keys }) => [run, keys.length]), [[0, 4], [1, 4], [2, 4]]);
  assert.deepEqual(partKey(model, "longest.2"), { kind: "longest", run: 2 });
  assert.deepEqual([...initialHidden(model, { section: 4 })], keys.filter((key) => !key.endsWith(".1")));
  assert.deepEqual([...initialHidden(model, null)], keys.filter((key) => !key.endsWith(".0")));
  assert.deepEqual(decodeView(encodeView({ hide: ["ready.1", "longest.2"] }, model), model).hide, ["ready.1", "longest.2"]);
  assert.equal(decodeView("hide=ready_longest.7", model).hide.length, 0);
});
