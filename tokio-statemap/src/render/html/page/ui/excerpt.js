import { formatCount } from "../format/numbers.js";
import { visible } from "../format/text.js";
import { make } from "./dom.js";

// Some lines of source, the one that is meant among them.

/** What the source is called to those who don't see it. */
const nameOf = (what, { line, lines, first }) => `Source of ${what}, lines ${formatCount(first)} to ${formatCount(first + lines.length - 1)}; line ${formatCount(line)} is meant`;

/**
 * @param {import("../model/excerpts.js").Excerpt|null} excerpt
 * @param {string} what whose source it is
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
    isChanged ? make("figcaption", { class: "hint changed" }, "The file has changed since: it is newer than the program that was recorded, and its lines may be others.") : null);
};
