// The colours of states: the page's own by role, or those of the statemap data.

import { isEndRole } from "../data/section.js";

/** @typedef {import("../data/section.js").State} State */

// In greyscale the states of a task are well apart from each other in both themes (the test measures it);
// waiting is near the background, so that the eye lands on what ran.
const PAGE_COLOURS = {
  light: {
    waiting: "#e2e5e9", running: "#dc267f", ready: "#ffb000", spawned: "#c78500",
    parked: "#e8eaed", awake: "#d7a3bd", blocking: "#9aa7b8",
  },
  dark: {
    waiting: "#3a4048", running: "#dc267f", ready: "#ffb000", spawned: "#c78500",
    parked: "#2b3037", awake: "#7d4b65", blocking: "#5c6878",
  },
};

// For states without a colour of their own: told apart by colour-blind eyes (after Okabe and Ito, and Tol).
const HASH_COLOURS = [
  "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#882255", "#44aa99", "#6f7a86",
];

/** For waiting that is told apart by line, and behind them that at all other lines: none is near running or ready. */
const LINE_COLOURS = ["#0072b2", "#009e73", "#56b4e9", "#7b5cc4", "#999933", "#a0522d", "#44aa99", "#2f4b7c", "#8a94a0"];

/**
 * The colour to draw a state in.
 * @param {State} state
 * @param {"light"|"dark"} theme
 * @param {"page"|"lines"|"statemap"} kind the page's own palette, the same with waiting by line, or statemap's
 * @returns {string|null} "#rrggbb", or for foreign data any CSS colour that a canvas takes; null is blank
 */
export function colourOf(state, theme, kind) {
  if (isEndRole(state.role)) return null;
  const own = PAGE_COLOURS[theme === "dark" ? "dark" : "light"];
  if (state.line !== undefined) return LINE_COLOURS[state.line % LINE_COLOURS.length];
  if (kind !== "statemap" && Object.hasOwn(own, state.role)) return own[state.role];
  return safeColour(state.colour) ?? HASH_COLOURS[hashOf(state.name) % HASH_COLOURS.length];
}

/** The colour of a file, if it is one and nothing more (no `url(…)`, no `var(…)`). */
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
