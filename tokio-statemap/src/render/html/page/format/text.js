// Makes text of a recorded program fit to be shown. Names and labels may contain anything: they only ever reach the page as
// `textContent` or as text on a canvas.

import { clustersOf, LONGEST_CLUSTER } from "./clusters.js";
import { fitPlace } from "./place.js";

// Characters that could turn a line's direction, or be invisible. A joiner between two emoji is visible: it makes them one.
const DISTURBING =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]|(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

/**
 * Escapes what could turn a text's direction, hide in it or break its line, and cuts its left if it is longer than `most`.
 * @param {string} text
 * @param {number} [most] characters
 * @returns {string}
 */
export function cleanText(text, most = 400) {
  const kept = text.length > most ? keepRight(text, most) : text;
  return kept.replace(DISTURBING, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** Returns the right end of a text that may be too long for `most` characters. */
const keepRight = (text, most) => {
  // Look at no more than can be shown.
  const looked = text.slice(-most * LONGEST_CLUSTER);
  const all = clustersOf(looked);
  return all.length > most || looked.length < text.length ? "…" + all.slice(all.length - most + 1).join("") : text;
};

/** Returns all of `text`, with what could hide in it or turn its direction escaped. */
export const visible = (text) => cleanText(text, Infinity);

/** Up to this many characters, only one end is kept. */
const ONE_END = 18;

/** The longest text that is taken for a place. */
const LONGEST_PLACE = 1000;

/**
 * Returns at most `most` characters of `text`. A place loses its folders before its file and line. Any other text loses its
 * middle, since both ends say more; or, if there is room for one end only, a path keeps its right and other text its left.
 */
export const shorten = (text, most) => {
  if (text.length <= LONGEST_PLACE) {
    const place = visible(text);
    if (clustersOf(place).length <= most) return place;
    const fitted = fitPlace(place, most);
    if (fitted !== null) return fitted;
  }
  const looked = most * LONGEST_CLUSTER;
  if (text.length > looked * 2) {
    // Cut before escaping: hundreds of kilobytes need not be looked at for one line.
    text = `${text.slice(0, looked)}${text.slice(-looked)}`;
  }
  const seen = clustersOf(visible(text));
  if (seen.length <= most) return seen.join("");
  const isPlace = /[/:\\]/.test(text);
  const tail = most <= ONE_END ? (isPlace ? most - 1 : 0) : Math.ceil((most - 1) * 0.6);
  return `${seen.slice(0, most - 1 - tail).join("")}…${seen.slice(seen.length - tail).join("")}`;
};

/** Shortens a label for a `title` attribute. */
export const titleText = (text) => shorten(text, 300);

/** Returns a number with its noun: "1 task", "12 tasks". */
export const plural = (n, one, formatted) => `${formatted ?? n} ${one}${n === 1 ? "" : "s"}`;
