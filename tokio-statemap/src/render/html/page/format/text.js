// Text that comes from a recorded program, made fit to be seen. Names and labels may hold anything:
// they only ever reach the page as `textContent` or as text on a canvas.

import { fitPlace } from "./place.js";

// What could turn a line's direction, or stand in it unseen.
const DISTURBING =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]/gu;

/**
 * Text of the recorded program, with what could turn its direction, hide in it or break its line
 * written as an escape; its left is cut if it is longer than `most`.
 * @param {string} text
 * @param {number} [most] UTF-16 units
 * @returns {string}
 */
export function cleanText(text, most = 400) {
  const kept = text.length > most ? "…" + text.slice(text.length - most + 1) : text;
  return kept.replace(DISTURBING, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** All of `text`, with what could hide in it or turn its direction escaped. */
export const visible = (text) => cleanText(text, Infinity);

/** Where so few characters fit, only one end is kept. */
const ONE_END = 18;

/** The longest text that is taken for a place. */
const LONGEST_PLACE = 1000;

/**
 * At most `most` characters of `text`. Of a place its folders go before its file and line. What is left out of
 * anything else is in the middle, as both ends tell more; where there is room for one end only, it is a
 * path's right, and of anything else the left.
 */
export const shorten = (text, most) => {
  if (text.length <= LONGEST_PLACE) {
    const place = visible(text);
    if ([...place].length <= most) return place;
    const fitted = fitPlace(place, most);
    if (fitted !== null) return fitted;
  }
  if (text.length > most * 4) {
    // Cut before escaping: ten kilobytes need not be looked at for what fits in a line.
    text = `${text.slice(0, most * 2)}${text.slice(-most * 2)}`;
  }
  const seen = [...visible(text)];
  if (seen.length <= most) return seen.join("");
  const isPlace = /[/:\\]/.test(text);
  const tail = most <= ONE_END ? (isPlace ? most - 1 : 0) : Math.ceil((most - 1) * 0.6);
  return `${seen.slice(0, most - 1 - tail).join("")}…${seen.slice(seen.length - tail).join("")}`;
};

/** A label for a title attribute: enough to tell it apart, never pages of it. */
export const titleText = (text) => shorten(text, 300);

/** `n` of something: "1 task", "12 tasks". */
export const plural = (n, one, formatted) => `${formatted ?? n} ${one}${n === 1 ? "" : "s"}`;
