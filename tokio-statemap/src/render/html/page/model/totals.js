// Totals of rows, groups and tags.

import { findTransition, recordedTotals, recordedWithin, rowTotals } from "./lanes.js";

/** Returns the totals of one row from `t0` to `t1`, without the gaps in the recording. */
export const totalsOfRow = (section, gaps, row, t0, t1) => {
  const totals = new Float64Array(section.states.length);
  for (const [from, to] of recordedWithin(gaps, t0, t1)) rowTotals(section, row, from, to, totals);
  return totals;
};

/** Returns the totals of a group's lanes. */
export const totalsOfGroup = (section, gaps, group, t0, t1) =>
  recordedTotals(section, gaps, t0, t1, (lane) => lane >= group.firstLane && lane < group.endLane);

/** The most transitions that are looked at for totals by tag. */
const MOST_TAGGED = 4000000;

/**
 * Returns the time of each tag in the lanes `from..to` between `t0` and `t1`, the longest first; null if that is too much
 * to count.
 */
export const tagTotals = (section, from, to, t0, t1) => {
  const sums = new Float64Array(section.tags.length + 1);
  let looked = 0;
  for (let lane = from; lane < to; lane++) {
    const end = section.laneBegin(lane + 1);
    let i = Math.max(section.laneBegin(lane), findTransition(section, lane, t0));
    for (; i < end && section.time[i] < t1; i++) {
      if (++looked > MOST_TAGGED) return null;
      if (section.tag[i] === 0) continue;
      sums[section.tag[i]] += Math.max(0, Math.min(section.endOf(i), t1) - Math.max(section.time[i], t0));
    }
  }
  return [...sums.keys()].filter((tag) => sums[tag] > 0).map((tag) => ({ tag: tag - 1, ns: sums[tag] })).sort((a, b) => b.ns - a.ns);
};
