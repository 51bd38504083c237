import { firstIndex } from "../data/section.js";
import { formatCount } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { countRows } from "../model/names.js";
import { firstRowAfter } from "../draw/torn.js";

// The label of a lane: the name of its row in the view, or of the first and the last one if there are several.

/** Returns the number of a lane's rows that are in the view, and the first and the last of them. */
export const rowsInView = ({ t0, t1 }, section, lane) => {
  const [from, end] = [section.laneFirstRow[lane], section.laneFirstRow[lane + 1]];
  const first = firstRowAfter(section, lane, t0);
  const behind = firstIndex(first, end, (row) => section.rowBegin(row) >= t1);
  return { n: behind - first, first: Math.max(from, Math.min(first, end - 1)), last: Math.max(from, behind - 1) };
};

/**
 * Returns the possible labels of a lane, the longest first: the first one that fits is shown. `chosen` is the row of the lane
 * that is selected; −1 if none is.
 */
export const laneLabel = (view, section, lane, chosen) => {
  if (chosen >= 0) return [visible(section.name(chosen))];
  const { n, first, last } = rowsInView(view, section, lane);
  if (n === 0) return ["none in view", "none"];
  const name = visible(section.name(first)) || "unnamed";
  if (n === 1) return [name];
  const lastName = visible(section.name(last)) || "unnamed";
  return [`${name} … ${lastName} (${formatCount(n)})`, `${name} + ${formatCount(n - 1)}`, countRows(section, n)];
};
