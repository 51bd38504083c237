// Searches rows by name, and groups by spawn location.

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{section: number, row?: number, group?: number, label: string}} Hit a row or a group
 */

/** The most results. */
const MOST_HITS = 200;

/**
 * Finds rows and groups. Rows with exactly this name come first ("task-7", "7", "main", "worker-1"), then groups whose
 * location contains the text, then rows whose name begins with it or contains it. Case doesn't matter.
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
      if (group.label.toLowerCase().includes(wanted)) {
        put(groups, { section: section.index, group: group.index, label: group.label });
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
      put(isWhole ? exact : at === 0 ? beginning : within, { section: section.index, row, label });
    }
  }
  exact.sort((a, b) => a.label.length - b.label.length);
  return [...exact, ...groups, ...beginning, ...within].slice(0, MOST_HITS);
}
