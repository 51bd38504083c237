import { shorten, titleText, visible } from "../format/text.js";
import { changesOf } from "../model/periods.js";
import { make } from "./dom.js";

// Shows what differs in a selected period from the times before and after it.

const TITLES = { running: "Tasks in polls", ready: "Tasks ready", waiting: "Tasks waiting" };

/** Builds the part of the panel for a section. It takes a while to count, so a button asks for it. */
export const periodsPart = (view, section, t0, t1) => {
  const part = make("div", { class: "compared", tabindex: "-1" }, make("button", { type: "button", class: "compare", onclick: () => {
    part.replaceChildren(...comparison(view, section, t0, t1));
    part.focus();
  } }, "Compare with before and after"));
  return part;
};

const comparison = (view, section, t0, t1) => {
  const { changes, isKept, isCounted, areWaitsCounted } = changesOf(view.model, section, t0, t1);
  const hint = (text) => make("p", { class: "hint" }, text);
  if (!isKept) return [hint("Nothing is kept of this time, or of the time before and after it.")];
  if (!isCounted) return [hint("There are too many tasks, and gaps in the recording, to compare.")];
  const left = areWaitsCounted ? [] : [hint("Waits are not compared: there are too many.")];
  if (changes.length === 0) return [hint("Nothing differs."), ...left];
  const heading = (text) => make("th", { scope: "col" }, text);
  const tables = Object.entries(TITLES).flatMap(([kind, title]) => {
    const of = changes.filter((change) => change.kind === kind);
    if (of.length === 0) return [];
    return make("table", { class: "periods" },
      make("thead", {}, make("tr", {}, heading(title), heading("before"), heading("during"), heading("after"))),
      make("tbody", {}, ...of.map(({ label, average }) => make("tr", {},
        make("th", { scope: "row", title: titleText(label) }, shorten(visible(label), 40)), ...average.map((tasks) => make("td", {}, averageText(tasks)))))));
  });
  return [make("h2", {}, "What differs", make("span", { class: "count" }, "on average at a time")), ...tables, ...left];
};

const averageText = (tasks) => (tasks === null ? "–" : tasks.toFixed(tasks < 10 ? 2 : tasks < 100 ? 1 : 0));
