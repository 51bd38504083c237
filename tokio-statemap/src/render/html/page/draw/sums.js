// What is known in sums only: a ground of its own over the lanes, with a bar for each stretch of time, and the words
// for it, once; and the strips of the whole run.

import { formatNs, formatShare } from "../format/numbers.js";
import { shorten, visible } from "../format/text.js";
import { droppedWithin, stretchInfo, stretchTimes, sumColumns } from "../model/sums.js";
import { CANVAS_FONT } from "./axis.js";

/** How high the bars are, of the lanes' height and in px. */
const BARS_SHARE = 0.3;
const BARS_HEIGHT = [36, 150];
/** What is left free around words, in px. */
const AROUND_WORDS = 12;

const WORDS_FONT = CANVAS_FONT.replace("11px", "600 13px");
const SUMS_WORDS = ["No detail is kept here, only sums", "No detail: sums only", "Sums only"];

/** Covers what isn't kept in detail. */
export const drawDropped = (view, context) => {
  const { model } = view;
  const parts = droppedWithin(model, view.t0, view.t1);
  if (parts.length === 0) return;
  const high = barsHeight(view);
  const columns = sumColumns(model, view.t0, view.t1, Math.max(1, Math.ceil(view.width)));
  let widest = null;
  for (const [from, to] of parts) {
    const [x0, x1] = [view.x(from), Math.max(view.x(to), view.x(from) + 1)];
    context.fillStyle = view.colours.summed.css;
    context.fillRect(x0, 0, x1 - x0, view.height);
    drawBars(view, context, columns, x0, x1, high);
    // As along the foot of the strips: here detail begins, and ends.
    context.fillStyle = view.colours.focus.css;
    if (from > view.t0) context.fillRect(Math.floor(x0), 0, 1, view.height);
    if (to < view.t1) context.fillRect(Math.ceil(x1) - 1, 0, 1, view.height);
    if (widest === null || x1 - x0 > widest[1] - widest[0]) widest = [x0, x1];
  }
  drawWords(view, context, widest, high);
};

const barsHeight = (view) => Math.round(Math.min(Math.max(view.height * BARS_SHARE, BARS_HEIGHT[0]), BARS_HEIGHT[1]));

const drawBars = (view, context, { share }, x0, x1, high) => {
  context.fillStyle = view.colours["summed-bar"].css;
  const [first, last] = [Math.max(0, Math.floor(x0)), Math.min(share.length, Math.ceil(x1))];
  for (let x = first; x < last; x++) {
    if (!(share[x] > 0)) continue;
    // However little: something was going on.
    const h = Math.max(1, share[x] * high);
    const left = Math.max(x, x0);
    context.fillRect(left, view.height - h, Math.min(x + 1, x1) - left, h);
  }
};

/** The words, in the widest part that has room for some, and what the bars' height is. */
const drawWords = (view, context, [x0, x1], high) => {
  const room = x1 - x0 - 2 * AROUND_WORDS;
  context.font = WORDS_FONT;
  context.textBaseline = "middle";
  const words = SUMS_WORDS.find((text) => context.measureText(text).width <= room);
  if (words === undefined) return;
  const left = x0 + AROUND_WORDS;
  // Behind the charts.
  const from = Math.max(view.pinned, view.layout.chartsEnd - view.scroll);
  const top = from + 22 + AROUND_WORDS < view.height - high ? from + 22 : from + 12;
  context.fillStyle = view.colours.ink.css;
  context.fillText(words, left, top);
  context.font = CANVAS_FONT;
  context.fillStyle = view.colours.quiet.css;
  const { workers, stretch } = view.model.meta.sums;
  const of = workers === 1 ? "the worker's time" : `the time of ${workers} workers`;
  const more = [`Bars: how much of ${of} was in polls, for each ${formatNs(stretch)}.`, "Bars: the workers' time in polls", "Bars: time in polls"];
  const said = more.find((text) => context.measureText(text).width <= room);
  if (said !== undefined) context.fillText(said, left, top + 18);
  const y = view.height - high;
  if (y < top + 34 || room < 60) return;
  context.fillStyle = view.colours["line-strong"].css;
  context.fillRect(x0, y, x1 - x0, 1);
  context.fillStyle = view.colours.quiet.css;
  context.fillText("100 %", left, y - 8);
};

/** An outline around a stretch, over the whole height. */
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

/**
 * The whole run over the width of the view: above, how long the longest poll was (logarithmically), below, how much of
 * the workers' time was in polls, and along the foot where detail is kept. Grey: recording was stopped. The columns are
 * those of the whole run.
 */
export const drawStrips = (view, context, height, { share, longest }) => {
  const { model, colours } = view;
  const width = share.length;
  const foot = height - 5;
  const [top, middle] = [6, Math.round(height * 0.45)];
  const shortest = Math.max(SHORTEST_DRAWN, view.threshold / 100);
  const most = Math.log(Math.max(2 * shortest, ...longest) / shortest);
  for (let x = 0; x < width; x++) {
    if (Number.isNaN(share[x])) {
      context.fillStyle = colours.line.css;
      context.fillRect(x, top, 1, foot - top);
    }
    if (longest[x] > 0) {
      const h = Math.max(1, (Math.log(longest[x] / shortest) / most) * (middle - top - 2));
      context.fillStyle = longest[x] > view.threshold ? colours.accent.css : colours.faint.css;
      context.fillRect(x, middle - 2 - h, 1, h);
    }
    if (share[x] > 0) {
      const h = Math.max(1, share[x] * (foot - 2 - middle));
      context.fillStyle = colours["summed-bar"].css;
      context.fillRect(x, foot - 1 - h, 1, h);
    }
  }
  context.fillStyle = colours.summed.css;
  context.fillRect(0, foot, view.width, 5);
  context.fillStyle = colours.focus.css;
  const x = (t) => (t / model.lengthNs) * view.width;
  let from = 0;
  for (const [gap, end] of [...model.meta.gaps, [model.lengthNs, model.lengthNs]]) {
    if (gap > from) context.fillRect(x(from), foot, Math.max(2, x(gap) - x(from)), 5);
    from = end;
  }
};

/** A poll as short as this has no height, in ns. */
const SHORTEST_DRAWN = 1000;

/** "43.2 % of the time of 2 workers"; of a stretch in which nothing was recorded, that. */
export const shareText = (view, share) => {
  if (share === null) return "unknown, as recording was stopped";
  const { workers } = view.model.meta.sums;
  return `${formatShare(share)} of ${workers === 1 ? "the worker's time" : `the time of ${workers} workers`}`;
};

/** "1.2 ms of wall time, of src/main.rs:1:2"; null if no poll began. */
export const longestText = (longest, place) => (place === null ? null : `${formatNs(longest)} of wall time, of ${shorten(visible(place), 120)}`);

/** What a stretch is, for the live region. */
export const stretchSentence = (view, index) => {
  const info = stretchInfo(view.model, index);
  const polls = info.place === null ? "no poll began" : `${info.polls} polls began, the longest of ${longestText(info.longest, info.place)}`;
  return `Stretch of ${formatNs(info.to - info.from)}, sums only: in polls ${shareText(view, info.share)}, ${polls}, ${info.alive} tasks alive at its end.`;
};
