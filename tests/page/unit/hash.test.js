// The charts in the address.

import assert from "node:assert/strict";
import test from "node:test";

import { decodeView, encodeView } from "../../../tokio-statemap/src/render/html/page/ui/hash.js";
import { laneLabel } from "../../../tokio-statemap/src/render/html/page/ui/lane_label.js";
import { stateCounts } from "../../../tokio-statemap/src/render/html/page/ui/state_counts.js";
import { modelOf, pictureOf, TASK_STATES } from "./random.js";

test("hidden charts are in the address, in the order of the page and each once", async () => {
  const model = await modelOf(pictureOf(0, {}));
  const text = encodeView({ hide: ["occupancy", "alive"] }, model);
  assert.deepEqual(decodeView(text, model).hide, ["occupancy", "alive"]);
  assert.deepEqual(decodeView("hide=alive_ready_alive_nonsense", model).hide, ["ready", "alive"]);
  assert.equal(encodeView({ hide: [] }, model), "");
  assert.equal(decodeView("", model).hide, undefined);
});

test("the label of a lane names its task in the view", async () => {
  const row = (name, begin, end) => ({ name, transitions: [{ time: begin, state: 2 }, { time: end, state: 3 }] });
  const lanes = [[row("task-1", 0, 100), row("task-5", 200, 300), row("task-9", 400, 500)]];
  const model = await modelOf({ length: 1000, sections: [{ kind: "tasks", states: TASK_STATES, groups: [{ label: "a", lanes }] }] });
  const [section] = model.sections;
  const label = (t0, t1, chosen = -1) => laneLabel({ t0, t1 }, section, 0, chosen)[0];
  assert.equal(label(0, 1000), "task-1 … task-9 (3)");
  assert.equal(label(0, 300), "task-1 … task-5 (2)");
  assert.equal(label(210, 290), "task-5");
  assert.equal(label(600, 900), "none in view");
  assert.equal(label(0, 1000, 1), "task-5");
  assert.deepEqual(laneLabel({ t0: 0, t1: 1000 }, section, 0, -1).slice(1), ["task-1 + 2", "3 tasks"]);
});

test("a folded group shows how many of its lanes were in each state", async () => {
  const section = (await modelOf({ length: 1000, sections: [{ kind: "tasks", states: TASK_STATES, groups: [{ label: "a", lanes: [[{ name: "task-1", transitions: [{ time: 0, state: 2 }] }]] }] }] })).sections[0];
  const shares = new Float64Array(2 * TASK_STATES.length);
  // Two bins of 500 ns: 320 wait in both, 12 are ready in both, one runs in half of the first.
  const set = (bin, role, ns) => { shares[bin * TASK_STATES.length + TASK_STATES.findIndex((state) => state.role === role)] = ns; };
  for (const bin of [0, 1]) {
    set(bin, "waiting", 320 * 500);
    set(bin, "ready", 12 * 500);
  }
  set(0, "running", 250);
  const data = { t0: 0, t1: 1000, bins: 2, shares };
  assert.equal(stateCounts({ t0: 0, t1: 1000 }, section, data)[0], "0.3 running, 12 ready, 320 waiting");
  assert.equal(stateCounts({ t0: 0, t1: 500 }, section, data)[0], "0.5 running, 12 ready, 320 waiting");
  assert.equal(stateCounts({ t0: 500, t1: 1000 }, section, data).at(-1), "320 wait");
  assert.equal(stateCounts({ t0: 0, t1: 500 }, section, data)[1], "0.5 run · 12 ready · 320 wait");
  set(0, "spawned", 3 * 500);
  assert.equal(stateCounts({ t0: 0, t1: 500 }, section, data)[0], "0.5 running, 15 ready, 320 waiting");
});
