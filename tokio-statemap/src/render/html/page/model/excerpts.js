// The source code around lines that the page names, if it could be read when the page was written.

/**
 * @typedef {import("../data/decode.js").Model} Model
 * @typedef {{line: number, first: number, lines: string[], isChanged: boolean}} Excerpt `line`: the one in question; `isChanged`: the
 *   file is newer than the recording
 */

/** @returns {Excerpt|null} the one at an index of the data's */
const excerptAt = ({ meta }, index) => {
  const found = meta.source?.all[index];
  if (found === undefined) return null;
  const [line, first, lines, isChanged] = found;
  return { line, first, lines, isChanged };
};

/** @returns {Excerpt|null} the source around the line of a blamed function */
export function excerptOfFrame(model, section, frame) {
  const index = section.why?.frames.indexOf(frame) ?? -1;
  const found = model.meta.source?.frames.find(([of, at]) => of === section.index && at === index);
  return found === undefined ? null : excerptAt(model, found[2]);
}

/** @returns {Excerpt|null} the source around the line that spawned the tasks of a group */
export function excerptOfGroup(model, section, group) {
  const found = model.meta.source?.groups.find(([of, at]) => of === section.index && at === group.index);
  return found === undefined ? null : excerptAt(model, found[2]);
}
