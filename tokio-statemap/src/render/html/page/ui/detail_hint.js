import { formatNs } from "../format/numbers.js";
import { keptNs } from "../model/lanes.js";
import { make } from "./dom.js";

/** What a list is of, where not all of the run is kept in detail; null where all is. */
export const detailHint = (model) => {
  const { meta, lengthNs } = model;
  if (!meta.sums) return null;
  return make("p", { class: "hint" }, `Of what is kept in detail: ${formatNs(keptNs(model, 0, lengthNs))} of ${formatNs(lengthNs)}.`);
};
