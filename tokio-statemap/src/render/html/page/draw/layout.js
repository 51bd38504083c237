// Lays out the picture: headings, charts, lanes and folded groups, from top to bottom.

import { firstIndex } from "../data/section.js";
import { byRun } from "./charts/charts.js";

const FOLDED_HEIGHT = 46;
const HEADING_HEIGHT = 20;

/** Returns the key of a group in the set of folded groups. */
export const foldKey = (section, group) => `${section}.${group}`;

/** The least height of a lane with room for its label. */
export const LABELLED_HEIGHT = 12;

const WORKER_HEIGHTS = [[8, 20], [16, 14], [Infinity, LABELLED_HEIGHT]];
const TASK_HEIGHTS = [[16, 18], [40, 14], [Infinity, LABELLED_HEIGHT]];
/** The factor by which lanes are higher if all of them still fit. */
const ROOMY = 1.4;

/** Groups with more lanes are folded at first, and opened only around a lane. */
export const MOST_OPEN_LANES = 40;
/** The number of lanes that are opened around one: at least, and at most, if there is room. */
const PEEK_LANES = 9;
const MOST_PEEK_LANES = 40;

/** The height of a chart: in a low window, at least, at first, and at most, if there is room. */
const CHART_HEIGHTS = { low: 36, least: 40, high: 64, most: 130 };
/** The greatest height of a low window, in px. */
const LOW_WINDOW = 600;
/** The height of a hidden chart, of which only the name is shown. */
const HIDDEN_CHART_HEIGHT = 18;

/** Returns the height of a lane in px, given the number of lanes in its group. */
const laneHeight = (kind, lanes, roomy) => {
  const table = kind === "workers" ? WORKER_HEIGHTS : TASK_HEIGHTS;
  const height = table.find(([most]) => lanes <= most)[1];
  return roomy ? Math.round(height * ROOMY) : height;
};

/** Returns whether the section's heading is also that of its only group. */
const isSingle = (section) => section.kind !== "tasks" && section.groups.length === 1;

const groupLanes = (group) => group.endLane - group.firstLane;

/** Returns whether a group has so many lanes that it is only opened as a whole on request. */
export const isLarge = (group) => groupLanes(group) > MOST_OPEN_LANES;

/** Returns the height of an open group with its heading. */
const openHeight = (section, group, roomy) => {
  const lanes = groupLanes(group);
  const heading = lanes === 1 || isSingle(section) ? 0 : HEADING_HEIGHT;
  return heading + lanes * laneHeight(section.kind, lanes, roomy);
};

/** Returns the height of the charts with their headings. */
const chartsHeight = (model, { charts, hiddenCharts }, each) =>
  byRun(model, charts).reduce((height, { keys }) => {
    const hidden = keys.filter((key) => hiddenCharts.has(key)).length;
    return height + HEADING_HEIGHT + (hidden === keys.length ? 0 : hidden * HIDDEN_CHART_HEIGHT + (keys.length - hidden) * each);
  }, 0);

const leastChart = (room) => (room <= LOW_WINDOW ? CHART_HEIGHTS.low : CHART_HEIGHTS.least);

/** Returns whether there is room for higher lanes, even with all groups open. */
const isRoomy = (model, shown, room) => {
  let height = chartsHeight(model, shown, leastChart(room));
  for (const section of model.sections) {
    if (section.nLanes > 0) height += HEADING_HEIGHT;
    for (const group of section.groups) height += openHeight(section, group, true);
    if (height > room) return false;
  }
  return true;
};

/**
 * Lays the picture out in `room` px, which it fills if it can.
 *
 * `shown` is what a view shows: `folded` contains `foldKey`s; `peeks` has, by such a key, the lane around which a folded group is
 * open; `filter` is null or `{section, group}`, and only that group of its section is shown; `charts` are the keys of all charts,
 * and those in `hiddenCharts` show only their name.
 *
 * Items have a `kind`: "section", "group", "lanes", "stack" (a folded group), "charts" (their heading) or "chart"; `y` and `h` in px
 * from the top; and `until`, in a heading of lanes, the end of these. A section whose only group is folded has no heading: the
 * folded row has its title.
 */
export const layOut = (model, shown, room) => {
  const size = { roomy: isRoomy(model, shown, room), chart: leastChart(room), peek: PEEK_LANES };
  let layout = place(model, shown, size);
  const fill = (grow) => {
    const free = room - layout.height;
    if (free <= 0) return;
    grow(free);
    layout = place(model, shown, size);
  };
  const charts = shown.charts.filter((key) => !shown.hiddenCharts.has(key)).length;
  const growCharts = (most) => fill((free) => {
    if (charts > 0) size.chart = Math.min(Math.max(most, size.chart), size.chart + Math.floor(free / charts));
  });
  growCharts(CHART_HEIGHTS.high);
  fill((free) => {
    const peeks = layout.items.filter((item) => item.isPeek);
    const each = peeks.reduce((sum, item) => sum + item.each, 0);
    if (each > 0) size.peek = Math.min(MOST_PEEK_LANES, size.peek + Math.floor(free / each));
  });
  growCharts(CHART_HEIGHTS.most);
  return layout;
};

const place = (model, shown, size) => {
  const layout = { items: [], shown: new Map(), height: 0, workersEnd: 0, chartsEnd: 0 };
  const push = (kind, h, fields) => {
    const item = { kind, y: layout.height, h, section: null, group: null, until: 0, heading: null, isPeek: false, ...fields };
    layout.items.push(item);
    layout.height += h;
    return item;
  };
  const sections = model.sections.filter((section) => section.nLanes > 0 && !hiddenByFilter(model, section, shown.filter));
  const workers = sections.filter(({ kind }) => kind === "workers");
  for (const section of workers) placeSection(section, shown, size, layout, push);
  layout.workersEnd = layout.height;
  placeCharts(model, shown, size, push);
  layout.chartsEnd = layout.height;
  for (const section of sections) if (section.kind !== "workers") placeSection(section, shown, size, layout, push);
  return layout;
};

const placeCharts = (model, { charts, hiddenCharts }, size, push) => {
  for (const { run, keys } of byRun(model, charts)) {
    push("charts", HEADING_HEIGHT, { run, charts: keys });
    if (keys.every((key) => hiddenCharts.has(key))) continue;
    for (const chart of keys) {
      const isHidden = hiddenCharts.has(chart);
      push("chart", isHidden ? HIDDEN_CHART_HEIGHT : size.chart, { chart, isHidden });
    }
  }
};

const placeSection = (section, { folded, peeks, filter }, size, layout, push) => {
  const single = isSingle(section);
  const isFolded = (group) => folded.has(foldKey(section.index, group.index));
  let heading = null;
  if (!single || !isFolded(section.groups[0])) {
    heading = push("section", HEADING_HEIGHT, { section, group: single ? section.groups[0] : null });
  }
  for (const group of section.groups) {
    if (filter && filter.section === section.index && filter.group !== group.index) continue;
    const lanes = groupLanes(group);
    if (lanes === 0) continue;
    const key = foldKey(section.index, group.index);
    const solo = lanes === 1 && !single;
    const pushLanes = (of, firstLane, endLane, each, isPeek) => {
      const item = push("lanes", (endLane - firstLane) * each, { section, group, each, solo, firstLane, endLane, heading: of, isPeek });
      if (of !== null) of.until = layout.height;
      return item;
    };
    if (!solo && isFolded(group)) {
      const stack = push("stack", FOLDED_HEIGHT, { section, group, titled: single, peek: null });
      layout.shown.set(key, stack);
      const around = peeks.get(key);
      if (around === undefined) continue;
      const [first, end] = peekLanes(group, around, size.peek);
      stack.peek = pushLanes(stack, first, end, laneHeight(section.kind, PEEK_LANES, false), true);
      continue;
    }
    const of = solo ? null : single ? heading : push("group", HEADING_HEIGHT, { section, group });
    layout.shown.set(key, pushLanes(of, group.firstLane, group.endLane, laneHeight(section.kind, lanes, size.roomy), false));
  }
};

/** Returns the range of a group's lanes that is shown around one lane. */
const peekLanes = ({ firstLane, endLane }, around, lanes) => {
  const n = Math.min(lanes, endLane - firstLane);
  const first = Math.min(Math.max(around - (n >> 1), firstLane), endLane - n);
  return [first, first + n];
};

const hiddenByFilter = (model, section, filter) =>
  filter !== null && filter.section !== section.index && section.kind !== "workers" &&
  section.kind === model.sections[filter.section].kind;

/** Returns the index of the item at `y`, or of the nearest one. */
export const itemIndexAt = ({ items }, y) => Math.max(0, firstIndex(0, items.length, (k) => items[k].y > y) - 1);

/**
 * Returns the heading of the lanes at `y`, if it is scrolled out of view, as `{item, y}`: it sticks at `y` until the end of
 * its lanes pushes it away. Null if there is none.
 */
export const stuckAt = (layout, y) => {
  const at = layout.items[itemIndexAt(layout, y)];
  const item = at === undefined ? null : at.kind === "lanes" ? at.heading : at.until > 0 ? at : null;
  return item === null || item.y >= y ? null : { item, y: Math.min(y, item.until - item.h) };
};

/** Returns the bottom and the top of the chart that contains `y`; nothing if there is none. */
export const chartEdges = (layout, y) => {
  const at = layout.items[itemIndexAt(layout, y)];
  return at?.kind === "chart" && at.y < y && y < at.y + at.h ? [at.y + at.h, at.y] : [];
};

/** Returns the item that shows a group: its lanes, or its folded row; null if it is filtered out. */
export const itemOfGroup = (layout, section, group) =>
  layout.shown.get(foldKey(section.index, group)) ?? null;

/** Returns the place of a lane as `{y, h, folded}`: the row of its group if that is folded; null if it isn't shown. */
export const placeOfLane = (layout, section, lane) => {
  const shown = itemOfGroup(layout, section, section.laneGroup[lane]);
  if (shown === null) return null;
  const { peek = null } = shown;
  const item = peek !== null && lane >= peek.firstLane && lane < peek.endLane ? peek : shown;
  if (item.kind === "stack") return { y: item.y, h: item.h, folded: true };
  return { y: item.y + (lane - item.firstLane) * item.each, h: item.each, folded: false };
};

/** Returns the height of a folded group. */
const closedHeight = (section, group) =>
  (groupLanes(group) === 1 && !isSingle(section) ? openHeight(section, group) : FOLDED_HEIGHT);

/** Returns the group that is open at first if the page opens on nothing. */
const firstGroup = (model) => {
  const section = model.sections.find(({ kind, nLanes }) => kind !== "workers" && kind !== "blocking" && nLanes > 0);
  return section === undefined ? null : { section: section.index, group: 0, row: null };
};

/**
 * Returns the groups that are folded at first. Large groups are, and blocking threads. Of the others as many are open, from
 * the top, as fit into `room` px beside these charts without scrolling. The group that the page opens on always is, unless
 * it is large.
 */
export const initialFolds = (model, opening, room, charts = [], hiddenCharts = new Set()) => {
  const folded = new Set();
  const main = opening ?? firstGroup(model);
  const isMain = (section, group) => main !== null && main.section === section.index && main.group === group.index;
  const isOpen = (section, group) => !isLarge(group) && (section.kind === "workers" || isMain(section, group));
  let left = room - chartsHeight(model, { charts, hiddenCharts }, leastChart(room));
  for (const section of model.sections) {
    if (section.nLanes > 0) left -= HEADING_HEIGHT;
    for (const group of section.groups) left -= isOpen(section, group) ? openHeight(section, group) : closedHeight(section, group);
  }
  for (const section of model.sections) {
    for (const group of section.groups) {
      if (isOpen(section, group) || (groupLanes(group) === 1 && !isSingle(section))) continue;
      const more = openHeight(section, group) - closedHeight(section, group);
      if (isLarge(group) || section.kind === "blocking" || more > left) folded.add(foldKey(section.index, group.index));
      else left -= more;
    }
  }
  return folded;
};

/**
 * Returns the lanes around which large groups are open at first: the lane that the page opens on, and among the workers the
 * lane of its worker (`{section, lane}`; null if it has none).
 */
export const initialPeeks = (model, opening, worker) => {
  const peeks = new Map();
  for (const section of model.sections) {
    if (section.kind !== "workers") continue;
    const workerLane = worker?.section === section ? worker.lane : -1;
    for (const group of section.groups) {
      if (isLarge(group)) peeks.set(foldKey(section.index, group.index), Math.max(workerLane, group.firstLane));
    }
  }
  const main = opening ?? firstGroup(model);
  if (main === null) return peeks;
  const section = model.sections[main.section];
  const group = section.groups[main.group];
  const lane = main.row === null ? group.firstLane : section.rowLane[main.row];
  if (isLarge(group)) peeks.set(foldKey(section.index, group.index), lane);
  return peeks;
};
