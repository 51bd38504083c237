import { shorten, titleText, visible } from "../format/text.js";
import { awaitOf, isWait } from "../model/awaits.js";
import { sourceOf } from "../model/frames.js";
import { make } from "./dom.js";
import { sourceLink } from "./source_link.js";

// Shows where a task waits: the functions from its own down to what they wait for.

/** The greatest depth of a chain that is listed. */
const DEEPEST_CHAIN = 100;

/** The least number of functions of libraries in a row that are folded. */
const LEAST_FOLDED = 3;

/** Builds the part of the panel for the wait that a transition begins; empty if it begins none. */
export const chainParts = (section, transition) => {
  if (!isWait(section, transition)) return [];
  const place = awaitOf(section, transition);
  const heading = make("h2", {}, "Where it waits");
  if (place === null) return [heading, make("p", { class: "hint" }, "Unknown: no place was recorded when this wait began.")];
  if (place.functions.length === 0) {
    return [heading, make("p", { class: "hint" }, "Nothing holds its waker, so nothing will wake it.")];
  }
  return [heading, awaitList(place.functions, 0)];
};

const awaitList = (functions, depth) => make("ul", { class: "chain" }, ...functions.map((first) => {
  const { folded, rest } = foldLibraries(first);
  if (folded.length < LEAST_FOLDED) return awaitItem(first, depth);
  return make("li", {},
    make("details", {}, make("summary", {}, `${folded.length} library functions`), make("ul", { class: "chain" }, ...folded.map((of) => make("li", { class: of.frame.origin }, ...functionParts(of))))),
    depth >= DEEPEST_CHAIN ? null : awaitList([rest], depth + 1));
}));

const awaitItem = (of, depth) => make("li", { class: of.frame.origin }, ...functionParts(of),
  of.awaits.length === 0 || depth === DEEPEST_CHAIN ? null : awaitList(of.awaits, depth + 1));

/** Splits a chain before its first function that isn't of a library, that waits for several things, or that waits for none. */
const foldLibraries = (first) => {
  const folded = [];
  let rest = first;
  while (rest.frame.origin !== "program" && rest.name === null && rest.awaits.length === 1 && folded.length < DEEPEST_CHAIN) {
    folded.push(rest);
    [rest] = rest.awaits;
  }
  return { folded, rest };
};

const functionParts = ({ frame, name }) => [
  make("span", { class: "function", title: titleText(`${frame.name} ${sourceOf(frame)}`) }, shorten(visible(frame.name), 120)),
  name === null ? null : make("span", {}, ` “${shorten(visible(name), 60)}”`),
  sourceLink(frame),
];
