// Polls, their order on each worker, waits, issues and locations equal a naive count of all spans.

import assert from "node:assert/strict";
import test from "node:test";

import { findIssues } from "../../../tokio-statemap/src/render/html/page/model/issues.js";
import { locationTable, quantile } from "../../../tokio-statemap/src/render/html/page/model/locations.js";
import { longPolls, nextLong, pollInfo, worstPolls } from "../../../tokio-statemap/src/render/html/page/model/polls.js";
import { sizeSentence } from "../../../tokio-statemap/src/render/html/page/model/names.js";
import { buildWorkerPolls, pollAt, workerHeld } from "../../../tokio-statemap/src/render/html/page/model/worker_polls.js";
import { TASK_STATES, WORKER_STATES, modelOf, pictureOf, randomOf, spansOf } from "./random.js";

const SIZES = [{}, { tasks: 2, polls: 300, perLane: 20 }, { tasks: 60, polls: 4 }, { tasks: 6, polls: 500, workers: 1 }];

async function* cases(n = 16) {
  for (let seed = 0; seed < n; seed++) {
    const picture = pictureOf(seed, SIZES[seed % SIZES.length]);
    const model = await modelOf(picture, 300);
    const spans = spansOf(picture, 1);
    yield { picture, model, section: model.sections[1], spans, polls: spans.filter((span) => span.held !== null), random: randomOf(seed + 500) };
  }
}

const longestFirst = (a, b) => b.held - a.held || a.start - b.start || a.transition - b.transition;

test("the polls of a worker are sorted, found, and summed", async () => {
  for await (const { picture, model, section, polls, random } of cases()) {
    const { rows, rowOf } = section.workerPolls;
    for (const [worker, row] of rowOf) {
      assert.equal(model.sections[0].name(row), `worker-${worker}`);
      const own = polls.filter((poll) => poll.worker === worker);
      own.sort((a, b) => a.start - b.start || a.held - b.held || a.transition - b.transition);
      const got = [...rows[row].poll];
      assert.deepEqual(got.map((i) => [section.time[i], i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i),
        own.toSorted((a, b) => a.start - b.start || a.transition - b.transition).map((poll) => poll.transition));
      assert.deepEqual(got.map((i) => section.time[i]), own.map((poll) => poll.start));
      for (let n = 0; n < 60; n++) {
        const t = n % 2 && own.length ? own[random.below(own.length)].start : random.below(picture.length + 1);
        const wanted = own.find((poll) => poll.start <= t && t < poll.start + poll.held)?.transition ?? -1;
        assert.equal(pollAt(model.sections[0], row, t), wanted);
        const u = random.below(picture.length + 1), [t0, t1] = [Math.min(t, u), Math.max(t, u)];
        const held = own.reduce((sum, poll) => sum + Math.max(0, Math.min(poll.start + poll.held, t1) - Math.max(poll.start, t0)), 0);
        assert.equal(workerHeld(model.sections[0], row, t0, t1), held);
      }
    }
  }
});

test("polls in bursts, and simultaneous ones, are sorted", async () => {
  const random = randomOf(9);
  const starts = [...Array.from({ length: 3000 }, () => 5000 + random.below(200) * 100), ...Array.from({ length: 300 }, () => 777)];
  const lanes = starts.map((time, i) => [{ name: `task-${i}`, transitions: [{ time, state: 1, worker: 0 }, { time: time + random.below(3), state: 3 }] }]);
  const workers = [[{ name: "worker-0", transitions: [{ time: 0, state: 0 }] }]];
  const model = await modelOf({ length: 1e15, sections: [
    { kind: "tasks", states: TASK_STATES, hasWorkers: true, groups: [{ label: "", lanes }] },
    { kind: "workers", states: WORKER_STATES, indices: [0], groups: [{ label: "", lanes: workers }] },
  ] }, 1e6);
  const [tasks] = model.sections;
  const got = [...tasks.workerPolls.rows[0].poll].map((i) => [tasks.time[i], tasks.endOf(i)]);
  assert.deepEqual(got, got.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
  assert.equal(new Set(tasks.workerPolls.rows[0].poll).size, starts.length);
});

test("long polls by lane, at any threshold", async () => {
  for await (const { section, polls, picture, random } of cases()) {
    const lengths = polls.map((poll) => poll.held);
    for (let n = 0; n < 8; n++) {
      const threshold = n % 2 && lengths.length ? lengths[random.below(lengths.length)] : random.below(5000);
      const long = longPolls(section, threshold);
      const wanted = polls.filter((poll) => poll.held > threshold);
      assert.deepEqual([...long.poll], wanted.map((poll) => poll.transition));
      for (let lane = 0; lane < section.nLanes; lane++) {
        const own = wanted.filter((poll) => poll.lane === lane).map((poll) => poll.transition);
        assert.deepEqual([...long.poll.subarray(long.laneFirst[lane], long.laneFirst[lane + 1])], own);
        const t = random.below(picture.length + 1);
        const next = own.find((i) => section.endOf(i) > t) ?? -1;
        const k = nextLong(section, long, lane, t);
        assert.equal(k < long.laneFirst[lane + 1] ? long.poll[k] : -1, next);
      }
    }
  }
});

test("the worst polls: of all, of a group, of a row, on workers and off them", async () => {
  for await (const { section, polls, random } of cases()) {
    const k = [0, 1, 5, 100, 10000][random.below(5)], group = random.below(section.groups.length), row = random.below(section.nRows);
    const worst = (list) => list.toSorted(longestFirst).slice(0, k).map((poll) => poll.transition);
    assert.deepEqual(worstPolls(section, k), worst(polls));
    assert.deepEqual(worstPolls(section, k, { group }), worst(polls.filter((poll) => poll.group === group)));
    assert.deepEqual(worstPolls(section, k, { row }), worst(polls.filter((poll) => poll.row === row)));
    assert.deepEqual(worstPolls(section, k, { on: "off", over: 99 }), worst(polls.filter((poll) => poll.worker === null && poll.held > 99)));
    assert.deepEqual(worstPolls(section, k, { group, on: "worker" }), worst(polls.filter((poll) => poll.group === group && poll.worker !== null)));
  }
});

test("the facts about a poll", async () => {
  for await (const { section, polls, picture } of cases(12)) {
    for (const poll of polls) {
      assert.deepEqual(pollInfo(section, poll.transition, []), {
        section: 1, transition: poll.transition, row: poll.row, group: poll.group, start: poll.start, end: poll.end,
        length: poll.end - poll.start, held: poll.held, own: poll.held, worker: poll.worker, handed: poll.handed,
        cutLeft: poll.isFirst && poll.start === 0, cutRight: poll.isLast, atEnd: poll.isLast,
      });
      assert.equal(pollInfo(section, poll.transition, [[poll.end, picture.length]]).cutRight, true);
      // Also in the middle of its row: it began while nothing was recorded.
      assert.equal(pollInfo(section, poll.transition, [[0, poll.start]]).cutLeft, true);
    }
  }
});

/** Returns the ready spans that count as waiting for a worker. */
function waits(spans) {
  return spans.flatMap((span, k) => {
    const next = span.isLast ? undefined : spans[k + 1];
    if (span.role !== "ready" && span.role !== "spawned") return [];
    if (next?.role === "running") return next.worker === null ? [] : [{ ...span, on: next.worker }];
    return span.role === "spawned" && !span.root ? [{ ...span, on: null }] : [];
  });
}

test("the issues", async () => {
  for await (const { model, section, spans, polls } of cases()) {
    const threshold = model.meta.long;
    const { polls: worst, ready } = findIssues(model, threshold);
    const long = polls.filter((poll) => poll.held > threshold && poll.worker !== null).toSorted(longestFirst);
    assert.deepEqual(worst.map((info) => info.transition), long.slice(0, 100).map((poll) => poll.transition));
    const wanted = waits(spans).map((span) => ({ ...span, held: span.end - span.start })).filter((span) => span.held > threshold);
    assert.deepEqual(ready.map((span) => [span.transition, span.length, span.endsInPollOn, span.spawned]),
      wanted.toSorted(longestFirst).slice(0, 100).map((span) => [span.transition, span.held, span.on, span.role === "spawned"]));
  }
});

test("the table of locations", async () => {
  for await (const { model, section, spans, polls } of cases()) {
    const table = locationTable(model, 300);
    assert.equal(table.length, section.groups.length);
    const sum = (list) => list.reduce((total, value) => total + value, 0);
    for (const row of table) {
      const own = polls.filter((poll) => poll.group === row.group);
      const on = own.filter((poll) => poll.worker !== null);
      const long = on.filter((poll) => poll.held > 300);
      const lengths = own.map((poll) => poll.held).sort((a, b) => a - b);
      const at = (percent) => lengths[Math.ceil((lengths.length * percent) / 100) - 1] ?? 0;
      const ready = waits(spans).filter((span) => span.group === row.group).map((span) => span.end - span.start);
      const { label, longest, longestReady, shareOfWorkers, ...numbers } = row;
      assert.deepEqual(numbers, {
        section: 1, group: row.group, tasks: section.groups[row.group].rows, polls: own.length, heldNs: sum(on.map((poll) => poll.held)),
        offWorkerNs: sum(own.filter((poll) => poll.worker === null).map((poll) => poll.held)), longestNs: lengths.at(-1) ?? 0,
        p50Ns: at(50), p99Ns: at(99), runningNs: sum(own.map((poll) => poll.end - poll.start)), readyNs: sum(ready),
        longestReadyNs: Math.max(0, ...ready), longPolls: long.length, longPollsNs: sum(long.map((poll) => poll.held)),
      });
      assert.equal(label, section.groups[row.group].label);
      assert.equal(longest, own.toSorted(longestFirst)[0]?.transition ?? -1);
      assert.equal(longestReady < 0 ? 0 : section.endOf(longestReady) - section.time[longestReady], row.longestReadyNs);
      assert.equal(shareOfWorkers, row.heldNs / (model.lengthNs * model.sections[0].nRows));
    }
    const order = table.map((row) => row.heldNs);
    assert.deepEqual(order, order.toSorted((a, b) => b - a));
  }
});

test("quantiles of sorted values", () => {
  const random = randomOf(3);
  for (let n = 0; n < 400; n++) {
    const values = Float64Array.from({ length: n * 3 }, () => random.below(n % 3 ? 10 : 1e6));
    const sorted = values.toSorted();
    for (const percent of [99, 50, 100, 1]) {
      assert.equal(quantile(sorted, percent), sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? 0);
    }
  }
});

test("the summary of data without polls is its size", async () => {
  const foreign = { length: 2.5e9, sections: [{ kind: "other", states: [{ name: "on", colour: "red", role: "other" }], groups: [{ label: "", lanes: [[{ name: "cpu", transitions: [{ time: 0, state: 0 }] }]] }] }] };
  const model = await modelOf(foreign);
  assert.equal(sizeSentence(model), "1 entity, 1 change of state in 2.50 s.");
  assert.deepEqual(findIssues(model), { polls: [], blamed: null, ready: [] });
  assert.deepEqual(buildWorkerPolls(model), []);
  assert.equal(pollAt(model.sections[0], 0, 0), -1);
});
