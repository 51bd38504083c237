// Drawing of times of which no detail is kept, only sums: a background over the lanes with a bar for each stretch of time, a
// sentence that says so once, and the strips of the whole run.

import { formatNs, formatShare } from "../format/numbers.js";
import { shorten, visible } from "../format/text.js";
import { droppedWithin, stretchInfo, stretchTimes, sumColumns } from "../model/sums.js";
import { BOLD_FONT, CANVAS_FONT, fillBox, firstThatFits } from "./canvas.js";

/** The height of the bars: a share of the lanes' height, between two bounds in px. */
const BARS_SHARE = 0.3;
const BARS_HEIGHT = [36, 150];
/** The free space around text, in px. */
const AROUND_WORDS = 12;

const SUMS_WORDS = ["No detail is kept here, only sums", "No detail: sums only", "Sums only"];

/** Covers the times of which no detail is kept. */
export const drawDropped = (view, context) => {
  const { model, colours } = view;
  const parts = droppedWithin(model, view.t0, view.t1);
  if (parts.length === 0) return;
  const high = Math.round(Math.min(Math.max(view.height * BARS_SHARE, BARS_HEIGHT[0]), BARS_HEIGHT[1]));
  const columns = sumColumns(model, view.t0, view.t1, Math.max(1, Math.ceil(view.width)));
  let widest = null;
  for (const [from, to] of parts) {
    const [x0, x1] = [view.x(from), Math.max(view.x(to), view.x(from) + 1)];
    fillBox(context, colours.summed, x0, 0, x1 - x0, view.height);
    drawBars(view, context, columns, x0, x1, high);
    // The same line as at the bottom of the strips: detail begins, or ends, here.
    if (from > view.t0) fillBox(context, colours.focus, Math.floor(x0), 0, 1, view.height);
    if (to < view.t1) fillBox(context, colours.focus, Math.ceil(x1) - 1, 0, 1, view.height);
    if (widest === null || x1 - x0 > widest[1] - widest[0]) widest = [x0, x1];
  }
  drawWords(view, context, widest, high);
};

const drawBars = (view, context, { share }, x0, x1, high) => {
  const [first, last] = [Math.max(0, Math.floor(x0)), Math.min(share.length, Math.ceil(x1))];
  for (let x = first; x < last; x++) {
    if (!(share[x] > 0)) continue;
    // Any activity at all is visible.
    const h = Math.max(1, share[x] * high);
    const left = Math.max(x, x0);
    fillBox(context, view.colours["summed-bar"], left, view.height - h, Math.min(x + 1, x1) - left, h);
  }
};

/** Draws the explanation into the widest part, as long as there is room for, and the scale of the bars. */
const drawWords = (view, context, [x0, x1], high) => {
  const { colours } = view;
  const room = x1 - x0 - 2 * AROUND_WORDS;
  context.font = BOLD_FONT;
  context.textBaseline = "middle";
  const words = firstThatFits(context, SUMS_WORDS, room);
  if (words === undefined) return;
  const left = x0 + AROUND_WORDS;
  // Below the charts.
  const from = Math.max(view.pinned, view.layout.chartsEnd - view.scroll);
  const top = from + 22 + AROUND_WORDS < view.height - high ? from + 22 : from + 12;
  context.fillStyle = colours.ink.css;
  context.fillText(words, left, top);
  context.font = CANVAS_FONT;
  context.fillStyle = colours.quiet.css;
  const { workers, stretch } = view.model.meta.sums;
  const more = [`Bars: the share of ${timeOf(workers)} spent in polls, for each ${formatNs(stretch)}.`, "Bars: the workers' time in polls", "Bars: time in polls"];
  const said = firstThatFits(context, more, room);
  if (said !== undefined) context.fillText(said, left, top + 18);
  const y = view.height - high;
  if (y < top + 34 || room < 60) return;
  fillBox(context, colours["line-strong"], x0, y, x1 - x0, 1);
  context.fillStyle = colours.quiet.css;
  context.fillText("100 %", left, y - 8);
};

/** Draws an outline around a stretch, over the whole height. */
export const drawStretch = (view, context, index, colour, thickness) => {
  const [from, to] = stretchTimes(view.model, index);
  const x0 = view.x(from);
  const width = Math.max(3, view.x(to) - x0);
  if (x0 > view.width || x0 + width < 0) return;
  context.strokeStyle = colour;
  context.lineWidth = thickness;
  const by = thickness / 2;
  context.strokeRect(x0 + by, by, width - thickness, view.height - thickness);
};

/** The shortest poll that has a height, in ns. */
const SHORTEST_DRAWN = 1000;

/**
 * Draws the whole run over the width of the view: at the top the longest poll of each column (on a logarithmic scale), below it
 * the share of the workers' time spent in polls, and at the bottom a line where detail is kept. Grey: recording was stopped.
 */
export const drawStrips = (view, context, height, { share, longest }) => {
  const { model, colours } = view;
  const width = share.length;
  const foot = height - 5;
  const [top, middle] = [6, Math.round(height * 0.45)];
  const shortest = Math.max(SHORTEST_DRAWN, view.threshold / 100);
  const most = Math.log(Math.max(2 * shortest, ...longest) / shortest);
  for (let x = 0; x < width; x++) {
    if (Number.isNaN(share[x])) fillBox(context, colours.line, x, top, 1, foot - top);
    if (longest[x] > 0) {
      const h = Math.max(1, (Math.log(longest[x] / shortest) / most) * (middle - top - 2));
      fillBox(context, longest[x] > view.threshold ? colours.accent : colours.faint, x, middle - 2 - h, 1, h);
    }
    if (share[x] > 0) {
      const h = Math.max(1, share[x] * (foot - 2 - middle));
      fillBox(context, colours["summed-bar"], x, foot - 1 - h, 1, h);
    }
  }
  fillBox(context, colours.summed, 0, foot, view.width, 5);
  const x = (t) => (t / model.lengthNs) * view.width;
  let from = 0;
  for (const [gap, end] of [...model.meta.gaps, [model.lengthNs, model.lengthNs]]) {
    if (gap > from) fillBox(context, colours.focus, x(from), foot, Math.max(2, x(gap) - x(from)), 5);
    from = end;
  }
};

const timeOf = (workers) => (workers === 1 ? "the worker's time" : `the time of ${workers} workers`);

/** Returns "43.2 % of the time of 2 workers", or that recording was stopped. */
export const shareText = (view, share) =>
  (share === null ? "unknown: recording was stopped" : `${formatShare(share)} of ${timeOf(view.model.meta.sums.workers)}`);

/** Returns "1.2 ms of wall time, spawned at src/main.rs:1:2"; null if no poll began. */
export const longestText = (longest, place) => (place === null ? null : `${formatNs(longest)} of wall time, spawned at ${shorten(visible(place), 120)}`);

/** Describes a stretch in a sentence, for screen readers. */
export const stretchSentence = (view, index) => {
  const info = stretchInfo(view.model, index);
  const polls = info.place === null ? "no poll began" : `${info.polls} polls began, the longest took ${longestText(info.longest, info.place)}`;
  return `Stretch of ${formatNs(info.to - info.from)}, sums only: in polls ${shareText(view, info.share)}, ${polls}, ${info.alive} tasks alive at its end.`;
};
