// Every long poll is marked, however the pixels of the view round.

import assert from "node:assert/strict";
import test from "node:test";

import { LaneMarks } from "../../../tokio-statemap/src/render/html/page/draw/marks.js";
import { longPolls } from "../../../tokio-statemap/src/render/html/page/model/polls.js";
import { modelOf, randomOf, TASK_STATES } from "./random.js";

const RUNNING = TASK_STATES.findIndex(({ role }) => role === "running");
const WAITING = TASK_STATES.findIndex(({ role }) => role === "waiting");

/** Returns one lane with one task: the polls begin and end at these times, the last one at the right edge. */
async function laneOf(length, polls) {
  const transitions = polls.flatMap(([start, end]) =>
    [{ time: start, state: RUNNING, worker: 0 }, ...(end < length ? [{ time: end, state: WAITING }] : [])]);
  const lanes = [[{ name: "task-1", transitions }]];
  const model = await modelOf({ length, sections: [{ kind: "tasks", states: TASK_STATES, hasWorkers: true, groups: [{ label: "", lanes }] }] });
  return model.sections[0];
}

function boxes(section, t0, t1, width) {
  const marks = new LaneMarks();
  marks.ofLane(section, longPolls(section, 1000), 0, t0, t1, width);
  return Array.from({ length: marks.n }, (_, n) => [marks.boxes[2 * n], marks.boxes[2 * n + 1]]);
}

test("a poll that lasts to the right edge is marked once, at any length and width", async () => {
  for (const length of [1_469_000, 50_000_010, 50_000_017, 3_600_000_000_001]) {
    const section = await laneOf(length, [[length / 2 | 0, length]]);
    for (let width = 20; width < 2000; width++) {
      const found = boxes(section, 0, length, width);
      assert.equal(found.length, 1);
      assert.ok(found[0][0] < width && found[0][1] >= width);
    }
  }
});

test("at any window each long poll is marked where it begins", async () => {
  const random = randomOf(5);
  const length = 5_000_000;
  const polls = [];
  for (let t = 10; t < length;) {
    const end = Math.min(length, t + 1 + random.below(random.below(4) === 0 ? 400_000 : 3000));
    polls.push([t, end]);
    t = end + 1 + random.below(20_000);
  }
  const section = await laneOf(length, polls);
  for (let n = 0; n < 300; n++) {
    const width = 20 + random.below(1500);
    const t0 = random.below(length - 100), t1 = t0 + 50 + random.below(length - t0 - 50);
    const marked = new Set(boxes(section, t0, t1, width).flatMap(([from, to]) => {
      const [first, end] = [Math.max(0, from), Math.min(width, to)];
      return Array.from({ length: Math.max(0, end - first) }, (_, x) => first + x);
    }));
    const pixel = (t1 - t0) / width;
    for (const [start, end] of polls) {
      if (end - start <= 1000 || end <= t0 || start >= t1) continue;
      const x = Math.min(width - 1, Math.max(0, Math.floor((start - t0) / pixel)));
      assert.ok(marked.has(x), `${start} to ${end} at pixel ${x} of ${t0} to ${t1}`);
    }
  }
});

test("a poll of a day in a view of some ns is marked over the whole width", async () => {
  const day = 86_400_000_000_000;
  const section = await laneOf(day, [[10, day]]);
  const [[from, to]] = boxes(section, 1_000_000, 1_000_050, 1000);
  assert.ok(from < 0 && to >= 1000);
});

/** Returns how many of `width` pixels in the middle of a lane of 20 are painted as a poll. */
function painted(section, threshold, t0, t1, width) {
  const [top, bottom, height] = [2, 22, 24];
  const marks = new LaneMarks();
  const image = new Uint32Array(width * height);
  marks.ofLane(section, longPolls(section, threshold), 0, t0, t1, width);
  marks.draw(image, width, height, top, bottom, 0, { fill: 1, edge: 2, paper: 0 });
  const row = (y) => image.subarray(y * width, (y + 1) * width);
  const count = (y) => row(y).reduce((n, pixel) => n + (pixel === 1 ? 1 : 0), 0);
  return { middle: count(12), upper: count(3), touched: row(12).reduce((n, pixel) => n + (pixel > 0 ? 1 : 0), 0) };
}

test("a threshold below nearly all polls doesn't fill an idle lane", async () => {
  // 2 % busy, with about a poll in each pixel.
  const length = 10_000_000, width = 1000;
  const polls = [];
  for (let t = 500; t < length; t += 10_000) polls.push([t, t + 200]);
  const section = await laneOf(length, polls);
  const { middle, upper, touched } = painted(section, 100, 0, length, width);
  assert.ok(touched < width * 0.1, `${touched} of ${width} pixels are painted in the middle`);
  assert.ok(middle <= touched);
  assert.ok(upper > width * 0.9, "each is still marked along the edge");
});

test("one poll, or three together, are marked over the lane's whole height", async () => {
  const length = 10_000_000, width = 1000;
  for (const n of [1, 3]) {
    const polls = Array.from({ length: n }, (_, k) => [5_000_000 + k * 20_000, 5_000_000 + k * 20_000 + 5_000]);
    assert.equal(painted(await laneOf(length, polls), 1000, 0, length, width).middle, n);
  }
});

test("polls that fill their pixels are painted unchanged, however many", async () => {
  const length = 10_000_000, width = 1000;
  const polls = [];
  for (let t = 0; t < length; t += 100_000) polls.push([t, t + 50_000]);
  const { middle } = painted(await laneOf(length, polls), 1000, 0, length, width);
  assert.ok(middle >= 450 && middle <= 600, `${middle}`);
});

test("a poll that isn't attributed is barred; a pixel that it shares with an attributed one is not", async () => {
  const length = 10_000_000, width = 100, [top, bottom, height] = [2, 22, 24];
  // One of each alone, wide and narrow, and one of each in one pixel.
  const polls = [[1_000_000, 2_000_000], [3_000_000, 4_000_000], [5_000_000, 5_010_000], [6_000_000, 6_010_000], [8_000_000, 8_010_000], [8_020_000, 8_030_000]];
  const section = await laneOf(length, polls);
  const starts = new Set([3_000_000, 6_000_000, 8_020_000]);
  section.why = { blamed: new Set([...section.time.keys()].filter((i) => section.state[i] === RUNNING && starts.has(section.time[i]))) };
  const columns = (draw) => {
    const image = new Uint32Array(width * height);
    draw().draw(image, width, height, top, bottom, 0, { fill: 1, edge: 2, paper: 3 });
    return [10, 30, 50, 60, 80].map((x) => new Set(Array.from({ length: bottom - top }, (_, y) => image[(top + y) * width + x])));
  };
  const long = longPolls(section, 1000);
  const marks = new LaneMarks();
  const of = {
    lane: () => { marks.ofLane(section, long, 0, 0, length, width); return marks; },
    worker: () => { marks.ofWorker(section, long.poll, 0, length, width); return marks; },
  };
  for (const draw of [of.lane, of.worker]) {
    const [wide, wideBlamed, narrow, narrowBlamed, both] = columns(draw);
    for (const barred of [wide, narrow]) assert.deepEqual(barred, new Set([1, 3]));
    for (const filled of [wideBlamed, narrowBlamed, both]) assert.deepEqual(filled, new Set([1]));
  }
  // Without a report, nothing is barred.
  section.why = null;
  for (const filled of columns(of.lane)) assert.deepEqual(filled, new Set([1]));
});
