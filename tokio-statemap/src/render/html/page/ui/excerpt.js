import { formatCount } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { make } from "./dom.js";

// Shows lines of source code, with one highlighted.

/** Returns the accessible name of the source code. */
const nameOf = (what, { line, lines, first }) => `Source of ${what}, lines ${formatCount(first)} to ${formatCount(first + lines.length - 1)}; line ${formatCount(line)} is highlighted`;

/**
 * @param {import("../model/excerpts.js").Excerpt|null} excerpt
 * @param {string} what what the source is of
 * @returns {HTMLElement|null} null if there is none
 */
export const excerptPart = (excerpt, what) => {
  if (excerpt === null) return null;
  const { line, first, lines, isChanged } = excerpt;
  const rows = lines.map((text, i) => make("span", { class: `source-line${first + i === line ? " meant" : ""}`, "data-line": first + i },
    make("span", { class: "number", "aria-hidden": "true" }, `${first + i === line ? "▸" : ""}${first + i}`),
    make("span", { class: "text" }, visible(text)), "\n"));
  return make("figure", { class: "excerpt" },
    make("pre", { tabindex: 0, role: "group", "aria-label": nameOf(what, excerpt) }, ...rows),
    isChanged ? make("figcaption", { class: "hint changed" }, "The file is newer than the recorded program, so its lines may have moved.") : null);
};
