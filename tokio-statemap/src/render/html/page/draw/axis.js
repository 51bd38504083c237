import { niceTicks } from "../format/numbers.js";
import { CANVAS_FONT, sizeCanvas } from "./canvas.js";

// The time axis, which stays in place above the lanes while they scroll.

/** Returns as many ticks as there is room for between their labels. */
const viewTicks = (view, context) => {
  context.font = CANVAS_FONT;
  // The number of ticks decides how long their labels are: measure with a guess first, then with the result.
  let ticks = niceTicks(view.t0, view.t1, Math.max(1, Math.floor(view.width / 90)));
  for (let round = 0; round < 2; round++) {
    const widest = context.measureText(ticks.format(view.t1)).width;
    ticks = niceTicks(view.t0, view.t1, Math.max(1, Math.floor(view.width / (widest + 34))));
  }
  return ticks;
};

/** The least gap between labels, in px. */
const APART = 10;

/**
 * Returns the left edges of the labels of ticks at `xs`, which are `widths` wide, on an axis of `width` px: each is beside its
 * tick, and within the axis. A label that would overlap the one before it is left out (null).
 */
export const labelPlaces = (xs, widths, width) => {
  let free = -Infinity;
  return xs.map((x, i) => {
    const left = Math.min(Math.max(x + 4, 2), width - widths[i] - 2);
    if (left < free) return null;
    free = left + widths[i] + APART;
    return left;
  });
};

/** Draws the axis, and returns its ticks. */
export const drawAxis = (view, canvas) => {
  const context = sizeCanvas(canvas, view.width, canvas.clientHeight, view.ratio);
  const height = canvas.clientHeight;
  context.clearRect(0, 0, view.width, height);
  const ticks = viewTicks(view, context);
  context.textBaseline = "middle";
  context.fillStyle = view.colours.quiet.css;
  context.strokeStyle = view.colours["line-strong"].css;
  context.lineWidth = 1;
  const labels = ticks.ticks.map(ticks.format);
  const xs = ticks.ticks.map((tick) => Math.round(view.x(tick)) + 0.5);
  const places = labelPlaces(xs, labels.map((label) => context.measureText(label).width), view.width);
  for (const [i, x] of xs.entries()) {
    context.beginPath();
    context.moveTo(x, height - 7);
    context.lineTo(x, height);
    context.stroke();
    if (places[i] !== null) context.fillText(labels[i], places[i], height / 2 - 1);
  }
  return ticks;
};
