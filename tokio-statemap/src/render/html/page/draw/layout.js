// Which row of the picture is where: headings, charts, lanes and folded groups, from top to bottom.

import { byRun } from "./charts/charts.js";

export const FOLDED_HEIGHT = 46;
export const HEADING_HEIGHT = 20;

/** The name of a group in the set of folded groups. */
export const foldKey = (section, group) => `${section}.${group}`;

/** The least height of a lane: its label must have room, as a lane without one says nothing. */
export const LABELLED_HEIGHT = 12;

const WORKER_HEIGHTS = [[8, 20], [16, 14], [Infinity, LABELLED_HEIGHT]];
const TASK_HEIGHTS = [[16, 18], [40, 14], [Infinity, LABELLED_HEIGHT]];
/** How much higher lanes are where all of them fit even so. */
const ROOMY = 1.4;

/** A group of more lanes is folded at first, and opened only around a lane that is to be seen. */
export const MOST_OPEN_LANES = 40;
/** Around how many lanes at least; and at most, where there is room. */
const PEEK_LANES = 9;
const MOST_PEEK_LANES = 40;

/** How high a chart is at least, in a low window, at first, and at most, where there is room. */
const CHART_HEIGHTS = { low: 36, least: 40, high: 64, most: 130 };
/** A window is low up to here, in px. */
const LOW_WINDOW = 600;
/** How high a chart is that is hidden: its name stays. */
export const HIDDEN_CHART_HEIGHT = 18;

/** How high a lane is where `lanes` of them stand together, in px. */
export const laneHeight = (kind, lanes, roomy) => {
  const table = kind === "workers" ? WORKER_HEIGHTS : TASK_HEIGHTS;
  const height = table.find(([most]) => lanes <= most)[1];
  return roomy ? Math.round(height * ROOMY) : height;
};

/** Whether the section's heading stands for its only group too. */
export const isSingle = (section) => section.kind !== "tasks" && section.groups.length === 1;

const groupLanes = (group) => group.endLane - group.firstLane;

/** Whether a group has so many lanes that it isn't opened as a whole unless somebody asks for it. */
export const isLarge = (group) => groupLanes(group) > MOST_OPEN_LANES;

/** How high an open group is, heading and all. */
export const openHeight = (section, group, roomy) => {
  const lanes = groupLanes(group);
  const heading = lanes === 1 || isSingle(section) ? 0 : HEADING_HEIGHT;
  return heading + lanes * laneHeight(section.kind, lanes, roomy);
};

/** How high the charts are at least, headings and all. */
const chartsHeight = (model, { charts, hiddenCharts }, each) =>
  byRun(model, charts).reduce((height, { keys }) => {
    const hidden = keys.filter((key) => hiddenCharts.has(key)).length;
    return height + HEADING_HEIGHT + (hidden === keys.length ? 0 : hidden * HIDDEN_CHART_HEIGHT + (keys.length - hidden) * each);
  }, 0);

const leastChart = (room) => (room <= LOW_WINDOW ? CHART_HEIGHTS.low : CHART_HEIGHTS.least);

/** Whether there is room for higher lanes, even with all groups open. */
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
 * Lays the picture out in `room` px, which it fills where it can.
 *
 * `shown` is what a view shows. `folded` holds `foldKey`s, `peeks` by such a key the lane around which a folded group is
 * open; `filter` is null or `{section, group}`: of that section only that group is shown; `charts` are the keys of the
 * charts that there are, of which those in `hiddenCharts` show no more than their name.
 *
 * Items bear `kind`: "section", "group", "lanes", "stack" (a folded group), "charts" (their heading), "chart"; `y` and `h`
 * in px from the top; `until`, of the heading of lanes, where these end. A section whose only group is folded has no
 * heading: the folded row bears its title.
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

/** Which lanes of a group are seen around this one. */
const peekLanes = ({ firstLane, endLane }, around, lanes) => {
  const n = Math.min(lanes, endLane - firstLane);
  const first = Math.min(Math.max(around - (n >> 1), firstLane), endLane - n);
  return [first, first + n];
};

const hiddenByFilter = (model, section, filter) =>
  filter !== null && filter.section !== section.index && section.kind !== "workers" &&
  section.kind === model.sections[filter.section].kind;

/** The index of the item at `y`, the nearest if there is none. */
export const itemIndexAt = (layout, y) => {
  let least = 0;
  let most = layout.items.length - 1;
  while (least < most) {
    const middle = (least + most + 1) >> 1;
    if (layout.items[middle].y <= y) least = middle;
    else most = middle - 1;
  }
  return least;
};

/**
 * The heading whose lanes are at `y`, while it is scrolled away above: it stays in sight at `y`, until the end of its lanes
 * pushes it away. `{item, y}`; null if there is none.
 */
export const stuckAt = (layout, y) => {
  const at = layout.items[itemIndexAt(layout, y)];
  const item = at === undefined ? null : at.kind === "lanes" ? at.heading : at.until > 0 ? at : null;
  return item === null || item.y >= y ? null : { item, y: Math.min(y, item.until - item.h) };
};

/** Where the chart ends that `y` is in, and where it begins; none if it is in no chart. */
export const chartEdges = (layout, y) => {
  const at = layout.items[itemIndexAt(layout, y)];
  return at?.kind === "chart" && at.y < y && y < at.y + at.h ? [at.y + at.h, at.y] : [];
};

/** The item that shows this group: its lanes, or its folded row; null if it is filtered out. */
export const itemOfGroup = (layout, section, group) =>
  layout.shown.get(foldKey(section.index, group)) ?? null;

/** Where this lane is: `{y, h}`, a folded group's whole row where it is folded; null if it isn't shown. */
export const placeOfLane = (layout, section, lane) => {
  const shown = itemOfGroup(layout, section, section.laneGroup[lane]);
  if (shown === null) return null;
  const { peek = null } = shown;
  const item = peek !== null && lane >= peek.firstLane && lane < peek.endLane ? peek : shown;
  if (item.kind === "stack") return { y: item.y, h: item.h, folded: true };
  return { y: item.y + (lane - item.firstLane) * item.each, h: item.each, folded: false };
};

/** How high a group is that is folded. */
const closedHeight = (section, group) =>
  (groupLanes(group) === 1 && !isSingle(section) ? openHeight(section, group) : FOLDED_HEIGHT);

/** The group that is open at first, of which at least the beginning is seen, if no poll was long. */
const firstGroup = (model) => {
  const section = model.sections.find(({ kind, nLanes }) => kind !== "workers" && kind !== "blocking" && nLanes > 0);
  return section === undefined ? null : { section: section.index, group: 0, row: null };
};

/**
 * What is folded at first. Large groups are. Of the others as many are open, from the top, as fit into the `room` px of the
 * screen beside these charts, so that all is seen without scrolling; the group that the page opens on always is, blocking threads
 * never.
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
 * Around which lanes large groups are open at first: that which the page opens on around its lane, that of the workers around
 * its worker (`{section, lane}`; null if it has none).
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
