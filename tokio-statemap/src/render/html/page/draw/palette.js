// The colours of states: the page's own, by role, or those of the statemap data. The page's own are defined in front of the
// style sheet.

import { isEndRole } from "../data/section.js";

/** @typedef {import("../data/section.js").State} State */

/** The roles with a colour of the page's own, the custom property `--state-…`. */
export const STATE_ROLES = ["waiting", "running", "ready", "spawned", "parked", "awake", "blocking"];
/** The number of colours for states without one (`--other-…`), and for lines that tasks wait at (`--at-line-…`). */
export const OTHER_COLOURS = 8;
export const LINE_COLOURS = 9;

/**
 * The palette on this screen.
 * @typedef {{states: Object<string, string>, others: string[], lines: string[]}} Palette colours as CSS has them
 */

/**
 * Reads the palette.
 * @param {(name: string) => string} property returns a custom property
 * @returns {Palette}
 */
export const readPalette = (property) => ({
  states: Object.fromEntries(STATE_ROLES.map((role) => [role, property(`--state-${role}`)])),
  others: Array.from({ length: OTHER_COLOURS }, (_, n) => property(`--other-${n}`)),
  lines: Array.from({ length: LINE_COLOURS }, (_, n) => property(`--at-line-${n}`)),
});

/**
 * Returns the colour of a state.
 * @param {State} state
 * @param {Palette} own
 * @param {"page"|"lines"|"statemap"} kind the page's own palette, the same with waiting by line, or statemap's
 * @returns {string|null} a colour of the palette, or for other data any CSS colour; null is blank
 */
export function colourOf(state, own, kind) {
  if (isEndRole(state.role)) return null;
  if (state.line !== undefined) return own.lines[state.line % own.lines.length];
  if (kind !== "statemap" && Object.hasOwn(own.states, state.role)) return own.states[state.role];
  return safeColour(state.colour) ?? own.others[hashOf(state.name) % own.others.length];
}

/** Returns a colour of the data if it is nothing but a colour (no `url(…)`, no `var(…)`). */
function safeColour(text) {
  if (typeof text !== "string" || text.length > 64) return null;
  const colour = text.trim().toLowerCase();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(colour);
  if (short) return "#" + short.slice(1).map((digit) => digit + digit).join("");
  if (/^#[0-9a-f]{6}$/.test(colour) || /^[a-z]+$/.test(colour)) return colour;
  return /^(rgb|hsl)a?\([-\d.,%/\sadegr]+\)$/.test(colour) ? colour : null;
}

function hashOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}
