// The layout: large groups are folded around the lane of the worst poll, headings stay in sight, and charts fill the room.

import assert from "node:assert/strict";
import test from "node:test";

import { labelPlaces } from "../../../tokio-statemap/src/render/html/page/draw/axis.js";
import {
  foldKey, initialFolds, initialPeeks, itemIndexAt, LABELLED_HEIGHT, layOut, MOST_OPEN_LANES, placeOfLane, stuckAt,
} from "../../../tokio-statemap/src/render/html/page/draw/layout.js";
import { randomOf } from "./random.js";

/** Returns a section with groups of so many lanes, each with a row. */
function section(index, kind, lanes) {
  const groups = [];
  let nLanes = 0;
  for (const [g, n] of lanes.entries()) {
    groups.push({ index: g, label: `src/place.rs:${g}:1`, firstLane: nLanes, endLane: nLanes + n, rows: n });
    nLanes += n;
  }
  const laneGroup = groups.flatMap((group) => new Array(group.endLane - group.firstLane).fill(group.index));
  return { index, kind, groups, nLanes, laneGroup, rowLane: Array.from({ length: nLanes }, (_, lane) => lane) };
}

const modelOf = (workers, tasks) => ({ sections: [section(0, "workers", [workers]), section(1, "tasks", tasks)] });
const CHARTS = ["ready", "occupancy", "longest"];
const shownOf = (model, worst, room, given = {}) => ({
  folded: initialFolds(model, worst, room, CHARTS), peeks: initialPeeks(model, worst, null), filter: null, charts: CHARTS, hiddenCharts: new Set(), ...given,
});
const kinds = (layout) => layout.items.map(({ kind }) => kind).join(" ");

test("groups of more than 40 lanes are folded at first, that of the worst poll around its lane", () => {
  const model = modelOf(2, [40, 41, 3000]);
  const worst = { section: 1, group: 2, row: 81 + 1234 };
  const shown = shownOf(model, worst, 1100);
  assert.deepEqual([...shown.folded].sort(), ["1.1", "1.2"]);
  const layout = layOut(model, shown, 1100);
  assert.equal(kinds(layout), "section lanes charts chart chart chart section group lanes stack stack lanes");
  const { peek } = layout.items.at(-2);
  assert.equal(layout.items.at(-1), peek);
  assert.ok(peek.endLane - peek.firstLane >= 9 && peek.endLane - peek.firstLane <= 40);
  assert.ok(peek.firstLane <= 1315 && peek.endLane > 1315);
  assert.equal(placeOfLane(layout, model.sections[1], 1315).folded, false);
  assert.equal(placeOfLane(layout, model.sections[1], 90).folded, true);
  // At the edges of the group, the part has the same size.
  for (const lane of [81, 3080]) {
    const { peek } = layOut(model, { ...shown, peeks: new Map([["1.2", lane]]) }, 1100).shown.get("1.2");
    assert.ok(peek.firstLane >= 81 && peek.endLane <= 3081 && lane >= peek.firstLane && lane < peek.endLane);
    assert.ok(peek.endLane - peek.firstLane >= 9);
  }
});

test("without a long poll, the first group shows its first lanes", () => {
  const model = modelOf(2, [100, 5]);
  const shown = shownOf(model, null, 800);
  assert.ok(shown.folded.has("1.0"));
  assert.equal(layOut(model, shown, 800).shown.get("1.0").peek.firstLane, 0);
});

test("many workers are folded, too, around the one that the worst poll held", () => {
  const model = modelOf(64, [5]);
  const folded = initialFolds(model, null, 800);
  assert.ok(folded.has("0.0"));
  assert.equal(initialPeeks(model, null, { section: model.sections[0], lane: 50 }).get("0.0"), 50);
  assert.ok(!initialFolds(modelOf(MOST_OPEN_LANES, [5]), null, 800).has("0.0"));
});

test("the initially open groups fit into the window as far as folding allows", () => {
  for (const room of [600, 700, 900]) {
    const model = modelOf(2, [8, 8, 8, 8, 8]);
    const worst = { section: 1, group: 4, row: 35 };
    const shown = shownOf(model, worst, room);
    assert.ok(!shown.folded.has("1.4") && (room > 800 || shown.folded.has("1.3")));
    assert.ok(layOut(model, shown, room).height <= room, `${room}`);
  }
});

test("each lane is high enough for a label, and items follow each other without gaps", () => {
  const random = randomOf(1);
  for (let n = 0; n < 200; n++) {
    const model = modelOf(1 + random.below(100), Array.from({ length: 1 + random.below(20) }, () => 1 + random.below(random() < 0.2 ? 5000 : 60)));
    const worst = random() < 0.5 ? null : { section: 1, group: 0, row: 0 };
    const room = 200 + random.below(1200);
    const shown = shownOf(model, worst, room);
    for (const key of shown.folded) if (random() < 0.3) shown.folded.delete(key);
    if (random() < 0.3) shown.hiddenCharts.add("ready");
    const layout = layOut(model, shown, room);
    let y = 0;
    for (const item of layout.items) {
      assert.equal(item.y, y);
      y += item.h;
      if (item.kind === "lanes") assert.ok(item.each >= LABELLED_HEIGHT);
      if (item.kind === "lanes") assert.equal(item.h, item.each * (item.endLane - item.firstLane));
    }
    assert.equal(layout.height, y);
  }
});

test("blank room goes to the charts", () => {
  const model = modelOf(2, [8]);
  const height = (room, hidden = []) => layOut(model, shownOf(model, null, room, { hiddenCharts: new Set(hidden) }), room).height;
  const least = height(100);
  // No room is left, up to the maximum height of a chart.
  for (const room of [least + 60, least + 150, least + 240]) assert.ok(room - height(room) < 3, `${room}: ${height(room)}`);
  assert.ok(height(100, ["ready"]) < least && height(100, CHARTS) < height(100, ["ready"]));
});

test("a heading stays in sight as long as its lanes do", () => {
  const model = modelOf(2, [30, 30, 3000]);
  const shown = shownOf(model, { section: 1, group: 2, row: 1000 }, 400);
  const layout = layOut(model, { ...shown, folded: new Set([foldKey(1, 2)]) }, 400);
  for (let y = 0; y < layout.height; y++) {
    const at = layout.items[itemIndexAt(layout, y)];
    const stuck = stuckAt(layout, y);
    if (at.kind !== "lanes" || at.section.kind === "workers") continue;
    const end = at.y + at.h;
    assert.equal(stuck.item, at.heading);
    assert.equal(stuck.y, Math.min(y, end - stuck.item.h), "it is pushed away by the end of its lanes");
    assert.ok(stuck.item.kind === "group" || stuck.item.kind === "stack");
  }
  assert.equal(stuckAt(layout, 0), null);
});

test("labels of the axis never touch, also at the right edge", () => {
  const random = randomOf(3);
  for (let n = 0; n < 500; n++) {
    const width = 100 + random.below(1500);
    const step = 5 + random.below(200);
    const xs = Array.from({ length: Math.ceil(width / step) }, (_, i) => i * step + random.below(step)).filter((x) => x <= width);
    const widths = xs.map(() => 20 + random.below(60));
    const places = labelPlaces(xs, widths, width);
    let free = -Infinity;
    places.forEach((left, i) => {
      if (left === null) return;
      assert.ok(left >= free, `${left} is before ${free}`);
      assert.ok(left + widths[i] <= width, "it is cut at the edge");
      free = left + widths[i] + 1;
    });
    assert.notEqual(places[0], null);
  }
  // "220 ms" and "240 ms", 20 px from each other at the edge.
  assert.deepEqual(labelPlaces([700, 780], [40, 40], 800), [704, 758]);
  assert.deepEqual(labelPlaces([740, 780], [40, 40], 790), [744, null]);
});
