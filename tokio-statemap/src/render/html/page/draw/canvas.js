// Helpers for drawing on canvases: fonts, sizes, boxes, clipping.

import { fontOf } from "./fit.js";

/** The font of text on canvases, and of text that stands out there. */
export const CANVAS_FONT = fontOf(400, 11);
export const BOLD_FONT = fontOf(600, 13);

/** Sets the size of a canvas in CSS px, at the resolution of this screen. Returns its context, which takes CSS px. */
export const sizeCanvas = (canvas, width, height, ratio) => {
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
};

/** Fills a box with `colour` (an object with `css`). */
export const fillBox = (context, colour, x, y, width, height) => {
  context.fillStyle = colour.css;
  context.fillRect(x, y, width, height);
};

/** Calls `draw`, and clips to a box what it draws. */
export const clipTo = (context, x, y, width, height, draw) => {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  draw();
  context.restore();
};

/** Returns the first of `texts` that is at most `width` px wide in the context's font; `undefined` if none is. */
export const firstThatFits = (context, texts, width) => texts.find((text) => context.measureText(text).width <= width);
