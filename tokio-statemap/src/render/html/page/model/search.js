import { searchFunctions, searchSpans, searchTime } from "./search_functions.js";
import { groupText, rowWord } from "./names.js";

// Searches all that has a name on the page, and times.

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {import("./search_functions.js").NamedHit} Hit
 */

/** The most results. */
const MOST_HITS = 200;

/** The most functions, and the most spans of `tracing`. */
const MOST_NAMED = 20;

/**
 * Finds what has this name. A time comes first ("1.25 s"), then rows with exactly this name ("task-7", "7", "main", "worker-1"), then
 * functions, groups whose location or function contains the text, spans of `tracing`, and rows whose name begins with it or
 * contains it. Case doesn't matter.
 * @param {Model} model
 * @param {string} text
 * @returns {Hit[]} at most 200
 */
export function search(model, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const exact = [], groups = [], beginning = [], within = [];
  const put = (list, hit) => list.length < MOST_HITS && list.push(hit);
  for (const section of model.sections) {
    for (const group of section.groups) {
      const label = group.label.toLowerCase().includes(wanted) ? group.label : groupText(group);
      if (label.toLowerCase().includes(wanted)) {
        put(groups, { label, word: "location", shows: () => [{ kind: "group", section: section.index, group: group.index }] });
      }
    }
    for (let row = 0; row < section.nRows; row++) {
      const label = section.name(row);
      const name = label.toLowerCase();
      const at = name.indexOf(wanted);
      if (at < 0) continue;
      // "7" finds task-7, "task-7" finds api/task-7, and "conn" finds task-7 "conn".
      const [plain] = name.split(' "', 1);
      const before = plain.length - wanted.length - 1;
      const isWhole = name.endsWith(` "${wanted}"`)
        || (plain.endsWith(wanted) && (before < 0 || plain[before] === "-" || plain[before] === "/"));
      put(isWhole ? exact : at === 0 ? beginning : within,
        { label, word: rowWord(section), shows: () => [{ kind: "row", section: section.index, row }] });
    }
  }
  exact.sort((a, b) => a.label.length - b.label.length);
  const functions = searchFunctions(model, wanted, MOST_NAMED);
  const spans = searchSpans(model, wanted, MOST_NAMED);
  return [...searchTime(model, wanted), ...exact, ...functions, ...groups, ...spans, ...beginning, ...within].slice(0, MOST_HITS);
}
