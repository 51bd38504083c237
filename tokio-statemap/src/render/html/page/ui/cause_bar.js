import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { plural } from "../format/text.js";
import { make } from "./dom.js";

// A bar that shows what a poll spent its time on.

/** Returns the parts of a cause: key, name, ns. */
const causeParts = ({ onCpu, blocked, delay, stolen, unknown }) => [
  ["computed", "computed", onCpu], ["blocked", "blocked", blocked], ["delay", "waited for a processor", delay], ["stolen", "taken by the host", stolen],
  ["unknown", "off the processor, cause unknown", unknown],
];

/** Builds the bar of a poll's cause, with a legend. */
export const causeBar = (cause) => {
  const parts = causeParts(cause);
  const all = parts.reduce((sum, [, , ns]) => sum + ns, 0);
  const some = parts.filter(([, , ns]) => ns > 0);
  const bars = some.map(([key, name, ns]) => {
    const bar = make("span", { class: `cause-${key}`, title: `${name}: ${formatNs(ns)}` });
    bar.style.width = `${(ns / all) * 100}%`;
    return bar;
  });
  const { faults } = cause;
  return [
    make("div", { class: "cause", role: "img", "aria-label": some.map(([, name, ns]) => `${name} ${formatNs(ns)}`).join(", ") }, ...bars),
    make("ul", { class: "cause-legend" }, ...some.map(([key, name, ns]) =>
      make("li", { "data-cause": key, "data-ns": ns }, make("span", { class: `swatch cause-${key}` }), `${name} `, make("b", {}, formatNs(ns)), make("span", { class: "share" }, formatShare(ns / all))))),
    faults > 0 ? make("p", { class: "hint" }, `${plural(faults, "page", formatCount(faults))} of memory had to be read from disk.`) : null,
    cause.delay + cause.stolen > 0 ? make("p", { class: "hint" }, "In the picture, what the machine took is hatched at the poll's end: only the amount is known, not when.") : null,
  ];
};
