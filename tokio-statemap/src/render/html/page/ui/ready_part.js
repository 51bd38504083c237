import { formatNs } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { readyMeanwhile } from "../model/ready_meanwhile.js";
import { make } from "./dom.js";

// Says why a worker was parked while tasks were ready.

/** Builds the part of the panel for a span of a worker; empty if no task was ready for long meanwhile. `show(target)` selects a span. */
export const readyPart = (section, gaps, transition, show) => {
  const found = readyMeanwhile(section, gaps, transition);
  if (found.length === 0) return [];
  const { tasks } = section.workerPolls;
  const link = (of, text) => make("button", {
    type: "button", class: "step", title: titleText(text), onclick: () => show({ kind: "span", section: tasks.index, transition: of }),
  }, shorten(text, 60));
  const nameOf = (of) => visible(tasks.name(tasks.rowOf(of)));
  const rows = found.map(({ transition: of, ns, by, isHeld }) => make("tr", {},
    make("td", {}, link(of, nameOf(of)), by < 0 ? null : link(by, `${isHeld ? "held up" : "woken"} by ${nameOf(by)}`)),
    make("td", {}, formatNs(ns))));
  const why = found.some(({ isHeld }) => isHeld)
    ? "Held up: the task that a poll wakes last is kept for the same worker, so that no other worker takes it while that poll goes on."
    : "A worker that is parked must be woken to take a task.";
  return [
    make("h2", {}, "Ready meanwhile"),
    make("table", { class: "totals path" }, make("tbody", {}, ...rows)),
    make("p", { class: "hint" }, why),
  ];
};
