// Totals, columns and bins equal a naive count of all spans.

import assert from "node:assert/strict";
import test from "node:test";

import { groupBins, groupBinsWindow } from "../../../tokio-statemap/src/render/html/page/draw/bins.js";
import { laneColumns } from "../../../tokio-statemap/src/render/html/page/draw/columns.js";
import { coarseColumns } from "../../../tokio-statemap/src/render/html/page/draw/coarse.js";
import * as lanes from "../../../tokio-statemap/src/render/html/page/model/lanes.js";
import { grouped, modelOf, pictureOf, randomOf, spansOf } from "./random.js";

const SIZES = [{}, { tasks: 1, polls: 400, perLane: 40 }, { tasks: 60, polls: 3, step: 5 }, { tasks: 4, polls: 3000, perLane: 2, workers: 1 }];

/** Random pictures with their models, and windows. */
async function* cases() {
  for (let seed = 0; seed < 6; seed++) {
    const picture = pictureOf(seed, SIZES[seed % SIZES.length]);
    const model = await modelOf(picture, 500);
    const random = randomOf(seed + 1000);
    const { length } = picture;
    const windows = [[0, length], [0, 0], [length, length]];
    for (let n = 0; n < 25; n++) {
      const a = random.below(length + 1), b = random() < 0.5 ? random.below(length + 1) : Math.min(length, a + random.below(2000));
      windows.push([Math.min(a, b), Math.max(a, b)]);
    }
    yield { picture, model, windows, random, seed };
  }
}

const overlap = (span, t0, t1) => Math.max(0, Math.min(span.end, t1) - Math.max(span.start, t0));

function naive(spans, nStates, t0, t1) {
  const totals = new Array(nStates).fill(0);
  for (const span of spans) totals[span.state] += overlap(span, t0, t1);
  return totals;
}

test("totals of lanes, rows and sections are exact", async () => {
  for await (const { picture, model, windows } of cases()) {
    for (const section of model.sections) {
      const spans = spansOf(picture, section.index);
      const byLane = grouped(spans, (span) => span.lane), byRow = grouped(spans, (span) => span.row);
      const nStates = section.states.length;
      for (const [t0, t1] of windows) {
        for (const [lane, own] of byLane) {
          const out = new Float64Array(nStates);
          lanes.laneTotals(section, lane, t0, t1, out);
          assert.deepEqual([...out], naive(own, nStates, t0, t1));
        }
        for (const [row, own] of byRow) {
          const out = new Float64Array(nStates);
          lanes.rowTotals(section, row, t0, t1, out);
          const ended = own.map((span) => (span.isLast && span.role === "completed" ? { ...span, end: span.start } : span));
          assert.deepEqual([...out], naive(ended, nStates, t0, t1));
        }
        const wanted = naive(spans, nStates, t0, t1);
        assert.deepEqual(lanes.sectionTotals(section, t0, t1), wanted.map(BigInt));
        const even = naive(spans.filter((span) => span.lane % 2 === 0), nStates, t0, t1);
        assert.deepEqual(lanes.sectionTotals(section, t0, t1, (lane) => lane % 2 === 0), even.map(BigInt));
      }
    }
  }
});

test("sums past 2^53 are exact", async () => {
  const length = Number.MAX_SAFE_INTEGER;
  const row = (i) => [{ name: `task-${i}`, transitions: [{ time: i, state: 0 }] }];
  const picture = { length, sections: [{ kind: "other", states: [{ name: "a", colour: null, role: "other" }], groups: [{ label: "", lanes: [1, 2, 3, 4].map(row) }] }] };
  const { sections: [section] } = await modelOf(picture);
  assert.deepEqual(lanes.sectionTotals(section, 0, length), [BigInt(length) * 4n - 10n]);
});

test("transitions, ends and rows at a time", async () => {
  for await (const { picture, model, random } of cases()) {
    const section = model.sections[1];
    const spans = spansOf(picture, 1);
    for (const span of spans) assert.equal(lanes.endOf(section, span.transition), span.end);
    for (let n = 0; n < 200; n++) {
      const lane = random.below(section.nLanes);
      const t = random() < 0.5 ? spans[random.below(spans.length)].start : random.below(picture.length);
      const last = spans.findLast((span) => span.lane === lane && span.start <= t);
      assert.equal(lanes.findTransition(section, lane, t), last?.transition ?? -1);
      assert.equal(lanes.rowAt(section, lane, t), last && last.role !== "completed" ? last.row : -1);
    }
  }
});

test("columns cover every pixel with the right shares", async () => {
  for await (const { picture, model, windows, random } of cases()) {
    const section = model.sections[1];
    const byLane = grouped(spansOf(picture, 1), (span) => span.lane);
    const nStates = section.states.length;
    for (const [w0, w1] of windows) {
      const lane = random.below(section.nLanes);
      const own = byLane.get(lane) ?? [];
      const t0 = w0 - random.below(3) * random.below(50), t1 = w1 + random.below(3) * random.below(50) + 1;
      const width = 1 + random.below(120), pixel = (t1 - t0) / width;
      let x = 0;
      const near = (a, b) => assert.ok(Math.abs(a - b) <= 1e-6 * Math.max(1, pixel), `${a} is not ${b}`);
      const check = (x, shares) => {
        const left = t0 + x * pixel, right = t0 + (x + 1) * pixel;
        naive(own, nStates, left, right).forEach((ns, s) => near(shares[s], ns));
      };
      laneColumns(section, lane, t0, t1, width, {
        run(x0, x1, state) {
          assert.equal(x0, x);
          assert.ok(x1 > x0);
          for (; x < x1; x++) check(x, Array.from({ length: nStates }, (_, s) => (s === state ? pixel : 0)));
        },
        mixed(at, shares) {
          assert.equal(at, x);
          check(x++, shares);
        },
      });
      assert.equal(x, width);
    }
  }
});

test("the bins of a group equal a naive sum, also in slices", async () => {
  for await (const { picture, model, windows, random } of cases()) {
    const section = model.sections[1];
    const spans = spansOf(picture, 1);
    const nStates = section.states.length;
    const group = random.below(section.groups.length);
    const own = spans.filter((span) => span.group === group);
    const check = ({ t0, t1, bins, shares }) => {
      const width = (t1 - t0) / bins;
      for (let bin = 0; bin < bins; bin++) {
        naive(own, nStates, t0 + bin * width, t0 + (bin + 1) * width).forEach((ns, s) => {
          const share = shares[bin * nStates + s];
          assert.ok(Math.abs(share - ns) < 1e-2, `bin ${bin} state ${s}: ${share} is not ${ns}`);
        });
      }
    };
    check(groupBins(section, group, 1 + random.below(100)));
    for (const [t0, t1] of windows.filter(([t0, t1]) => t0 < t1).slice(0, 4)) {
      const steps = groupBinsWindow(section, group, t0, t1 + random.below(100), 1 + random.below(50), 0);
      let step = steps.next(), before = 0;
      for (; !step.done; step = steps.next()) {
        assert.ok(step.value >= before && step.value <= 1);
        before = step.value;
      }
      check(step.value);
    }
  }
});

test("coarse columns are exact to the time of two pixels up to the edge of each pixel", async () => {
  let seen = 0;
  for await (const { picture, model, windows, random } of cases()) {
    const section = model.sections[1];
    const byLane = grouped(spansOf(picture, 1), (span) => span.lane);
    const nStates = section.states.length;
    for (const [w0, w1] of [...windows, [0, picture.length]]) {
      const lane = random.below(section.nLanes);
      const t0 = w0 - random.below(50), t1 = w1 + random.below(50) + 1;
      const width = 1 + random.below(30), pixel = (t1 - t0) / width;
      const sums = new Array(nStates).fill(0);
      let x = 0;
      const check = () => naive(byLane.get(lane) ?? [], nStates, t0, t0 + x * pixel).forEach((ns, s) => {
        assert.ok(Math.abs(sums[s] - ns) <= 2 * pixel * 1.001 + 1e-3, `${sums[s]} is not ${ns}`);
      });
      coarseColumns(section, lane, t0, t1, width, {
        run(x0, x1, state) {
          assert.equal(x0, x);
          if (state >= 0) sums[state] += pixel * (x1 - x0);
          x = x1;
          check();
        },
        mixed(at, shares) {
          assert.equal(at, x++);
          shares.forEach((ns, s) => (sums[s] += ns));
          assert.ok(shares.every((ns) => ns >= -1e-6));
          seen++;
          check();
        },
      });
      assert.equal(x, width);
    }
  }
  assert.ok(seen > 100);
});
