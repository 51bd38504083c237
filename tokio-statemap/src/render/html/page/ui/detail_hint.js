import { formatNs } from "../format/numbers.js";
import { keptNs } from "../model/lanes.js";
import { make } from "./dom.js";

/** Says how much of the run a list covers, if not all of it is kept in detail; null otherwise. */
export const detailHint = (model) => {
  const { meta, lengthNs } = model;
  if (!meta.sums) return null;
  return make("p", { class: "hint" }, `Of what is kept in detail: ${formatNs(keptNs(model, 0, lengthNs))} of ${formatNs(lengthNs)}.`);
};
