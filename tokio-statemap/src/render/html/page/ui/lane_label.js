import { formatCount } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { countRows } from "../model/names.js";
import { firstRowAfter } from "../draw/torn.js";

// Whose a lane is: its label names the row that it has in the view, or the first and the last of several.

/** How many rows of a lane have a part in the view, and the first and the last of them. */
export const rowsInView = ({ t0, t1 }, section, lane) => {
  const [from, end] = [section.laneFirstRow[lane], section.laneFirstRow[lane + 1]];
  const first = firstRowAfter(section, lane, t0);
  // The first that begins after the view.
  let [least, most] = [first, end];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (section.rowBegin(middle) < t1) least = middle + 1;
    else most = middle;
  }
  return { n: least - first, first: Math.max(from, Math.min(first, end - 1)), last: Math.max(from, least - 1) };
};

/**
 * The label of a lane, the longest first: each shorter one is for where the one before has no room. `chosen` is the row of
 * it that the selection is about; −1 if it is none.
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
