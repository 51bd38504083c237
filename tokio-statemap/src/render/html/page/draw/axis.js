import { niceTicks } from "../format/numbers.js";
import { fontOf } from "./fit.js";

// The axis of time, which stays on top while the lanes scroll.

/** The font of text on canvases. */
export const CANVAS_FONT = fontOf(400, 11);

/** Gives a canvas its size in CSS px, sharp on this screen; returns its context in CSS px. */
export const sizeCanvas = (canvas, width, height, ratio) => {
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
};

/** The ticks that fit: as many as leave their labels apart. */
export const viewTicks = (view, context) => {
  context.font = CANVAS_FONT;
  // How long labels are depends on how many there are: measure with a guess, then with the result.
  let ticks = niceTicks(view.t0, view.t1, Math.max(1, Math.floor(view.width / 90)));
  for (let round = 0; round < 2; round++) {
    const widest = context.measureText(ticks.format(view.t1)).width;
    ticks = niceTicks(view.t0, view.t1, Math.max(1, Math.floor(view.width / (widest + 34))));
  }
  return ticks;
};

/** How far labels stay apart, in px. */
const APART = 10;

/**
 * Where the labels of ticks at `xs` stand, of these `widths`, on an axis that is `width` px wide: beside their ticks, at the
 * edge moved in if there is room. Null: it would meet the one before, and is left out.
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

/** Draws the axis; returns its ticks. */
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
