import { formatCount, formatMoment, formatNs, formatSetting } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { countRows, groupLabel, workerName } from "../model/names.js";
import { isPoll } from "../model/polls.js";
import { detailHint } from "./detail_hint.js";
import { byId, make } from "./dom.js";
import { issueParts } from "./issue_parts.js";
import { labelOfIssue, lineOf } from "./label.js";

// The issues tab: the report's issues in its order, and behind them the long polls that nothing is blamed for; the slider
// of the length from which a poll counts as long.

/** The number that is shown at first. */
const FIRST_SHOWN = 12;
const FIRST_OF_GROUP = 5;
/** The space before a label, in px: the arrow of a group; before its polls, the edge of their list. */
const ARROW = 12;
const LIST_EDGE = 22;
/** The space for the sign that says whether something is blamed. */
const SIGN = 16;
/** The slider goes from here to the run's length, in steps of at most a tenth of a decade. */
const SHORTEST_THRESHOLD = 1000;
const STEPS = 200;

export class IssuesTab {
  /** `actions`: `show(target)`, `zoomTo(target)`. */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.flat = [];
    /** The width of a line, in px, and the labels that are fitted to it. */
    this.width = 0;
    this.labels = [];
    this.all = new Set();
    /** The open groups; null until there are any. */
    this.open = null;
    this.timer = 0;
    this.list = make("div", { id: "issue-list" });
    this.pane = byId("pane-issues");
    this.pane.append(...this.head(), this.list);
    view.on("selected", () => this.mark());
    new ResizeObserver(() => this.fitLabels()).observe(this.pane);
  }

  head() {
    const { view } = this;
    if (!view.model.sections.some((section) => section.isRunning.includes(1))) return [];
    const most = Math.max(view.model.lengthNs, SHORTEST_THRESHOLD * 10, view.model.meta.long);
    this.scale = Math.log(most / SHORTEST_THRESHOLD);
    this.slider = make("input", { id: "threshold", type: "range", min: 0, max: STEPS, step: 1, "aria-label": "Length from which a poll counts as long" });
    this.output = make("output", { id: "threshold-value", for: "threshold" });
    this.slider.addEventListener("input", () => {
      const ns = niceNs(SHORTEST_THRESHOLD * Math.exp((Number(this.slider.value) / STEPS) * this.scale));
      this.showThreshold(ns);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => view.setThreshold(ns), 60);
    });
    this.showThreshold(view.threshold, true);
    view.on("threshold", () => this.showThreshold(view.threshold, document.activeElement !== this.slider));
    return [
      make("div", { class: "slider" }, make("label", { for: "threshold" }, "Threshold of long polls"), this.output, this.slider),
      make("div", { class: "step" },
        make("button", { id: "issue-previous", type: "button", "aria-label": "Previous issue", title: "p", onclick: () => this.step(-1) }, "Previous"),
        make("button", { id: "issue-next", type: "button", "aria-label": "Next issue", title: "n", onclick: () => this.step(1) }, "Next"),
        make("span", { class: "hint" }, make("kbd", {}, "p"), " ", make("kbd", {}, "n"), " step, ", make("kbd", {}, "Enter"), " zooms")),
    ];
  }

  showThreshold(ns, moveSlider = false) {
    this.output.textContent = formatSetting(ns);
    this.slider.setAttribute("aria-valuetext", formatSetting(ns));
    if (moveSlider) this.slider.value = String(Math.round((Math.log(Math.max(ns, SHORTEST_THRESHOLD) / SHORTEST_THRESHOLD) / this.scale) * STEPS));
  }

  /** Lists what `findIssues` found. */
  draw() {
    const { issues, model } = this.view;
    if (issues === null) {
      this.list.replaceChildren(make("p", { class: "hint" }, "Looking for issues …"));
      return;
    }
    this.flat = [];
    this.labels = [];
    this.width = lineOf(this.pane);
    const content = [...this.blamed(issues.blamed ?? []), ...this.longestReady(issues.ready)];
    if (content.length === 0) {
      const why = model.sections.some((section) => section.isRunning.includes(1))
        ? `No poll took longer than ${formatSetting(this.view.threshold)}${model.meta.readyKnown ? ", and no task was ready for that long" : ""}. Lower the threshold to list shorter ones.`
        : model.sections.some((section) => section.kind === "workers")
          ? "Tasks were not recorded, so there are no polls to list. The Selection tab shows how long each worker was awake."
          : "This data has no polls, so it has no issues. The Selection tab shows the time in each state.";
      content.push(make("p", { class: "hint" }, why));
    } else if (!model.meta.readyKnown && model.meta.tasksKnown) {
      content.push(make("p", { class: "hint" }, "Ready times were not recorded, so it is unknown which tasks had to wait for a worker."));
    }
    const hint = detailHint(model);
    this.list.replaceChildren(...(hint === null ? [] : [hint]), ...content);
    this.mark();
  }

  /** Returns a label that shares its line with `length`, behind `before` px of other content. */
  label(text, length, before) {
    const label = { node: new Text(), text, length, before };
    this.labels.push(label);
    this.fit(label);
    return label.node;
  }

  fit({ node, text, length, before }) {
    node.data = labelOfIssue(text, length, this.width - before);
  }

  /** Fits the labels again if the width of lines has changed. Those of a hidden pane are fitted once it is shown. */
  fitLabels() {
    const width = lineOf(this.pane);
    if (this.pane.clientWidth === 0 || width === this.width) return;
    this.width = width;
    for (const label of this.labels) this.fit(label);
  }

  longestReady(spans) {
    if (spans.length === 0) return [];
    const title = "Longest ready";
    const shown = this.all.has("ready") ? spans : spans.slice(0, FIRST_SHOWN);
    return [
      make("h2", {}, title, make("span", { class: "count" }, spans.length >= 100 ? "the first 100" : String(spans.length))),
      make("div", { role: "group", "aria-label": title }, ...shown.map((span) => this.ready(span, spans[0].length))),
      ...(shown.length < spans.length ? [this.showAll("ready", `all ${spans.length}`)] : []),
    ];
  }

  /** Builds the button that lists all of a part. */
  showAll(key, what) {
    return make("button", { type: "button", class: "more-issues", onclick: () => { this.all.add(key); this.draw(); } }, `Show ${what}`);
  }

  /** Lists the issues, the first of which is open, and then the long polls that are in none of them. */
  blamed(groups) {
    if (groups.length === 0) return [];
    this.open ??= new Set([groups[0].key]);
    const isIssue = ({ kind }) => kind === "reported" || kind === "culprit";
    const issues = groups.filter(isIssue), others = groups.filter((group) => !isIssue(group));
    const most = Math.max(...groups.filter(({ kind }) => kind !== "reported").map(({ ns }) => ns), 1);
    const listed = (title, some) => (some.length === 0 ? [] : [
      make("h2", {}, title, make("span", { class: "count" }, formatCount(some.length))),
      ...some.map((group) => this.issue(group, most)),
    ]);
    return [...listed("Issues, the worst first", issues), ...listed("Other long polls", others)];
  }

  /** Builds an issue or a group of polls; its details and its polls or waits, if it is open. */
  issue(group, most) {
    const { key, label, text, list, polls, spots = [], noun = "poll" } = group;
    const isOpen = this.open.has(key);
    const header = this.header(group, most, isOpen);
    const all = list.length > 0 ? list : spots;
    const shown = this.all.has(key) ? all : all.slice(0, FIRST_OF_GROUP);
    if (!isOpen) {
      for (const { section, transition } of shown) this.flat.push({ target: { kind: "span", section, transition }, button: null, group: key });
      return header;
    }
    const longest = Math.max(1, ...list.map(({ own }) => own), spots[0]?.length ?? 1);
    const build = list.length > 0 ? (poll) => this.poll(poll, longest, group.kind !== "place" && group.kind !== "unknown", isUnblamedGroup(group)) : (spot) => this.spot(spot, longest);
    const rest = shown.length < all.length
      ? this.showAll(key, all.length < polls ? `the longest ${all.length}` : `all ${all.length}`)
      : polls > all.length && all.length > 0 ? make("p", { class: "hint" }, `${formatCount(polls - all.length)} more ${polls - all.length === 1 ? `${noun} is` : `${noun}s are`} not listed.`) : null;
    return make("div", {}, header, make("div", { class: "of-group", role: "group", "aria-label": label || group.title },
      ...(text === undefined ? [] : issueParts(group)), ...shown.map(build), all.length === 0 ? this.ofGroup(group) : null, rest));
  }

  header(group, most, isOpen) {
    const { key, kind, label, source, title, blockingCause, polls, ns, name, noun } = group;
    const fill = make("span");
    fill.style.width = `${Math.max(1, (ns / most) * 100).toFixed(1)}%`;
    const length = formatNs(ns);
    const count = plural(polls, noun ?? "poll", formatCount(polls));
    const why = { machine: "not caused by the program", unknown: "no stack was sampled, so the cause is unknown", off: "these held no worker", place: "shorter than the report's threshold" }[kind] ?? blockingCause;
    const about = kind === "reported" ? null : why ?? "cause unknown";
    const run = this.nameOfRun(group);
    const sign = kind === "reported" ? null : make("span", { class: `swatch long${isUnblamedGroup(group) ? " barred" : ""}`, "aria-hidden": "true" });
    return make("button", {
      type: "button", class: `issue blame ${kind}${isUnblamedGroup(group) ? " unblamed" : ""}`, "data-group": key, "data-number": polls, "aria-expanded": isOpen, title: titleText(title),
      onclick: () => this.toggle(key),
    },
    make("span", { class: "place" }, make("span", { class: "fold", "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "), sign, this.label(label || name, length, sign === null ? ARROW : ARROW + SIGN)),
    make("span", { class: "length" }, length),
    make("span", { class: "about" }, run && `${run} · `, name === undefined ? null : make("b", { class: "kind" }, name), name === undefined ? null : " · ", source && `${shorten(source, 44)} · `, make("b", {}, count)),
    about === null ? null : make("span", { class: "about" }, shorten(visible(about), 100)),
    kind === "reported" ? null : make("span", { class: "bar" }, fill));
  }

  /** Returns the name of the run of an issue if there are several runs; otherwise an empty text. */
  nameOfRun({ key }) {
    const { model } = this.view;
    // The second part of a key is the section.
    return shorten(visible(model.runs[model.sections[Number(key.split(".")[1])].run].name), 40);
  }

  /** Builds the button of a poll or a wait that shows an issue. */
  spot(spot, longest) {
    const section = this.view.model.sections[spot.section];
    return this.button({ kind: "span", section: spot.section, transition: spot.transition }, "",
      shorten(visible(section.name(spot.row)), 30), formatNs(spot.length), `since ${formatMoment(spot.start)}`, spot.length / longest, isPoll(section, spot.transition) ? "" : " ready");
  }

  /** Builds the button of a group of tasks, for an issue without a poll or a wait to show. */
  ofGroup({ section, group }) {
    if (group === undefined || group < 0) return null;
    const of = this.view.model.sections[section].groups[group];
    return this.button({ kind: "group", section, group }, "", groupLabel(of), "", countRows(this.view.model.sections[section], of.rows), 1, "");
  }

  toggle(key) {
    if (!this.open.delete(key)) this.open.add(key);
    this.draw();
    [...this.list.querySelectorAll("[data-group]")].find((button) => button.dataset.group === key)?.focus();
  }

  button(target, classes, place, length, about, share, bar) {
    const index = this.flat.length;
    const fill = make("span");
    fill.style.width = `${Math.max(1, share * 100).toFixed(1)}%`;
    const button = make("button", {
      type: "button", class: `issue${classes}`, "data-issue": index, title: titleText(place),
      onclick: () => this.choose(index),
    },
    make("span", { class: "place" }, this.label(place, length, LIST_EDGE)),
    make("span", { class: "length" }, length),
    make("span", { class: "about" }, about),
    make("span", { class: `bar${bar}` }, fill));
    this.flat.push({ target, button });
    return button;
  }

  /** `isNamed`: the heading above says more than the spawn location; `isUnblamed`: nothing is blamed. */
  poll(poll, longest, isNamed = false, isUnblamed = false) {
    const { model } = this.view;
    const section = model.sections[poll.section];
    const isCut = poll.cutLeft || (poll.cutRight && !poll.handed);
    const on = poll.worker === null ? "not on a worker" : workerName(model, section, poll.worker);
    const wall = formatNs(poll.held) === formatNs(poll.own) ? "" : ` · wall time ${formatNs(poll.held)}`;
    return this.button({ kind: "span", section: poll.section, transition: poll.transition }, `${poll.worker === null ? " off" : ""}${isUnblamed ? " unblamed" : ""}`,
      isNamed ? `at ${formatMoment(poll.start)}` : groupLabel(section.groups[poll.group]), `${isCut ? "≥ " : ""}${formatNs(poll.own)}`,
      `${shorten(visible(section.name(poll.row)), 30)}${wall} · ${on}${isNamed ? "" : ` · at ${formatMoment(poll.start)}`}${poll.atEnd && !poll.handed ? " · still running at the end" : ""}`,
      poll.own / longest, "");
  }

  ready(span, longest) {
    const { model } = this.view;
    const section = model.sections[span.section];
    const then = span.endsInPollOn === null ? "" : ` · then on ${workerName(model, section, span.endsInPollOn)}`;
    return this.button({ kind: "span", section: span.section, transition: span.transition }, "",
      groupLabel(section.groups[span.group]), formatNs(span.length),
      `${shorten(visible(section.name(span.row)), 30)}${span.spawned ? " · since spawn" : ""} · at ${formatMoment(span.start)}${then}`,
      span.length / longest, " ready");
  }

  /** A first click shows the issue, a second one zooms to it. */
  choose(index) {
    const { target, button } = this.flat[index];
    if (button.getAttribute("aria-current") === "true") this.actions.zoomTo(target);
    else this.actions.show(target);
  }

  current() {
    const { selection } = this.view;
    return this.flat.findIndex(({ target }) => isSameTarget(target, selection));
  }

  step(by) {
    if (this.flat.length === 0) return;
    const at = this.current();
    const to = at < 0 ? (by > 0 ? 0 : this.flat.length - 1) : (at + by + this.flat.length) % this.flat.length;
    const { target, group, button } = this.flat[to];
    if (button === null) {
      // It is in a closed group. Opening that keeps the order of the list.
      this.open.add(group);
      this.draw();
    }
    this.actions.show(target);
    this.flat[to].button?.scrollIntoView({ block: "nearest" });
  }

  mark() {
    const at = this.current();
    this.flat.forEach(({ button }, index) => {
      if (button === null) return;
      if (index === at) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
  }
}

/** Returns whether nothing is blamed for a group of polls. */
const isUnblamedGroup = ({ kind }) => ["machine", "unknown", "place", "off"].includes(kind);

/** Returns whether two selections are the same. */
const isSameTarget = (a, b) =>
  a !== null && b !== null && a.kind === b.kind && a.section === b.section &&
  a.transition === b.transition && a.row === b.row && a.group === b.group && a.t0 === b.t0 && a.t1 === b.t1;

/** Rounds to two significant digits. */
const niceNs = (ns) => Number(ns.toPrecision(2));
