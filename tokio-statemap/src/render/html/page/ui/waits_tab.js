import { formatCount, formatNs } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { awaitOf, longestWait } from "../model/awaits.js";
import { detailHint } from "./detail_hint.js";
import { byId, make } from "./dom.js";
import { labelInPanel } from "./label.js";
import { SortedTable } from "./sorted_table.js";

// The waits tab: where tasks waited, by line, and which still waited at the end.

/** The most tasks that still waited that are listed. */
const MOST_STILL = 100;

/** The columns, see `SortedTable`. */
const WAIT_COLUMNS = [
  ["Times", "How often a task waited there", ({ line }) => line.times, ({ line }) => formatCount(line.times)],
  ["Total", "Time that tasks waited there, in sum", ({ line }) => line.total, ({ line }) => formatNs(line.total)],
  ["Longest", "The longest wait", ({ line }) => line.longest, ({ line }) => formatNs(line.longest)],
  ["p50", "Median of the waits", ({ line }) => line.p50, ({ line }) => formatNs(line.p50)],
  ["p99", "99th percentile of the waits", ({ line }) => line.p99, ({ line }) => formatNs(line.p99)],
  ["Now", "Number of tasks that still waited there at the end", ({ line }) => line.now, ({ line }) => formatCount(line.now)],
];

export class WaitsTab {
  /** `actions`: `show(target)`. */
  constructor(view, actions) {
    this.view = view;
    this.actions = actions;
    this.sections = view.model.sections.filter(({ awaits }) => awaits !== null);
    this.table = new SortedTable({ columns: WAIT_COLUMNS, sort: 1, nameOf: (row) => this.nameOf(row), redraw: () => this.draw() });
    this.draw();
  }

  draw() {
    const rows = this.sections.flatMap((section) => section.awaits.lines.map((line) => ({ section, line })));
    const still = this.sections.flatMap((section) => section.awaits.still.map((of) => ({ section, of })));
    const notes = this.sections.flatMap(({ awaits }) => awaits.notes).map((note) => make("p", { class: "hint" }, note));
    const none = still.length > 0 ? [] : [make("p", { class: "hint" }, "No line is known at which a task waited.")];
    const parts = rows.length === 0
      ? [...none, ...notes]
      : [make("p", { class: "hint" }, "Click a line to show the longest wait there."), ...this.table.draw(rows), ...notes];
    if (still.length > 0) {
      parts.push(
        make("h2", {}, "Still waiting at the end", make("span", { class: "count" }, plural(still.length, "place", formatCount(still.length)))),
        ...still.slice(0, MOST_STILL).map((each) => this.still(each)));
      if (still.length > MOST_STILL) parts.push(make("p", { class: "hint" }, `${formatCount(still.length - MOST_STILL)} more are not listed.`));
    }
    const hint = detailHint(this.view.model);
    byId("pane-waits").replaceChildren(...(hint === null ? [] : [hint]), ...parts);
  }

  nameOf({ section, line }) {
    return make("button", {
      type: "button", title: titleText(line.frame.name), "data-line": line.label,
      onclick: () => {
        const transition = longestWait(section, line);
        if (transition >= 0) this.actions.show({ kind: "span", section: section.index, transition });
      },
    }, labelInPanel(line.label), this.heldBy(line));
  }

  /** Says where the holders of a lock, or those that took something out of a channel, waited meanwhile. */
  heldBy({ holder }) {
    if (holder === null) return null;
    const [label, isForRoom, sentence] = holder;
    const who = isForRoom ? "full while its receiver waited at" : "held while waiting at";
    return make("span", { class: "source", title: titleText(sentence) }, `${who} ${shorten(visible(label), 40)}`);
  }

  still({ section, of }) {
    // A task that was dropped with its runtime has an end.
    const end = section.rowFirst[of.row + 1] - 1;
    const last = section.isEnd[section.state[end]] ? end - 1 : end;
    // A task of a LocalSet has no row: it is shown by that of the task in whose polls it is polled.
    const [local, at, wokenBy] = of.local ?? [null, 0, null];
    const place = local === null ? awaitOf(section, last) : at > 0 ? section.awaits.places[at - 1] : null;
    const host = section.name(of.row);
    const inHost = local === null ? "" : ` in ${shorten(visible(host), 30)}`;
    const woken = wokenBy === null ? "" : `, last woken by ${shorten(visible(wokenBy), 30)}`;
    const others = of.tasks === 1 ? "" : ` and ${plural(of.tasks - 1, "other task", formatCount(of.tasks - 1))}`;
    return make("button", {
      type: "button", class: "issue", "data-still": of.row, title: titleText(local === null ? host : `${local}, polled in ${host}`),
      onclick: () => this.actions.show({ kind: "span", section: section.index, transition: last }),
    },
    make("span", { class: "place" }, `${shorten(visible(local ?? host), 30)}${others}${inHost}${woken}`),
    make("span", { class: "length" }, formatNs(of.for)),
    make("span", { class: "about" }, of.forgotten ? make("b", {}, "forgotten · ") : null, place === null ? "unknown place" : shorten(visible(place.label), 80)));
  }
}
