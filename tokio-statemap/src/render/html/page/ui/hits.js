import { firstIndex } from "../data/section.js";
import { laneTotals, spanAt } from "../model/lanes.js";
import { heldNs, nextLong, pollInfo } from "../model/polls.js";
import { isDropped, stretchAt } from "../model/sums.js";
import { pollAt } from "../model/worker_polls.js";

// Finds what is under the pointer.

/** The greatest distance at which the pointer still selects a long poll, in px. */
const NEAR = 3;

/**
 * Returns what is at a position of the screen, in px from the plot's corner; null if nothing is.
 *
 * - On a folded group: `{kind: "stack", section, group, t, ns, shares}`; `ns` is the length of the pixel in time.
 * - On a lane: `{kind: "lane", section, lane, row, transition, poll, shares}`. `transition` is −1 where the lane is blank; `poll`
 *   is `{section, transition}` of the poll that a worker ran there; `shares` are ns by state if the pixel has several states.
 * - Where no detail is kept: `{kind: "stretch", stretch, t}`.
 * - On a chart: `{kind: "chart", chart, t}`.
 */
export const hitAt = (view, x, y) => {
  if (x < 0 || x > view.width || y < 0 || y > view.height || view.layout.items.length === 0) return null;
  const t = view.time(x);
  if (isDropped(view.model, t)) return { kind: "stretch", stretch: stretchAt(view.model, t), t };
  const at = view.itemAt(y);
  if (at === null) return null;
  const { item, top } = at;
  if (item.kind === "chart") return item.isHidden ? null : { kind: "chart", chart: item.chart, t };
  const [from, to] = [view.time(Math.floor(x)), view.time(Math.floor(x) + 1)];
  const { section } = item;
  if (item.kind === "stack") {
    return { kind: "stack", section, group: item.group, t, ns: to - from, shares: groupShares(section, item.group, from, to) };
  }
  if (item.kind !== "lanes") return null;
  const lane = Math.min(item.endLane - 1, item.firstLane + Math.floor((y - top) / item.each));
  const hit = { kind: "lane", section, lane, row: -1, transition: -1, poll: null, shares: null, t };
  if (section.kind === "workers") {
    hit.row = section.laneFirstRow[lane];
    hit.poll = pollOnWorker(view, section, hit.row, t, x);
  } else {
    hit.poll = longNear(view, section, lane, x);
  }
  hit.transition = hit.poll !== null && hit.poll.section === section ? hit.poll.transition : spanAt(section, lane, t);
  if (hit.transition >= 0) hit.row = section.rowOf(hit.transition);
  const shares = new Float64Array(section.states.length);
  laneTotals(section, lane, from, to, shares);
  if (shares.filter((ns) => ns > 0).length > 1) hit.shares = shares;
  return hit.row < 0 && hit.shares === null ? null : hit;
};

const pollOnWorker = (view, section, row, t, x) => {
  if (section.workerPolls === null) return null;
  const { tasks } = section.workerPolls;
  let transition = pollAt(section, row, t);
  const long = view.longOnWorkers[section.index][row] ?? [];
  const [from, to] = [view.time(x - NEAR), view.time(x + NEAR)];
  // Long polls are drawn wider than they are, so those beside the pointer count, too.
  if (transition < 0 || !isOver(view, tasks, transition)) {
    const near = firstIndex(0, long.length, (k) => tasks.time[long[k]] + heldNs(tasks, long[k]) > from);
    if (near < long.length && tasks.time[long[near]] <= to) transition = long[near];
  }
  return transition < 0 ? null : { section: tasks, transition };
};

const isOver = (view, section, transition) => pollInfo(section, transition).held > view.thresholdOf(section);

const longNear = (view, section, lane, x) => {
  const long = view.long[section.index];
  if (!long) return null;
  const k = nextLong(section, long, lane, view.time(x - NEAR));
  if (k >= long.laneFirst[lane + 1] || section.time[long.poll[k]] > view.time(x + NEAR)) return null;
  return { section, transition: long.poll[k] };
};

/** The most lanes of a group that are summed up for one pixel. */
const MOST_LANES = 20000;

/** Returns how long a group's lanes were in each state within a time. If there are very many, a sample stands for all. */
const groupShares = (section, group, from, to) => {
  const shares = new Float64Array(section.states.length);
  const step = Math.max(1, Math.floor((group.endLane - group.firstLane) / MOST_LANES));
  for (let lane = group.firstLane; lane < group.endLane; lane += step) laneTotals(section, lane, from, to, shares);
  return shares.map((ns) => ns * step);
};

/** Returns what a click on a hit selects. */
export const targetOf = (hit) => {
  if (hit === null || hit.kind === "chart") return null;
  if (hit.kind === "stretch") return { kind: "stretch", stretch: hit.stretch };
  if (hit.kind === "stack") return { kind: "group", section: hit.section.index, group: hit.group.index };
  if (hit.poll !== null) return { kind: "span", section: hit.poll.section.index, transition: hit.poll.transition };
  if (hit.section.kind === "workers") return { kind: "row", section: hit.section.index, row: hit.row };
  if (hit.transition >= 0) return { kind: "span", section: hit.section.index, transition: hit.transition };
  return null;
};
