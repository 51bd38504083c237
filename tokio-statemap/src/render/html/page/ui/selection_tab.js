import { formatCount, formatNs, formatShare } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { pathOfSelection } from "../model/critical_path.js";
import { excerptOfGroup } from "../model/excerpts.js";
import { shortName, sourceOf } from "../model/frames.js";
import { keptNs, recordedTotals } from "../model/lanes.js";
import { countRows, groupLabel, groupName, groupText, workerName } from "../model/names.js";
import { isPoll, ownNs, worstPolls } from "../model/polls.js";
import { tagTotals, totalsOfGroup, totalsOfRow } from "../model/totals.js";
import { wakingStep, wokenSteps } from "../model/wake_steps.js";
import { wakerOf } from "../model/wakers.js";
import { workerHeld, workerOfPoll } from "../model/worker_polls.js";
import { stretchInfo, sumUp } from "../model/sums.js";
import { describeSpan, lengthText, momentText, spanText } from "../draw/describe.js";
import { longestText, shareText } from "../draw/sums.js";
import { chainParts } from "./chain.js";
import { Distributions } from "./distributions.js";
import { byId, make } from "./dom.js";
import { excerptPart } from "./excerpt.js";
import { pathParts } from "./path_part.js";
import { periodsPart } from "./periods_part.js";
import { readyPart } from "./ready_part.js";
import { tagTable, totalsTable } from "./totals_table.js";
import { whyParts } from "./why_part.js";

// The selection tab: all that is known of what is selected, or of the whole view if nothing is.

/** The most tasks that are listed of those that a poll woke. */
const MOST_WOKEN = 8;

export class SelectionTab {
  /** `actions`: `show(target)`, `zoomTo(target)`, `clear`. */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.shown = null;
    this.compared = null;
    this.distributions = new Distributions(view.model, actions.show);
    for (const what of ["selected", "counted", "tab", "colours"]) view.on(what, () => this.draw());
  }

  draw() {
    if (this.view.tab !== "selection") return;
    const { selection, model } = this.view;
    const section = selection?.section === undefined ? null : model.sections[selection.section];
    const parts = selection === null ? this.wholeView()
      : selection.kind === "range" ? this.range(selection)
        : selection.kind === "stretch" ? this.stretch(selection)
        : selection.kind === "group" ? this.group(section, section.groups[selection.group])
          : selection.kind === "row" ? this.row(section, selection.row)
            : [...this.span(section, selection.transition), ...this.row(section, section.rowOf(selection.transition), true)];
    byId("pane-selection").replaceChildren(...parts.filter((part) => part !== null));
  }

  /** Draws it anew, with what was kept, too. */
  redraw() {
    this.shown = null;
    this.draw();
  }

  link(text, target) {
    return make("button", { type: "button", title: titleText(text), onclick: () => this.actions.show(target) }, shorten(text, 120));
  }

  facts(pairs) {
    return make("dl", { class: "facts" }, ...pairs.filter((pair) => pair !== null && pair[1] !== null)
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  }

  acts(target) {
    return make("div", { class: "acts" },
      make("button", { id: "selection-zoom", type: "button", onclick: () => this.actions.zoomTo(target) }, "Zoom to it"),
      make("button", { id: "selection-clear", type: "button", onclick: () => this.actions.clear() }, "Clear"));
  }

  span(section, transition) {
    const { view } = this;
    const span = describeSpan(view, section, transition);
    const worker = workerOfPoll(section, transition);
    const what = isPoll(section, transition) ? "Poll" : `State “${shorten(span.state, 40)}”`;
    const tag = section.tag && section.kind !== "tasks" ? section.tag[transition] : 0;
    return [
      make("p", { class: "selection-title" }, `${what} · ${span.length}`),
      make("p", { class: "selection-sub" }, `of ${shorten(span.name, 80)}`),
      this.facts([
        ["Since", momentText(view, span.start)],
        ["Until", momentText(view, section.endOf(transition))],
        ["Worker", span.worker === null ? (span.offWorkers ? "none (another thread)" : null)
          : worker === null ? workerName(view.model, section, span.worker)
            : this.link(workerName(view.model, section, span.worker), { kind: "row", section: worker.section.index, row: worker.row })],
        this.wokenBy(section, transition),
        this.woke(section, transition),
        tag > 0 ? ["Tag", shorten(visible(section.tags[tag - 1].tag), 200)] : null,
        ...(tag > 0 ? section.tags[tag - 1].fields.slice(0, 20).map(([key, json]) => [shorten(visible(key), 40), shorten(visible(json), 200)]) : []),
      ]),
      this.acts({ kind: "span", section: section.index, transition }),
      ...readyPart(section, view.model.meta.gaps, transition, this.actions.show),
      ...this.kept(section, transition).chain,
      ...this.path(view.selection),
      ...this.kept(section, transition).why,
      ...this.ofCulprit(section, transition),
    ];
  }

  /** Returns who woke the task for a poll; null if that isn't known. */
  wokenBy(section, transition) {
    const waker = wakerOf(section, transition);
    if (waker === null) return null;
    if (waker.row < 0) return ["Woken by", waker.name];
    const poll = wakingStep(section, this.view.model.meta.gaps, transition), row = poll < 0 ? waker.row : section.rowOf(poll);
    const name = row === section.rowOf(transition) ? "itself" : visible(section.name(row));
    return ["Woken by", this.link(name, poll < 0 ? { kind: "row", section: section.index, row } : { kind: "span", section: section.index, transition: poll })];
  }

  /** Returns the tasks that were woken in a poll; null if there are none. */
  woke(section, transition) {
    const { woken: polls } = this.kept(section, transition);
    if (polls.length === 0) return null;
    const name = (poll) => (section.rowOf(poll) === section.rowOf(transition) ? "itself" : visible(section.name(section.rowOf(poll))));
    const links = polls.slice(0, MOST_WOKEN).map((poll) => this.link(name(poll), { kind: "span", section: section.index, transition: poll }));
    const more = polls.length - links.length;
    return ["Woke", make("span", { class: "links" }, ...links, more > 0 ? `and ${formatCount(more)} more` : null)];
  }

  /** Keeps what takes long to find, or may be opened, while the same span is selected. */
  kept(section, transition) {
    const key = `${section.index}.${transition}`;
    if (this.shown?.key !== key) {
      this.shown = {
        key,
        woken: isPoll(section, transition) ? wokenSteps(section, this.view.model.meta.gaps, transition) : [],
        chain: chainParts(section, transition),
        why: whyParts(this.view, section, transition),
      };
    }
    return this.shown;
  }

  /** Shows all polls with the same blamed function as this one. */
  ofCulprit(section, transition) {
    const culprit = section.why?.culprits.findIndex(({ at }) => at.some((poll) => poll.transition === transition)) ?? -1;
    if (culprit < 0) return [];
    const { frame, place } = section.why.culprits[culprit];
    const name = frame === null ? place : `${shortName(frame.name)} ${sourceOf(frame)}`;
    return [
      make("h2", {}, "All polls of the blamed function", make("span", { class: "count", title: titleText(name) }, shorten(visible(name), 40))),
      this.distributions.draw({ kind: "culprit", section: section.index, culprit }, "culprit"),
    ];
  }

  /** Shows the histograms of a task, or of a worker's polls. */
  ofRow(section, row) {
    if (section.kind === "workers") return section.workerPolls === null ? [] : [this.distributions.draw({ kind: "worker", section: section.index, row })];
    return section.isRunning.includes(1) ? [this.distributions.draw({ kind: "row", section: section.index, row })] : [];
  }

  row(section, row, below = false) {
    const { view } = this;
    const { model } = view;
    const name = visible(section.name(row)) || "unnamed";
    const group = section.groups[section.groupOfRow(row)];
    const parent = section.parent[row];
    const [begin, end] = [section.rowBegin(row), section.rowEnd(row)];
    const isOpen = end >= section.lengthNs && !section.isEnd[section.state[section.rowFirst[row + 1] - 1]];
    const description = section.description(row);
    const heading = below ? make("h2", {}, shorten(name, 80)) : make("p", { class: "selection-title" }, shorten(name, 120));
    return [
      heading,
      below ? null : make("p", { class: "selection-sub" }, visible(section.title)),
      this.facts([
        section.kind === "tasks" ? ["Spawned at", section.isRoot[row] ? "the root future" : this.filterLink(section, group)] : null,
        parent >= 0 ? ["Spawned by", this.link(visible(section.name(parent)), { kind: "row", section: section.index, row: parent })] : null,
        description ? ["About", shorten(visible(description), 300)] : null,
        ["Lifetime", `${momentText(view, begin)} to ${isOpen ? "the end" : momentText(view, end)}, ${formatNs(end - begin)}`],
        ...this.pollFacts(section, row),
        ...(section.kind === "workers" ? this.workerFacts(section, row) : []),
      ]),
      this.spawnSource(section, group),
      below ? null : this.acts({ kind: "row", section: section.index, row }),
      make("h2", {}, "Time in each state", make("span", { class: "count" }, "whole lifetime")),
      totalsTable(view, section, totalsOfRow(section, model.meta.gaps, row, 0, model.lengthNs), "Time in each state over its whole lifetime"),
      ...this.path(below ? { kind: "row", section: section.index, row } : this.view.selection),
      ...this.ofRow(section, row),
      ...this.events(section, row),
      ...(section.tag ? tagTable(view, section, rowTags(section, row)) : []),
    ];
  }

  /** Shows the source code around the line that spawned a task. */
  spawnSource(section, group) {
    return excerptPart(excerptOfGroup(this.view.model, section, group), "the spawn location");
  }

  filterLink(section, group) {
    const label = groupLabel(group);
    return make("button", { type: "button", title: titleText(label), onclick: () => this.view.setFilter({ section: section.index, group: group.index }) }, shorten(label, 160));
  }

  pollFacts(section, row) {
    if (!section.isRunning.includes(1)) return [["Changes", formatCount(section.rowFirst[row + 1] - section.rowFirst[row])]];
    let polls = 0;
    for (let i = section.rowFirst[row]; i < section.rowFirst[row + 1]; i++) polls += section.isRunning[section.state[i]];
    const [longest] = worstPolls(section, 1, { row });
    return [
      ["Polls", formatCount(polls)],
      longest === undefined ? null
        : ["Longest poll", this.link(lengthText(this.view, section, longest), { kind: "span", section: section.index, transition: longest })],
    ];
  }

  workerFacts(section, row) {
    const { model } = this.view;
    if (section.workerPolls === null) return [];
    const { tasks, rows } = section.workerPolls;
    const { poll } = rows[row];
    const held = workerHeld(section, row, 0, model.lengthNs);
    const life = keptNs(model, section.rowBegin(row), section.rowEnd(row));
    // If any poll is long by its own doing, the longest one is among these.
    let longest = longestOf(tasks, this.view.longOnWorkers[section.index]?.[row] ?? []);
    if (longest < 0 || ownNs(tasks, longest) <= this.view.threshold) longest = longestOf(tasks, poll);
    return [
      ["Polls", formatCount(poll.length)],
      ["In polls", `${formatNs(held)}${life > 0 ? `, ${formatShare(held / life)}` : ""}`],
      longest < 0 ? null
        : ["Longest poll", this.link(`${lengthText(this.view, tasks, longest)}, ${groupLabel(tasks.groups[tasks.groupOfRow(tasks.rowOf(longest))])}`,
          { kind: "span", section: tasks.index, transition: longest })],
    ];
  }

  events(section, row) {
    const events = section.events.filter(([of]) => of === row).slice(0, 50);
    if (events.length === 0) return [];
    return [make("h2", {}, "Events"), this.facts(events.map(([, time, event, target]) =>
      [momentText(this.view, time), shorten(visible(target === null ? event : `${event} → ${target}`), 200)]))];
  }

  group(section, group) {
    const { view } = this;
    const [t0, t1] = [Math.round(view.t0), Math.round(view.t1)];
    const lanes = group.endLane - group.firstLane;
    const at = { section: section.index, group: group.index };
    const target = { kind: "group", ...at };
    return [
      make("p", { class: "selection-title" }, shorten(groupName(group), 200)),
      group.runs === null ? null : make("p", { class: "selection-sub" }, `Tasks spawned at ${shorten(groupText(group), 300)}`),
      make("p", { class: "selection-sub" }, `${countRows(section, group.rows)} in ${formatCount(lanes)} ${lanes === 1 ? "lane" : "lanes"}`),
      this.acts(target),
      this.spawnSource(section, group),
      make("h2", {}, "Time in each state", make("span", { class: "count" }, "in the view")),
      totalsTable(view, section, totalsOfGroup(section, view.model.meta.gaps, group, t0, t1), "Time in each state in the view"),
      ...(section.isRunning.includes(1) ? [this.distributions.draw({ kind: "group", ...at })] : []),
      ...(section.tag ? tagTable(view, section, tagTotals(section, group.firstLane, group.endLane, t0, t1)) : []),
    ];
  }

  stretch(target) {
    const { view } = this;
    const info = stretchInfo(view.model, target.stretch);
    const stopped = info.to - info.from - info.recorded;
    return [
      make("p", { class: "selection-title" }, `Stretch of the run · ${formatNs(info.to - info.from)}`),
      make("p", { class: "selection-sub" }, spanText(info.from, info.to)),
      this.facts([
        ["In polls", shareText(view, info.share)],
        ["Polls", `${formatCount(info.polls)} began`],
        ["Longest", longestText(info.longest, info.place)],
        ["Tasks", `${formatCount(info.alive)} alive at its end`],
        stopped > 0 ? ["Stopped", `for ${formatNs(stopped)}`] : null,
      ]),
      this.acts(target),
      make("p", { class: "hint" }, "Sums are kept for the whole run; the arrow keys go from stretch to stretch. "
        + "Single tasks are kept for the last events and around the longest polls."),
    ];
  }

  /** Shows the sums of a time of which no detail is kept. */
  summed(t0, t1) {
    const { view } = this;
    if (!view.model.meta.sums) return [];
    const sum = sumUp(view.model, t0, t1);
    if (sum.ns === 0) return [];
    return [
      make("h2", {}, "In sums only", make("span", { class: "count" }, formatNs(sum.ns))),
      this.facts([["In polls", shareText(view, sum.share)], ["Longest poll", longestText(sum.longest, sum.place)]]),
      make("p", { class: "hint" }, keptNs(view.model, t0, t1) > 0 ? "The tables below cover what is kept in detail." : "No detail is kept of this time."),
    ];
  }

  range({ t0, t1 }) {
    return [
      make("p", { class: "selection-title" }, formatNs(t1 - t0)),
      make("p", { class: "selection-sub" }, `Time range: ${spanText(t0, t1)}`),
      this.acts({ kind: "range", t0, t1 }),
      ...this.summed(t0, t1),
      ...this.path(this.view.selection),
      ...this.periods(t0, t1),
      ...this.sections(t0, t1, true),
    ];
  }

  /** Keeps the parts while the same time is selected, so that a comparison stays. */
  periods(t0, t1) {
    const key = `${t0}–${t1}`;
    if (this.compared?.key !== key) {
      const tasks = this.view.model.sections.filter(({ kind }) => kind === "tasks");
      this.compared = { key, parts: tasks.map((section) => periodsPart(this.view, section, [t0, t1])) };
    }
    return this.compared.parts;
  }

  /** Shows what the length of a selected task or wait depended on, or that of the root future in a selected time. */
  path(selection) {
    return pathParts(this.view, pathOfSelection(this.view.model, selection), this.actions.show);
  }

  wholeView() {
    const { view } = this;
    return [
      make("p", { class: "selection-title" }, "The view"),
      make("p", { class: "selection-sub" }, spanText(view.t0, view.t1)),
      make("p", { class: "hint" }, "Nothing is selected. Click to select a poll, task or worker; drag with shift to measure a range of time."),
      ...this.summed(view.t0, view.t1),
      ...this.sections(Math.round(view.t0), Math.round(view.t1)),
    ];
  }

  sections(t0, t1, isRange = false) {
    const { view } = this;
    const isCounted = ({ kind, isRunning }) => isRange && (kind === "tasks" || kind === "other") && isRunning.includes(1);
    if (t1 > t0 && keptNs(view.model, t0, t1) === 0) return [];
    return view.model.sections.filter((section) => section.nLanes > 0).flatMap((section) => [
      make("h2", {}, shorten(visible(section.title), 60), make("span", { class: "count" }, countRows(section, section.nRows))),
      totalsTable(view, section, recordedTotals(section, view.model.meta.gaps, t0, t1), `Time in each state, ${visible(section.title)}`),
      ...(isCounted(section) ? [this.distributions.draw({ kind: "range", section: section.index, t0, t1 }, section.index)] : []),
      ...(section.tag ? tagTable(view, section, tagTotals(section, 0, section.nLanes, t0, t1)) : []),
    ]);
  }
}

/** Returns the longest of some polls; −1 if there are none. */
const longestOf = (section, polls) => {
  let longest = -1;
  for (const i of polls) if (longest < 0 || ownNs(section, i) > ownNs(section, longest)) longest = i;
  return longest;
};

/** Returns how long each tag took in one row. */
const rowTags = (section, row) => {
  const lane = section.rowLane[row];
  return tagTotals(section, lane, lane + 1, section.rowBegin(row), section.rowEnd(row));
};
