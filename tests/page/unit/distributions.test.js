// The bars of a histogram contain every value once, its marks are those of the sorted values, and it covers the same items
// as the tables beside it.

import assert from "node:assert/strict";
import test from "node:test";

import { distributionsOf } from "../../../tokio-statemap/src/render/html/page/model/distributions.js";
import { BIN_EDGES, HistogramOf, binOf, distributionOfSums, shareOfBins } from "../../../tokio-statemap/src/render/html/page/model/histogram.js";
import { locationTable } from "../../../tokio-statemap/src/render/html/page/model/locations.js";
import { modelOf, pictureOf, randomOf, spansOf } from "./random.js";

const SIZES = [{}, { tasks: 2, polls: 300, perLane: 20 }, { tasks: 60, polls: 4 }, { tasks: 6, polls: 500, workers: 1 }];

function run(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Checks a distribution against its values. */
function check(found, values, of = null) {
  const sorted = [...values].sort((a, b) => a - b);
  assert.equal(found.n, sorted.length);
  assert.equal(found.bins.reduce((sum, { n }) => sum + n, 0), sorted.length);
  assert.equal(found.longest, sorted.at(-1) ?? 0);
  for (const percent of [50, 90, 99]) assert.equal(found[`p${percent}`], sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0);
  found.bins.forEach(({ from, to, n, at }, k) => {
    const own = sorted.filter((ns) => ns >= from && ns < to);
    assert.equal(n, own.length);
    if (k > 0) assert.equal(from, found.bins[k - 1].to);
    if (of !== null) assert.equal(n === 0 ? -1 : of(at), own.at(-1) ?? -1, "a bar shows its largest");
  });
  if (sorted.length > 0) assert.ok(found.bins[0].n > 0 && found.bins.at(-1).n > 0);
}

test("the edges of the bins", () => {
  assert.ok(BIN_EDGES.every((edge, k) => Number.isSafeInteger(edge) && (k === 0 || edge > BIN_EDGES[k - 1])));
  assert.deepEqual([...BIN_EDGES.slice(0, 14)], [0, 1, 2, 3, 5, 7, 10, 15, 22, 33, 47, 68, 100, 150]);
  for (const [k, edge] of BIN_EDGES.entries()) {
    assert.equal(binOf(edge), k);
    if (k > 0) assert.equal(binOf(edge - 1), k - 1);
  }
  assert.equal(binOf(Number.MAX_SAFE_INTEGER), BIN_EDGES.length - 1);
});

test("a histogram of any values", () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = randomOf(seed);
    const values = Array.from({ length: random.below(400) }, () => Math.floor(10 ** (random() * (seed % 12))) - (random() < 0.3 ? 1 : 0));
    const histogram = new HistogramOf(seed % 3 ? 1 : values.length);
    values.forEach((ns, k) => histogram.add(ns, k));
    const found = histogram.finish();
    check(found, values, (at) => values[at]);
    if (values.length === 0) continue;
    const shares = [found.bins[0].from, found.p50, found.p90, found.p99, found.longest].map((ns) => shareOfBins(found.bins, ns));
    assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
    assert.ok(shares[0] === 0 && shares.at(-1) <= 1);
    found.bins.forEach(({ from }, k) => assert.ok(Math.abs(shareOfBins(found.bins, from) - k / found.bins.length) < 1e-12));
  }
});

test("a histogram of the sums of the whole run", () => {
  assert.equal(distributionOfSums(null, 0), null);
  assert.equal(distributionOfSums({ bins: [], p50: 0, p90: 0, p99: 0 }, 0), null);
  const found = distributionOfSums({ bins: [[10, 3], [33, 1], [1_000_000, 2]], p50: 12, p90: 1_200_000, p99: 1_400_000 }, 1_450_000);
  assert.equal(found.n, 6);
  assert.equal(found.bins.reduce((sum, { n }) => sum + n, 0), 6);
  assert.deepEqual(found.bins.slice(0, 4).map(({ from, to, n }) => [from, to, n]), [[10, 15, 3], [15, 22, 0], [22, 33, 0], [33, 47, 1]]);
  assert.deepEqual([found.bins.at(-1).from, found.bins.at(-1).to, found.longest], [1_000_000, 1_500_000, 1_450_000]);
});

async function* cases(n = 12) {
  for (let seed = 0; seed < n; seed++) {
    const picture = pictureOf(seed, SIZES[seed % SIZES.length]);
    const model = await modelOf(picture, 300);
    yield { picture, model, section: model.sections[1], spans: spansOf(picture, 1), random: randomOf(seed + 700) };
  }
}

/** Returns the values of all spans: the lengths of polls, ready times, and lives of whole rows. */
function naive(spans, isIn = () => true) {
  const polls = [], ready = [], lives = [];
  let tasks = 0, alive = 0;
  spans.forEach((span, k) => {
    const next = span.isLast ? undefined : spans[k + 1];
    if (!isIn(span)) return;
    if (span.held !== null) polls.push(span.held);
    if (span.role === "ready" || span.role === "spawned") {
      const counts = next?.role === "running" ? next.worker !== null : span.role === "spawned" && !span.root;
      if (counts) ready.push(span.end - span.start);
    }
    if (!span.isFirst) return;
    tasks++;
    const last = spans.slice(k).find(({ isLast }) => isLast);
    if (last.role === "completed") lives.push(last.start - span.start);
    else alive++;
  });
  return { polls, ready, lives, tasks, alive };
}

function checkAll(found, wanted, section) {
  const lengthOf = (i) => section.endOf(i) - section.time[i];
  check(found.polls, wanted.polls);
  check(found.ready, wanted.ready, lengthOf);
  check(found.lives, wanted.lives, (row) => section.rowEnd(row) - section.rowBegin(row));
  assert.deepEqual([found.tasks, found.alive, found.older], [wanted.tasks, wanted.alive, 0]);
}

test("the distributions of a location and of a task agree with the tables", async () => {
  for await (const { model, section, spans } of cases()) {
    for (const location of locationTable(model)) {
      const { group } = location;
      const found = run(distributionsOf(model, { kind: "group", section: 1, group }));
      checkAll(found, naive(spans.filter((span) => span.group === group)), section);
      assert.deepEqual([found.polls.n, found.tasks], [location.polls, location.tasks]);
      assert.deepEqual([found.polls.p50, found.polls.p99, found.polls.longest], [location.p50Ns, location.p99Ns, location.longestNs]);
      assert.equal(found.ready.longest, location.longestReadyNs);
    }
    for (let row = 0; row < Math.min(20, section.nRows); row++) {
      checkAll(run(distributionsOf(model, { kind: "row", section: 1, row })), naive(spans.filter((span) => span.row === row)), section);
    }
  }
});

test("the distribution of what began within a time", async () => {
  for await (const { picture, model, section, spans, random } of cases()) {
    for (let n = 0; n < 8; n++) {
      const times = [random.below(picture.length + 1), random.below(picture.length + 1)].sort((a, b) => a - b);
      const [t0, t1] = n === 0 ? [0, picture.length] : times;
      const isIn = ({ start }) => start >= t0 && (start < t1 || t1 === picture.length);
      checkAll(run(distributionsOf(model, { kind: "range", section: 1, t0, t1 })), naive(spans, isIn), section);
    }
    // Together, two parts of the run contain everything.
    const middle = random.below(picture.length);
    const parts = [[0, middle], [middle, picture.length]].map(([t0, t1]) => run(distributionsOf(model, { kind: "range", section: 1, t0, t1 })));
    for (const key of ["polls", "ready", "lives"]) {
      const whole = run(distributionsOf(model, { kind: "range", section: 1, t0: 0, t1: picture.length }))[key].n;
      assert.equal(parts[0][key].n + parts[1][key].n, whole);
    }
  }
});

test("the distributions of a worker's polls, and of the polls of a blamed function", async () => {
  for await (const { model, section, spans } of cases()) {
    for (const [worker, row] of section.workerPolls.rowOf) {
      const found = run(distributionsOf(model, { kind: "worker", section: 0, row }));
      check(found.polls, spans.filter((span) => span.worker === worker && span.held !== null).map(({ held }) => held));
      assert.deepEqual([found.ready, found.lives], [null, null]);
    }
    const polls = spans.filter(({ held }) => held !== null).slice(0, 5);
    section.why = { culprits: [{ polls: 9, at: polls.map(({ transition }) => ({ transition })) }] };
    check(run(distributionsOf(model, { kind: "culprit", section: 1, culprit: 0 })).polls, polls.map(({ held }) => held));
  }
});

test("unrecorded ready times and tasks that existed before the recording are left out", async () => {
  const picture = pictureOf(2, SIZES[2]);
  const model = await modelOf(picture, 300);
  const [, section] = model.sections;
  model.meta.readyKnown = false;
  const group = section.groups.findIndex(({ firstRow, rows }) => rows > 2 && firstRow >= 0);
  const scope = { kind: "group", section: 1, group };
  const before = run(distributionsOf(model, scope));
  assert.equal(before.ready, null);
  const { firstRow, rows } = section.groups[group];
  for (let row = firstRow; row < firstRow + rows; row++) {
    section.isRoot[row] = 0;
    section.state[section.rowFirst[row]] = 2;
  }
  const after = run(distributionsOf(model, scope));
  assert.deepEqual([after.lives.n, after.alive + after.older], [0, rows]);
  assert.equal(after.alive, before.alive);
});
