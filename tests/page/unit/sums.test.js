// The sums of a time equal a naive count of every ns; the first view is the detail that is kept around the worst poll.

import assert from "node:assert/strict";
import test from "node:test";

import { load } from "../../../tokio-statemap/src/render/html/page/data/decode.js";
import { recordedWithin } from "../../../tokio-statemap/src/render/html/page/model/lanes.js";
import * as sums from "../../../tokio-statemap/src/render/html/page/model/sums.js";
import { randomOf } from "./random.js";

const PLACES = ["src/a.rs:1:1", "src/b.rs:2:2"].map((label) => ({ label, tasks: 1, polls: 1, held: 1, longest: 1, p99: 1, ready: null }));

/** Returns a run of up to some hundred ns, of which parts are dropped, and others weren't recorded. */
function randomModel(seed) {
  const random = randomOf(seed);
  const n = 1 + random.below(12), stretch = 1 + random.below(20), from = random.below(3);
  const lengthNs = from + n * stretch - random.below(stretch);
  const workers = 1 + random.below(3);
  const column = (of) => Array.from({ length: n }, (_, k) => of(k));
  const stopped = column((k) => (random() < 0.3 ? random.below(Math.min(stretch, Math.max(0, lengthNs - from - k * stretch)) + 1) : 0));
  const polls = column(() => random.below(4));
  const dropped = [], gaps = [];
  for (let t = random.below(5); t < lengthNs; t += 2 + random.below(10)) {
    const to = Math.min(lengthNs, t + 1 + random.below(15));
    (random() < 0.8 ? dropped : []).push([t, to]);
    gaps.push([t, to]);
    t = to;
  }
  const meta = {
    gaps, length: lengthNs,
    sums: {
      from, stretch, workers, polls, places: PLACES, dropped,
      held: column((k) => random.below(Math.max(0, Math.min(stretch, lengthNs - from - k * stretch) - stopped[k]) * workers + 1)),
      longest: column((k) => (polls[k] > 0 ? 1 + random.below(50) : 0)),
      at: column((k) => (polls[k] > 0 ? 1 + random.below(2) : 0)),
      alive: column(() => random.below(9)),
      stopped: random() < 0.2 ? null : stopped,
    },
  };
  return { model: { meta, lengthNs, sections: [] }, random };
}

/** Returns the stretch of each ns. */
const stretchOf = ({ meta, lengthNs }, t) => {
  const k = Math.floor((t - meta.sums.from) / meta.sums.stretch);
  return t < meta.sums.from || t >= lengthNs || k >= meta.sums.polls.length ? -1 : k;
};

const lengthOf = ({ meta, lengthNs }, k) => Math.min(meta.sums.stretch, lengthNs - meta.sums.from - k * meta.sums.stretch);
const recordedOf = (model, k) => lengthOf(model, k) - (model.meta.sums.stopped?.[k] ?? 0);
const near = (a, b) => Math.abs(a - b) < 1e-9;

test("the sums of a time are those of its parts without detail", () => {
  let some = 0;
  for (let seed = 0; seed < 300; seed++) {
    const { model, random } = randomModel(seed);
    const of = model.meta.sums;
    const t0 = random.below(model.lengthNs + 1), t1 = t0 + random.below(model.lengthNs - t0 + 1);
    let ns = 0, held = 0, recorded = 0, longest = 0;
    for (let t = t0; t < t1; t++) {
      if (!of.dropped.some(([from, to]) => from <= t && t < to)) continue;
      ns++;
      const k = stretchOf(model, t);
      if (k < 0) continue;
      held += of.held[k] / lengthOf(model, k);
      recorded += recordedOf(model, k) / lengthOf(model, k);
      if (of.polls[k] > 0) longest = Math.max(longest, of.longest[k]);
    }
    const found = sums.sumUp(model, t0, t1);
    assert.equal(found.ns, ns, `${seed}`);
    assert.equal(found.longest, longest, `${seed}`);
    assert.equal(found.place === null, longest === 0);
    assert.equal(found.share === null, recorded < 1e-9, `${seed}`);
    if (found.share !== null) assert.ok(near(found.share, Math.min(1, held / (recorded * of.workers))), `${seed}: ${found.share}`);
    some += ns > 0 ? 1 : 0;
  }
  assert.ok(some > 100);
});

test("columns are the stretches in them", () => {
  for (let seed = 0; seed < 200; seed++) {
    const { model, random } = randomModel(seed);
    const of = model.meta.sums;
    // Whole ns per pixel make the naive count exact.
    const width = 1 + random.below(30), pixel = 1 + random.below(4), t0 = random.below(model.lengthNs);
    const found = sums.sumColumns(model, t0, t0 + width * pixel, width);
    for (let x = 0; x < width; x++) {
      let held = 0, recorded = 0, longest = 0;
      for (let t = t0 + x * pixel; t < t0 + (x + 1) * pixel; t++) {
        const k = stretchOf(model, t);
        if (k < 0) continue;
        held += of.held[k] / lengthOf(model, k);
        recorded += recordedOf(model, k) / lengthOf(model, k);
        longest = Math.max(longest, of.longest[k]);
      }
      assert.equal(found.longest[x], longest, `${seed} ${x}`);
      assert.equal(Number.isNaN(found.share[x]), recorded < 1e-9, `${seed} ${x}`);
      if (recorded >= 1e-9) assert.ok(near(found.share[x], Math.min(1, held / (recorded * of.workers))), `${seed} ${x}`);
    }
  }
});

test("a stretch is found by its time, and described", () => {
  for (let seed = 0; seed < 100; seed++) {
    const { model } = randomModel(seed);
    const of = model.meta.sums;
    for (let t = 0; t < model.lengthNs; t++) {
      const k = stretchOf(model, t);
      assert.equal(sums.stretchAt(model, t), k, `${seed} ${t}`);
      assert.equal(sums.isDropped(model, t), of.dropped.some(([from, to]) => from <= t && t < to));
      if (k < 0) continue;
      const info = sums.stretchInfo(model, k);
      assert.ok(info.from <= t && t < info.to, `${seed} ${t}`);
      assert.deepEqual([info.recorded, info.polls, info.alive], [recordedOf(model, k), of.polls[k], of.alive[k]]);
      assert.equal(info.place, of.polls[k] > 0 ? PLACES[of.at[k] - 1].label : null);
    }
  }
});

test("the first view is the detail that is kept around the worst poll", () => {
  for (let seed = 0; seed < 200; seed++) {
    const { model } = randomModel(seed);
    for (const [from, to] of recordedWithin(model.meta.gaps, 0, model.lengthNs)) {
      if (from === to) continue;
      const [t0, t1] = sums.homeTimes(model, { start: from, end: to });
      const margin = (to - from) * 0.06 + 1;
      assert.ok(t0 <= from && t0 >= from - margin && t1 >= to && t1 <= to + margin, `${seed}: ${t0} ${from} ${to} ${t1}`);
    }
    assert.deepEqual(sums.homeTimes(model, null), [0, model.lengthNs]);
    assert.deepEqual(sums.homeTimes({ ...model, meta: { ...model.meta, sums: null } }, { start: 0, end: 1 }), [0, model.lengthNs]);
  }
});

test("damaged sums are refused", async () => {
  const { model } = randomModel(7);
  const meta = { ...model.meta, format: 1, unit: 1, sections: [], runs: [] };
  const tail = { chunks: 0, sections: [] };
  await load(meta, tail, []);
  for (const wrong of [
    { polls: [] }, { held: null }, { at: meta.sums.at.map(() => 3) }, { alive: meta.sums.alive.map(() => -1) }, { stretch: 0 },
    { workers: 0 }, { from: "0" }, { dropped: [[3, 2]] }, { places: null }, { places: ["a", "b"] }, { stopped: [1.5] },
    { places: PLACES.map((place) => ({ ...place, lengths: { bins: [[10, -1]], p50: 0, p90: 0, p99: 0 } })) },
    { places: PLACES.map((place) => ({ ...place, waits: { bins: null } })) },
  ]) {
    await assert.rejects(load({ ...meta, sums: { ...meta.sums, ...wrong } }, tail, []), /damaged|its/, JSON.stringify(wrong));
  }
});
