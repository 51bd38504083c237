import { formatMoment, formatNs } from "../format/numbers.js";
import { fitPlace } from "../format/place.js";
import { shorten, titleText, visible } from "../format/text.js";
import { changesBetween, changesOf } from "../model/periods.js";
import { spanText } from "../draw/describe.js";
import { make } from "./dom.js";

// Shows what differs in a selected period from the times before and after it, or from another period that was kept.

const TITLES = { held: "Workers held by", running: "Tasks in polls", ready: "Tasks ready", waiting: "Tasks waiting" };

/** The most characters of a function, or of a line. */
const MOST_OF_CHANGE = 26;

/** The period that others are compared with; null if none was kept. @type {[number, number]|null} */
let keptPeriod = null;

/** Builds the part of the panel for a section. It takes a while to count, so buttons ask for it. */
export const periodsPart = (view, section, period) => {
  const part = make("div", { class: "compared", tabindex: "-1" });
  const show = (names, of, about = null) => {
    part.replaceChildren(...comparison(names, of, about));
    part.focus();
  };
  const button = (text, onclick) => make("button", { type: "button", class: "compare", onclick }, text);
  const kept = keptPeriod;
  const keep = button("Compare with another period …", () => {
    keptPeriod = period;
    keep.replaceWith(make("p", { class: "hint" }, "This period is kept. Select another one, to compare the two."));
    part.focus();
  });
  part.append(
    button("Compare with before and after", () => show(["before", "during", "after"], changesOf(view.model, section, period))), " ",
    ...(kept === null || isSamePeriod(kept, period) ? [] : [button(`Compare with ${nameOfPeriod(kept)}`, () =>
      show(["kept", "selected"], changesBetween(view.model, section, [kept, period], 1), `Kept: ${spanText(...kept)}. Selected: ${spanText(...period)}.`)), " "]),
    keep);
  return part;
};

const isSamePeriod = (one, other) => one[0] === other[0] && one[1] === other[1];

const nameOfPeriod = ([t0, t1]) => `${formatNs(t1 - t0)} at ${formatMoment(t0)}`;

const comparison = (names, { changes, isKept, isCounted, areWaitsCounted, arePollsCounted }, about) => {
  const hint = (text) => make("p", { class: "hint" }, text);
  if (!isKept) return [hint("Nothing is kept of this time, or of what it is compared with.")];
  if (!isCounted) return [hint("There are too many tasks, and gaps in the recording, to compare.")];
  const left = [
    areWaitsCounted ? null : hint("Waits are not compared: there are too many."),
    arePollsCounted ? null : hint("Of the polls that held workers, only the longest are counted."),
  ].filter(Boolean);
  if (changes.length === 0) return [hint("Nothing differs."), ...left];
  const heading = (text) => make("th", { scope: "col" }, text);
  const tables = Object.entries(TITLES).flatMap(([kind, title]) => {
    const of = changes.filter((change) => change.kind === kind);
    if (of.length === 0) return [];
    return make("table", { class: "periods" },
      make("thead", {}, make("tr", {}, heading(title), ...names.map(heading))),
      make("tbody", {}, ...of.map(({ label, average }) => make("tr", {},
        make("th", { scope: "row", title: titleText(label) }, fitPlace(visible(label), MOST_OF_CHANGE) ?? shorten(visible(label), MOST_OF_CHANGE)), ...average.map((tasks) => make("td", {}, averageText(tasks)))))));
  });
  return [make("h2", {}, "What differs", make("span", { class: "count" }, "on average at a time")), ...(about === null ? [] : [hint(about)]), ...tables, ...left];
};

const averageText = (tasks) => (tasks === null ? "–" : tasks.toFixed(tasks < 10 ? 2 : tasks < 100 ? 1 : 0));
