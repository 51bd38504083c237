import { shorten, titleText, visible } from "../format/text.js";
import { awaitOf, isWait } from "../model/awaits.js";
import { sourceOf } from "../model/frames.js";
import { make } from "./dom.js";

// Shows where a task waits: the functions from its own down to what they wait for.

/** The greatest depth of a chain that is listed. */
const DEEPEST_CHAIN = 100;

/** Builds the part of the panel for the wait that a transition begins; empty if it begins none. */
export const chainParts = (section, transition) => {
  if (!isWait(section, transition)) return [];
  const place = awaitOf(section, transition);
  const heading = make("h2", {}, "Where it waits");
  if (place === null) {
    return [heading, make("p", { class: "hint" }, "Unknown. It is recorded for tasks spawned with tokio_statemap::spawn, and for the root future.")];
  }
  if (place.functions.length === 0) {
    return [heading, make("p", { class: "hint" }, "Nothing holds its waker, so nothing will wake it.")];
  }
  return [heading, awaitList(place.functions, 0)];
};

const awaitList = (functions, depth) =>
  make("ul", { class: "chain" }, ...functions.map((of) => {
    const { frame, name, awaits } = of;
    const source = sourceOf(frame);
    return make("li", { class: frame.origin, title: titleText(`${frame.name} ${source}`) },
      make("span", { class: "function" }, shorten(visible(frame.name), 120)),
      name === null ? null : make("span", {}, ` “${shorten(visible(name), 60)}”`),
      source && make("span", { class: "source" }, shorten(visible(source), 120)),
      awaits.length === 0 || depth === DEEPEST_CHAIN ? null : awaitList(awaits, depth + 1));
  }));
