// The values of the charts equal a naive count of all spans.

import assert from "node:assert/strict";
import test from "node:test";

import { groupBinsWindow, laneBinsWindow } from "../../../tokio-statemap/src/render/html/page/draw/bins.js";
import { chartsOf } from "../../../tokio-statemap/src/render/html/page/draw/charts/charts.js";
import { ChartData } from "../../../tokio-statemap/src/render/html/page/draw/charts/data.js";
import { countScale, niceTop, timeScale } from "../../../tokio-statemap/src/render/html/page/draw/charts/scale.js";
import { addCounts, BIN_KEPT, BIN_SUMMED, BIN_UNKNOWN, fillFromSums, knownOf, leaveOutRoots, longest, occupancy, queued } from "../../../tokio-statemap/src/render/html/page/draw/charts/series.js";
import { modelOf, pictureOf, randomOf, spansOf } from "./random.js";

const SIZES = [{}, { tasks: 1, polls: 400, perLane: 40 }, { tasks: 60, polls: 3, step: 5 }, { tasks: 4, polls: 3000, perLane: 2, workers: 1 }];

async function* cases() {
  for (let seed = 0; seed < 4; seed++) {
    const picture = pictureOf(seed, SIZES[seed % SIZES.length]);
    const model = await modelOf(picture, 500);
    const random = randomOf(seed + 77);
    const windows = [{ t0: 0, t1: picture.length, bins: 1 + random.below(300) }];
    for (let n = 0; n < 12; n++) {
      const t0 = random.below(picture.length), t1 = t0 + 1 + random.below(random() < 0.5 ? 3000 : picture.length);
      windows.push({ t0, t1: Math.min(t1, picture.length), bins: 1 + random.below(200) });
    }
    yield { picture, model, windows: windows.filter(({ t0, t1 }) => t1 > t0) };
  }
}

const overlap = (from, to, t0, t1) => Math.max(0, Math.min(to, t1) - Math.max(from, t0));
const eachBin = ({ t0, t1, bins }, each) => {
  const width = (t1 - t0) / bins;
  for (let bin = 0; bin < bins; bin++) each(bin, t0 + bin * width, t0 + (bin + 1) * width, width);
};
const near = (a, b, by, what) => assert.ok(Math.abs(a - b) <= by, `${what}: ${a} is not ${b}`);

test("the numbers of ready tasks and of live tasks", async () => {
  let most = 0;
  for await (const { picture, model, windows } of cases()) {
    const section = model.sections[1];
    const spans = spansOf(picture, 1);
    for (const window of windows) {
      const data = laneBinsWindow(section, 0, section.nLanes, window.t0, window.t1, window.bins, Infinity).next().value;
      const ready = new Float64Array(window.bins), alive = new Float64Array(window.bins);
      addCounts(section, data, section.isReady, window, ready);
      addCounts(section, data, section.isEnd.map((isEnd) => 1 - isEnd), window, alive);
      eachBin(window, (bin, from, to, width) => {
        const count = (is) => spans.reduce((sum, span) => (is(span) ? sum + overlap(span.start, span.end, from, to) : sum), 0) / width;
        near(ready[bin], count(({ role }) => role === "ready" || role === "spawned"), 0.01, "ready");
        near(alive[bin], count(({ role }) => role !== "completed"), 0.01, "alive");
        most = Math.max(most, ready[bin]);
      });
    }
  }
  assert.ok(most > 1);
});

test("the futures of block_on don't count as live tasks, as in the sums", async () => {
  let roots = 0;
  for await (const { picture, model, windows } of cases()) {
    const section = model.sections[1];
    const spans = spansOf(picture, 1).filter(({ role }) => role !== "completed");
    roots += spans.filter(({ root }) => root).length;
    const stacks = { prepareSum() {}, whole: (of, bins) => laneBinsWindow(of, 0, of.nLanes, view.t0, view.t1, bins, Infinity).next().value };
    const view = { model, t0: 0, t1: 0, width: 0 };
    for (const window of windows) {
      Object.assign(view, { t0: window.t0, t1: window.t1, width: window.bins * 2 });
      const { values } = new ChartData(view, stacks).of("alive");
      eachBin(window, (bin, from, to, width) => {
        const count = spans.reduce((sum, span) => (span.root ? sum : sum + overlap(span.start, span.end, from, to)), 0) / width;
        near(values[bin], count, 0.01, "alive");
      });
    }
    const counts = new Float64Array(4).fill(0);
    leaveOutRoots(section, { t0: 0, t1: picture.length, bins: 4 }, counts);
    assert.ok(counts.every((n) => n === 0), "never less than none");
  }
  assert.ok(roots > 5);
});

test("all lanes are the sum of the groups' lanes", async () => {
  for await (const { model, windows } of cases()) {
    const section = model.sections[1];
    const { t0, t1, bins } = windows[0];
    const all = laneBinsWindow(section, 0, section.nLanes, t0, t1, bins, Infinity).next().value;
    const sum = new Float64Array(all.shares.length);
    for (const group of section.groups) groupBinsWindow(section, group.index, t0, t1, bins, Infinity).next().value.shares.forEach((ns, k) => (sum[k] += ns));
    all.shares.forEach((ns, k) => near(ns, sum[k], 0.5, "a share"));
  }
});

test("the estimate shown before a window is counted has the same average", async () => {
  for await (const { model } of cases()) {
    const section = model.sections[1];
    const whole = { t0: 0, t1: model.lengthNs };
    const coarse = laneBinsWindow(section, 0, section.nLanes, whole.t0, whole.t1, 64, Infinity).next().value;
    for (const bins of [16, 64, 640]) {
      const counts = new Float64Array(bins);
      addCounts(section, coarse, section.isReady, { ...whole, bins }, counts);
      const mean = counts.reduce((sum, n) => sum + n, 0) / bins;
      let wanted = 0;
      coarse.shares.forEach((ns, k) => { if (section.isReady[k % section.states.length] === 1) wanted += ns; });
      near(mean, wanted / model.lengthNs, 1e-3 + mean * 1e-6, `${bins} bins`);
    }
  }
});

test("the share of the workers' time in polls, and the longest poll", async () => {
  let seen = 0;
  for await (const { picture, model, windows } of cases()) {
    const polls = spansOf(picture, 1).filter(({ held, worker }) => held !== null && worker !== null);
    const workers = picture.sections[0].groups[0].lanes.length;
    for (const window of windows) {
      const shares = occupancy(model.workerPolls[0], window), most = longest(model.workerPolls[0], window);
      const pixel = (window.t1 - window.t0) / window.bins;
      eachBin(window, (bin, from, to, width) => {
        const held = polls.reduce((sum, { start, held }) => sum + overlap(start, start + held, from, to), 0);
        // With many polls in a bin, time may move across its edges.
        near(shares[bin], held / width / workers, 0.05 + 300 / pixel, "occupancy");
        const inBin = polls.filter(({ start, held }) => start < to && (start + held > from || (held === 0 && start >= from)));
        const wanted = inBin.reduce((longest, { held }) => Math.max(longest, held), 0);
        // At an edge within a ns, a poll may belong to the neighbouring bin.
        const about = polls.filter(({ start, held }) => start < to + 1 && start + held > from - 1).map(({ held }) => held);
        assert.ok(most[bin] === wanted || about.includes(most[bin]), `${most[bin]} is not ${wanted}`);
        assert.ok(most[bin] >= inBin.filter(({ start, held }) => start < to - 1 && start + held > from + 1).reduce((a, { held }) => Math.max(a, held), 0));
        seen++;
      });
    }
  }
  assert.ok(seen > 1000);
});

test("the longest of many polls in a bin is found, including those that only overlap it", async () => {
  const transitions = [];
  let now = 0;
  for (let n = 0; n < 20000; n++) {
    const length = n === 7777 ? 900_000 : 100 + (n % 50);
    transitions.push({ time: now, state: 1, worker: 0 }, { time: (now += length), state: 2 });
    now += 50;
  }
  const states = ["spawned", "running", "waiting", "completed", "ready"].map((role) => ({ name: role, colour: null, role }));
  const model = await modelOf({
    length: now, long: 1000,
    sections: [
      { kind: "workers", states: ["awake", "parked", "stopped"].map((role) => ({ name: role, colour: null, role })), indices: [0], groups: [{ label: "workers", lanes: [[{ name: "worker-0", transitions: [{ time: 0, state: 0 }] }]] }] },
      { kind: "tasks", states, hasWorkers: true, groups: [{ label: "a", lanes: [[{ name: "task-1", transitions }]] }] },
    ],
  }, 5000);
  const start = transitions[2 * 7777].time;
  for (const bins of [1, 3, 10, 100, 1000, 30000]) {
    const window = { t0: 0, t1: now, bins };
    const most = longest(model.workerPolls[0], window);
    eachBin(window, (bin, from, to) => {
      const isIn = start < to && start + 900_000 > from;
      assert.equal(most[bin] === 900_000, isIn, `${bin} of ${bins}`);
      assert.ok(isIn || most[bin] <= 149);
    });
    near(occupancy(model.workerPolls[0], window)[0], 0.7, 0.3, "occupancy");
  }
});

test("the knowledge about a bin, and the values of sums", async () => {
  const base = pictureOf(0, SIZES[0]);
  const model = await modelOf(base, 500);
  model.lengthNs = 1000;
  const empty = { held: [], longest: [], polls: [], at: [], alive: [] };
  for (let k = 0; k < 10; k++) {
    empty.held.push(k * 10);
    empty.longest.push(k);
    empty.polls.push(k);
    empty.at.push(k > 0 ? 1 : 0);
    empty.alive.push(k * 3);
  }
  model.meta.sums = { ...empty, from: 0, stretch: 100, workers: 1, dropped: [[200, 600]], places: [{ label: "a" }] };
  model.meta.gaps = [[200, 600], [800, 900]];
  const window = { t0: 0, t1: 1000, bins: 10 };
  const known = knownOf(model, window);
  assert.deepEqual([...known], [0, 0, 1, 1, 1, 1, 0, 0, 2, 0].map((n) => [BIN_KEPT, BIN_SUMMED, BIN_UNKNOWN][n]));
  for (const [key, wanted] of [["alive", [6, 9, 12, 15]], ["longest", [2, 3, 4, 5]], ["occupancy", [0.2, 0.3, 0.4, 0.5]]]) {
    const values = new Float64Array(10).fill(-1);
    fillFromSums(model, key, window, known, values);
    [2, 3, 4, 5].forEach((bin, k) => near(values[bin], wanted[k], 1e-9, key));
    assert.ok([0, 1, 6, 7, 8, 9].every((bin) => values[bin] === -1), "elsewhere nothing is changed");
  }
});

test("a queue is the longest one of each bin", () => {
  const queue = [[100, 4], [150, 0], [420, 9], [421, 2]];
  assert.deepEqual([...queued(queue, { t0: 0, t1: 1000, bins: 10 })], [0, 4, 0, 0, 9, 2, 2, 2, 2, 2]);
  assert.deepEqual([...queued(queue, { t0: 200, t1: 400, bins: 2 })], [0, 0]);
  assert.deepEqual([...queued(queue, { t0: 430, t1: 440, bins: 2 })], [2, 2]);
});

test("a chart exists if there is data for it", async () => {
  const model = await modelOf(pictureOf(0, SIZES[0]), 500);
  assert.deepEqual(chartsOf(model), ["ready", "occupancy", "longest", "alive"]);
  model.meta.readyKnown = false;
  assert.deepEqual(chartsOf(model), ["occupancy", "longest", "alive"]);
  const foreign = await modelOf({ length: 10, sections: [{ kind: "other", states: [{ name: "on", colour: null, role: "other" }], groups: [{ label: "a", lanes: [[{ name: "x", transitions: [{ time: 0, state: 0 }] }]] }] }] });
  assert.deepEqual(chartsOf(foreign), []);
});

test("axes end at round numbers", () => {
  assert.deepEqual([0, 0.3, 1, 1.5, 2, 4, 5, 7, 10, 11, 30, 99, 100, 16_900].map(niceTop), [1, 1, 1, 2, 2, 4, 5, 8, 10, 20, 30, 100, 100, 20_000]);
  const times = timeScale(51_200_000);
  assert.equal(times.label(times.top), "100 ms");
  assert.equal(times.share(times.top), 1);
  assert.ok(times.share(1000) === 0 && times.share(0) === 0 && times.share(1e6) > times.share(1e5));
  assert.equal(countScale(37).label(countScale(37).top), "40");
  assert.equal(countScale(37).text(0.42), "0.4");
  assert.deepEqual([9000, 20_000, 1_500_000].map((n) => countScale(1).label(n)), ["9\u202f000", "20 k", "1.5 M"]);
});
