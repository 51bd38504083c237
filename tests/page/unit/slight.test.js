// Spans with too small a share of a pixel to be visible in its blend are visible nevertheless: in lanes, and in folded
// groups.

import assert from "node:assert/strict";
import test from "node:test";

import { coarseColumns } from "../../../tokio-statemap/src/render/html/page/draw/coarse.js";
import { laneColumns } from "../../../tokio-statemap/src/render/html/page/draw/columns.js";
import { drawSlight, PixelRow } from "../../../tokio-statemap/src/render/html/page/draw/pixels.js";
import { drawStack } from "../../../tokio-statemap/src/render/html/page/draw/stack.js";
import { groupBins } from "../../../tokio-statemap/src/render/html/page/draw/bins.js";
import { modelOf, TASK_STATES } from "./random.js";

const HOUR = 3_600_000_000_000;
const state = (role) => TASK_STATES.findIndex((of) => of.role === role);
const [SPAWNED, RUNNING, WAITING, COMPLETED] = ["spawned", "running", "waiting", "completed"].map(state);
const PAPER = { r: 255, g: 255, b: 255, pixel: 0xffffffff };
/** Colours whose pixel is the number of the state plus one. */
const COLOURS = TASK_STATES.map(({ role }, index) => ({
  r: 0, g: 0, b: 0, pixel: index + 1, css: `state-${index}`, ...(role === "completed" ? PAPER : {}),
  blank: role === "completed", thin: role === "waiting", isPoll: role === "running",
}));

const sectionOf = async (...lanes) => {
  const rows = lanes.map((transitions, n) => [{ name: `task-${n + 1}`, transitions: transitions.map(([time, state]) => ({ time, state })) }]);
  return (await modelOf({ length: HOUR, sections: [{ kind: "tasks", states: TASK_STATES, groups: [{ label: "", lanes: rows }] }] })).sections[0];
};

/** Returns the pixels of a lane of 18 rows: the columns in which a row has the colour of this state. */
const drawn = (section, columns, width) => {
  const [top, bottom] = [1, 19];
  const row = new PixelRow(), image = new Uint32Array(width * 20);
  row.prepare(COLOURS, PAPER, width, HOUR / width);
  row.begin();
  columns(section, 0, 0, HOUR, width, row);
  drawSlight(row, image, width, top, bottom, 1);
  const at = (y) => Array.from({ length: width }, (_, x) => image[y * width + x]);
  return { upper: at(top), lower: at(bottom - 1), outside: [...at(0), ...at(19)] };
};

test("a task that runs for 5 microseconds of an hour is a pixel, as high as its lane", async () => {
  const begin = HOUR / 2 + 12345;
  const section = await sectionOf([[begin, SPAWNED], [begin + 1000, RUNNING], [begin + 6000, COMPLETED]]);
  for (const width of [100, 777, 1600]) {
    const { upper, lower, outside } = drawn(section, laneColumns, width);
    const x = Math.floor((begin / HOUR) * width);
    assert.deepEqual(upper.flatMap((pixel, k) => (pixel === 0 ? [] : [[k, pixel]])), [[x, RUNNING + 1]]);
    assert.deepEqual(lower, upper);
    assert.ok(outside.every((pixel) => pixel === 0));
  }
});

test("a task that only waits for so long is one, too", async () => {
  const section = await sectionOf([[HOUR / 3, SPAWNED], [HOUR / 3, WAITING], [HOUR / 3 + 5000, COMPLETED]]);
  const { lower } = drawn(section, laneColumns, 500);
  assert.deepEqual(lower.filter((pixel) => pixel !== 0), [WAITING + 1]);
});

test("many short polls are a line along the lower edge: a mostly idle lane isn't filled", async () => {
  const polls = [[0, SPAWNED]];
  for (let t = 1_000_000_000; t < HOUR; t += 1_000_000_000) polls.push([t, RUNNING], [t + 5000, WAITING]);
  const section = await sectionOf(polls);
  for (const columns of [laneColumns, coarseColumns]) {
    const width = 100;
    const { upper, lower } = drawn(section, columns, width);
    assert.ok(upper.every((pixel) => pixel === 0));
    assert.ok(lower.filter((pixel) => pixel === RUNNING + 1).length >= width - 1);
  }
});

test("a state that is visible in the blend is unchanged", async () => {
  const section = await sectionOf([[0, SPAWNED], [HOUR / 10, RUNNING], [HOUR / 2 + 777, WAITING]]);
  const { lower } = drawn(section, laneColumns, 100);
  assert.ok(lower.filter((pixel) => pixel !== 0).length <= 1, "but for the pixel in which the poll ends");
});

test("one running task of a thousand is a pixel of the folded group, at its foot or in front of the rest", async () => {
  const waits = Array.from({ length: 999 }, () => [[0, WAITING]]);
  const running = await sectionOf([[0, RUNNING]], ...waits);
  const waiting = await sectionOf([[0, WAITING]], ...Array.from({ length: 999 }, () => [[0, RUNNING]]));
  for (const [section, seen] of [[running, RUNNING], [waiting, WAITING]]) {
    const heights = new Map();
    let ys = [];
    const context = {
      save() {}, restore() {}, rect() {}, clip() {}, closePath() {}, fillStyle: "",
      beginPath() { ys = []; },
      moveTo(_, y) { ys.push(y); },
      lineTo(_, y) { ys.push(y); },
      fill() { heights.set(this.fillStyle, Math.max(...ys) - Math.min(...ys)); },
    };
    const data = { t0: 0, t1: HOUR, ...groupBins(section, 0, 64) };
    drawStack(context, data, section, COLOURS, { t0: 0, t1: HOUR, left: 0, width: 128, top: 0, height: 40 });
    assert.ok(heights.get(`state-${seen}`) >= 1, `${heights.get(`state-${seen}`)} px`);
    assert.ok(Math.max(...heights.values()) <= 40);
  }
});
