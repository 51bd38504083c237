// Fits text on a canvas to a width.

import { firstIndex } from "../data/section.js";
import { shorten } from "../format/text.js";

const measurer = { context: null, kept: new Map() };

/** Returns the page's font in the form that a canvas takes. */
export const fontOf = (weight, px) => `${weight} ${px}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif`;

/** Returns the width of `text` in `font`, in px. */
export const textWidth = (text, font) => {
  measurer.context ??= document.createElement("canvas").getContext("2d");
  measurer.context.font = font;
  return measurer.context.measureText(text).width;
};

/** Returns whether `text` is at most `width` px wide in `font`. */
export const fits = (text, width, font) => textWidth(text, font) <= width;

/** Shortens `text` to at most `width` px in `font`. Keeps its end, where a location has its line. */
export const fitText = (text, width, font) => {
  const key = `${font}\n${Math.floor(width)}\n${text}`;
  const known = measurer.kept.get(key);
  if (known !== undefined) return known;
  let fitted = shorten(text, 400);
  if (!fits(fitted, width, font)) {
    const most = firstIndex(1, Math.min(text.length, 400) + 1, (length) => !fits(shorten(text, length), width, font)) - 1;
    fitted = most > 0 ? shorten(text, most) : "";
  }
  if (measurer.kept.size > 2000) measurer.kept.clear();
  measurer.kept.set(key, fitted);
  return fitted;
};
