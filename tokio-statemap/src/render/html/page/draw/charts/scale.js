// The y-axes of charts: they convert values to heights and to text.

import { formatCount, formatNs, formatSetting, formatShare } from "../../format/numbers.js";

/**
 * @typedef {{
 *   bottom: number, top: number, share: (value: number) => number, label: (value: number) => string,
 *   text: (value: number) => string,
 * }} Scale `share`: the height of a value, from 0 to 1; `label`: the text of an end of the axis; `text`: the text of a
 * value
 */

/** Returns the least of 1, 2, 3, 4, 5, 6, 8, 10, 20, … that is not less than `value`. */
export function niceTop(value) {
  if (!(value > 1)) return 1;
  const ten = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [1, 2, 3, 4, 5, 6, 8, 10].map((factor) => factor * ten).find((top) => top >= value * (1 - 1e-9));
}

/** Formats a count: "0.4", "12", "16 900". Small ones have tenths. */
export const countText = (value) => (value >= 9.95 || Number.isInteger(value) ? formatCount(Math.round(value)) : value.toFixed(1));

/** Formats a count for little room: "29 k", "1.5 M". */
export const shortCount = (value) => {
  for (const [unit, name] of [[1e6, "M"], [1e3, "k"]]) {
    if (value >= unit * (unit === 1e3 ? 10 : 1)) return `${Number((value / unit).toFixed(value / unit < 10 ? 1 : 0))} ${name}`;
  }
  return countText(value);
};

const within = (share) => Math.min(1, Math.max(0, share));

/** Returns a scale of counts, from 0. @param {number} most @returns {Scale} */
export function countScale(most) {
  const top = niceTop(most);
  return { bottom: 0, top, share: (value) => within(value / top), label: shortCount, text: countText };
}

/** Returns a scale from 0 to 100 %. @returns {Scale} */
export function shareScale() {
  return { bottom: 0, top: 1, share: within, label: (value) => `${Math.round(value * 100)} %`, text: formatShare };
}

/** The shortest poll that has a height, in ns. */
const SHORTEST = 1000;

/** Returns a logarithmic scale of times, from 1 µs. @param {number} most @returns {Scale} */
export function timeScale(most) {
  const top = 10 ** Math.max(4, Math.ceil(Math.log10(Math.max(most, 1)) - 1e-9));
  const decades = Math.log10(top / SHORTEST);
  return {
    bottom: SHORTEST, top, label: formatSetting, text: formatNs,
    share: (value) => (value > 0 ? within(Math.log10(value / SHORTEST) / decades) : 0),
  };
}
