// Functions, as the data names them.

/** @typedef {{name: string, file: string|null, line: number, origin: string}} StackFrame `line`: 0 if unknown */

/** The origins of functions, by their numbers in the data. */
const ORIGINS = ["program", "dependency", "std", "runtime", "system"];

/**
 * @param {{names: string[], frames: [number, number, number, number][]}} data
 * @returns {StackFrame[]}
 */
export const readFrames = ({ names, frames }) =>
  frames.map(([name, file, line, origin]) =>
    ({ name: names[name], file: file > 0 ? names[file - 1] : null, line, origin: ORIGINS[origin] ?? "system" }));

/**
 * Returns a function's name without its path: "render_invoice". Paths within brackets are kept.
 * @param {string} name
 * @returns {string}
 */
export function shortName(name) {
  const kind = name.startsWith("async ") ? "async " : "";
  let from = kind.length, depth = 0;
  for (let i = from; i < name.length; i++) {
    if ("<({[".includes(name[i])) depth++;
    else if (">)}]".includes(name[i]) && name[i - 1] !== "-") depth = Math.max(0, depth - 1);
    else if (depth === 0 && name.startsWith("::", i)) from = i + 2;
  }
  return kind + name.slice(from);
}

/** Returns "src/shop.rs:21"; an empty text if it isn't known. */
export const sourceOf = ({ file, line }) => (file === null ? "" : line > 0 ? `${file}:${line}` : file);
