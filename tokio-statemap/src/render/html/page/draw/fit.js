// Text on a canvas, cut to a width.

import { shorten } from "../format/text.js";

const measurer = { context: null, kept: new Map() };

/** The page's font, as a canvas takes it. */
export const fontOf = (weight, px) => `${weight} ${px}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif`;

/** How wide all of `text` is in `font`, in px. */
export const textWidth = (text, font) => {
  measurer.context ??= document.createElement("canvas").getContext("2d");
  measurer.context.font = font;
  return measurer.context.measureText(text).width;
};

/** Whether all of `text` is at most `width` px wide in `font`. */
export const fits = (text, width, font) => textWidth(text, font) <= width;

/** `text` cut so that it is at most `width` px wide in `font`. Keeps its end, where a location's line is. */
export const fitText = (text, width, font) => {
  const key = `${font}\n${Math.floor(width)}\n${text}`;
  const known = measurer.kept.get(key);
  if (known !== undefined) return known;
  let least = 0;
  let most = Math.min(text.length, 400);
  let fitted = shorten(text, 400);
  if (!fits(fitted, width, font)) {
    while (least < most) {
      const middle = (least + most + 1) >> 1;
      const candidate = shorten(text, middle);
      if (fits(candidate, width, font)) least = middle;
      else most = middle - 1;
    }
    fitted = least > 0 ? shorten(text, least) : "";
  }
  if (measurer.kept.size > 2000) measurer.kept.clear();
  measurer.kept.set(key, fitted);
  return fitted;
};
