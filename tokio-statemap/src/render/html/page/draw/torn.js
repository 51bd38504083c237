// Torn edges: a row existed before it was first seen, or still did when the recording ended.

import { firstIndex } from "../data/section.js";

/** The most rows of a lane that are drawn torn. */
const MOST_ROWS = 200;
/** The depth of a tear, and the least width of a row that is drawn torn, in px. */
const DEPTH = 3;
const LEAST_WIDTH = 10;

/** Returns whether the beginning of a row was not recorded: the first that is known of a task isn't its spawn. */
const isTornLeft = (section, row) => {
  if (section.kind !== "tasks" || section.isRoot[row]) return false;
  const first = section.rowFirst[row];
  return first < section.rowFirst[row + 1] && section.states[section.state[first]].role !== "spawned";
};

/** Returns whether a row did not end within the recording. */
const isTornRight = (section, row) => {
  const last = section.rowFirst[row + 1] - 1;
  return section.kind !== "other" && last >= section.rowFirst[row] && section.isEnd[section.state[last]] === 0;
};

/** Returns the first row of a lane that ends after `t`. */
export const firstRowAfter = (section, lane, t) =>
  firstIndex(section.laneFirstRow[lane], section.laneFirstRow[lane + 1], (row) => section.rowEnd(row) > t);

/** Draws the torn edges of the rows of a lane; `top` and `bottom` are in px of the screen. */
export const tearEdges = (view, context, section, lane, top, bottom) => {
  const end = section.laneFirstRow[lane + 1];
  context.fillStyle = view.colours.paper.css;
  let row = firstRowAfter(section, lane, view.t0);
  for (let n = 0; row < end && n < MOST_ROWS && section.rowBegin(row) < view.t1; row++, n++) {
    const [x0, x1] = [view.x(section.rowBegin(row)), view.x(section.rowEnd(row))];
    if (x1 - x0 < LEAST_WIDTH) continue;
    if (x0 >= 0 && isTornLeft(section, row)) tear(context, x0, 1, top, bottom);
    if (x1 <= view.width + 0.5 && isTornRight(section, row)) tear(context, x1, -1, top, bottom);
  }
};

const tear = (context, x, inwards, top, bottom) => {
  const teeth = Math.max(2, Math.round((bottom - top) / 5));
  const step = (bottom - top) / teeth;
  context.beginPath();
  context.moveTo(x - inwards, top);
  for (let i = 0; i < teeth; i++) {
    context.lineTo(x + inwards * DEPTH, top + (i + 0.5) * step);
    context.lineTo(x - inwards, top + (i + 1) * step);
  }
  context.fill();
};
