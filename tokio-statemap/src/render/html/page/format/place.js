// Fits a place into little room; its file and line stay longest. The report and the SVG do the same.

import { clustersOf } from "./clusters.js";

/** The folders of a package that contain sources. */
const OF_SOURCES = ["src", "tests", "examples", "benches"];

/** The least part of a function's name that is worth showing. */
const LEAST_OF_FUNCTION = 10;

/** Returns the number of characters. */
const widthOf = (text) => clustersOf(text).length;

const keepEnd = (text, room) => {
  const all = clustersOf(text);
  if (all.length <= room) return text;
  return `…${all.slice(all.length - Math.max(0, room - 1)).join("")}`;
};

const keepBegin = (text, room) => {
  const all = clustersOf(text);
  if (all.length <= room) return text;
  return room > 0 ? `${all.slice(0, room - 1).join("")}…` : "";
};

/** Returns the index of the package among the folders of a place; −1 if it isn't known. */
const packageOf = (folders) => {
  const last = (names) => folders.findLastIndex((name) => names.includes(name));
  let at = last(OF_SOURCES.slice(0, 1));
  if (at < 0) at = last(OF_SOURCES.slice(1));
  if (at > 0) return at - 1;
  return folders.length > 1 && !OF_SOURCES.includes(folders[0]) ? 0 : -1;
};

/** Splits a place into its parts; null if the text isn't a place. */
const partsOf = (text) => {
  // Several places.
  if (text.includes(" + ")) return null;
  const coreAt = Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\")) + 1;
  const at = text.slice(0, coreAt).lastIndexOf(" at ");
  const begin = at < 0 ? 0 : at + " at ".length;
  const core = /^[^:]*:\d+(?::\d+)?/.exec(text.slice(coreAt))?.[0];
  if (core === undefined || begin === coreAt) return null;
  const path = text.slice(begin, coreAt);
  return { before: text.slice(0, begin), path, folders: path.split(/[/\\]/).filter((name) => name !== ""), core, behind: text.slice(coreAt + core.length) };
};

/** Returns the forms of a place, from the whole to its file alone. */
const candidatesOf = ({ path, folders, core, behind }) => {
  const tail = core + behind;
  const joined = (names) => names.map((name) => `${name}/`).join("");
  const found = [path + tail];
  const at = packageOf(folders);
  if (at >= 0) {
    if (at > 0) found.push(`…/${joined(folders.slice(at))}${tail}`);
    for (let i = at + 2; i <= folders.length; i++) found.push(`${folders[at]}/…/${joined(folders.slice(i))}${tail}`);
  } else {
    for (let i = 1; i < folders.length; i++) found.push(`…/${joined(folders.slice(i))}${tail}`);
  }
  return [...found, `…/${tail}`, tail];
};

/**
 * Shortens a place ("axum-0.8.9/src/serve/mod.rs:389:5"), or a function at one, to at most `room` characters. The part before the
 * package goes first, then its folders from the left, then the package, the column, and the file's name from the left.
 * @param {string} text
 * @param {number} room
 * @returns {string|null} null if the text isn't a place
 */
export const fitPlace = (text, room) => {
  const place = partsOf(text);
  if (place === null) return null;
  const { before, core, behind } = place;
  const candidates = candidatesOf(place);
  const whole = candidates.find((candidate) => widthOf(before + candidate) <= room);
  if (whole !== undefined) return before + whole;
  const left = room - widthOf(core + behind);
  if (before !== "" && left >= LEAST_OF_FUNCTION) return keepEnd(before, left) + core + behind;
  const alone = candidates.find((candidate) => widthOf(candidate) <= room);
  if (alone !== undefined) return alone;
  if (behind !== "" && widthOf(core) < room) return core + keepBegin(behind, room - widthOf(core));
  return keepEnd(widthOf(core) > room ? core.replace(/(:\d+):\d+$/, "$1") : core, room);
};
