import { formatCount, formatNs, formatSetting, formatShare } from "../format/numbers.js";
import { titleText, visible } from "../format/text.js";
import { keptNs, recordedTotals, recordedWithin } from "../model/lanes.js";
import { rowWords } from "../model/names.js";
import { sumUp } from "../model/sums.js";
import { takenNs } from "../model/why.js";
import { workerHeld } from "../model/worker_polls.js";
import { byId, make, swatchOf } from "./dom.js";

// The legend, which is also a table of the share of each state in the view. The time of all rows together is hard to
// imagine, so it is in the tooltip.

/** The time for which the view must rest before its totals are counted, in ms. */
const SETTLE_MS = 80;

/** Returns which lanes of a section pass the filter, as `sectionTotals` takes it; null for all. */
const filteredLanes = (view, section) => {
  const { filter } = view;
  if (filter === null || filter.section !== section.index) return null;
  const group = section.groups[filter.group];
  return (lane) => lane >= group.firstLane && lane < group.endLane;
};

/** Returns how long the workers were in polls from `t0` to `t1`, in ns, as far as that is kept. */
const heldInSection = (model, section, t0, t1) => {
  let held = 0;
  for (const [from, to] of recordedWithin(model.meta.gaps, t0, t1)) {
    for (let row = 0; row < section.nRows; row++) held += workerHeld(section, row, from, to);
  }
  return held;
};

/** Returns whether the machine took a part of any long poll. */
const isAnyTaken = (model) => model.sections.some(({ why }) => why !== null && [...why.polls.values()].some((poll) => takenNs(poll) > 0));

/** Explains how long polls are drawn, by whether something is blamed for them. */
const longKeys = (running) => [["", "a function is blamed"], [" barred", "no function is blamed"]].map(([as, text]) => {
  const swatch = make("span", { class: `swatch long${as}` });
  swatch.style.setProperty("--long", running.css);
  return make("span", { class: "key", "data-long": text }, swatch, make("span", { class: "name" }, text));
});

export class Legend {
  constructor(view) {
    this.view = view;
    this.timer = 0;
    this.times = [];
    this.titles = [];
    this.build();
    for (const what of ["moved", "filtered"]) view.on(what, () => this.later());
    view.on("colours", () => { this.build(); this.count(); });
  }

  build() {
    const { model } = this.view;
    this.times = [];
    this.titles = [];
    const rows = [];
    for (const section of model.sections) {
      if (section.nLanes === 0) continue;
      const of = make("span", { class: "of", title: titleText(section.title) });
      this.titles.push({ section, of });
      const row = make("div", { class: "legend-row" }, of);
      const hasPolls = section.kind === "workers" && section.workerPolls !== null;
      for (const [state, { name, role }] of section.states.entries()) {
        const colour = this.view.colours.sections[section.index][state];
        const time = make("span", { class: "time" }, "…");
        this.times.push({ section, state, time });
        row.append(make("span", { class: "key", "data-state": name, "data-role": role, "data-section": section.index, "data-ns": "" },
          swatchOf(colour), make("span", { class: "name" }, hasPolls && role === "awake" ? "awake, between polls" : visible(name)), time));
      }
      if (hasPolls) {
        const time = make("span", { class: "time" }, "…");
        this.times.push({ section, state: -1, time });
        of.after(make("span", { class: "key", "data-held": section.index, "data-ns": "" }, swatchOf(this.view.colours.running), make("span", { class: "name" }, "in polls"), time));
        if (isAnyTaken(model)) {
          row.append(make("span", { class: "key", title: "At the end of a long poll: how long the machine took the processor. Only the amount is known, not when." },
            make("span", { class: "swatch hatched" }), make("span", { class: "name" }, "taken by the machine (amount only)")));
        }
      }
      rows.push(row);
    }
    if (model.sections.some(({ why }) => why !== null)) rows.push(make("div", { class: "legend-row" }, make("span", { class: "of" }, "Long polls"), ...longKeys(this.view.colours.running)));
    if (model.meta.sums) rows.push(this.ofSums());
    byId("legend").replaceChildren(...rows);
  }

  /** Builds the row for what is kept in detail and what only in sums. */
  ofSums() {
    const time = () => make("span", { class: "time" }, "…");
    this.sums = { kept: time(), summed: time() };
    return make("div", { class: "legend-row" }, make("span", { class: "of" }, "Kept"),
      make("span", { class: "key", "data-kept": "detail", "data-ns": "" },
        make("span", { class: "swatch detail" }), make("span", { class: "name" }, "in detail"), this.sums.kept),
      make("span", { class: "key", "data-kept": "sums", "data-ns": "" },
        make("span", { class: "swatch summed" }), make("span", { class: "name" }, "in sums only"), this.sums.summed));
  }

  countSums(t0, t1) {
    const { model } = this.view;
    const sum = sumUp(model, t0, t1);
    const kept = keptNs(model, t0, t1);
    const share = sum.share === null ? "" : `, ${formatShare(sum.share)} of the workers' time in polls`;
    const longest = sum.place === null ? "" : `, the longest ${formatNs(sum.longest)}`;
    this.sums.kept.textContent = kept === 0 ? "nothing in view" : `${formatNs(kept)} in view`;
    this.sums.summed.textContent = sum.ns === 0 ? "nothing in view" : `${formatNs(sum.ns)}${share}${longest}`;
    this.sums.kept.parentNode.dataset.ns = String(kept);
    this.sums.summed.parentNode.dataset.ns = String(sum.ns);
  }

  /**
   * Returns how long a section was in each state; for workers, the time in polls is separate from the rest of their awake
   * time.
   */
  totalsOf(section, t0, t1) {
    const { model } = this.view;
    const states = recordedTotals(section, model.meta.gaps, t0, t1, filteredLanes(this.view, section));
    if (section.kind !== "workers" || section.workerPolls === null) return { states, held: null };
    const held = BigInt(heldInSection(model, section, t0, t1));
    const awake = section.states.findIndex(({ role }) => role === "awake");
    if (awake >= 0) states[awake] = states[awake] > held ? states[awake] - held : 0n;
    return { states, held };
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.count(), SETTLE_MS);
  }

  count() {
    clearTimeout(this.timer);
    const { view } = this;
    const [t0, t1] = [Math.round(view.t0), Math.round(view.t1)];
    Object.assign(byId("legend").dataset, { from: t0, to: t1 });
    for (const { section, of } of this.titles) {
      of.textContent = `${visible(section.title)}${filteredLanes(view, section) === null ? "" : ", filtered"}`;
    }
    const totals = new Map();
    const kept = keptNs(view.model, t0, t1);
    for (const { section, state, time } of this.times) {
      if (!totals.has(section)) totals.set(section, this.totalsOf(section, t0, t1));
      const { states, held } = totals.get(section);
      const ns = state < 0 ? held : states[state];
      const key = time.parentNode;
      key.dataset.ns = String(ns);
      const all = states.reduce((sum, n, i) => (view.colours.sections[section.index][i].blank ? sum : sum + n), held ?? 0n);
      const blank = state >= 0 && view.colours.sections[section.index][state].blank;
      // A blank state has no share of what exists.
      const share = blank ? "" : all > 0n ? formatShare(Number(ns) / Number(all)) : "–";
      // Zero would say that nothing happened.
      time.textContent = kept === 0 && t1 > t0 ? "not kept" : share;
      key.title = `${formatNs(Number(ns))} in the view, all ${rowWords(section)} together (${formatCount(ns)} ns)`;
    }
    if (view.model.meta.sums) this.countSums(t0, t1);
    view.notify("counted");
  }
}

/** Returns whether there are gaps of which not even sums are kept. */
const isHatched = ({ meta }) => {
  const lengthOf = (parts) => parts.reduce((sum, [from, to]) => sum + to - from, 0);
  return lengthOf(meta.gaps) > lengthOf(meta.sums?.dropped ?? []);
};

/** Explains the resolution, mixed pixels and marks. */
export const statusText = (view) => {
  const pixel = (view.t1 - view.t0) / view.width;
  const parts = [`1 px = ${pixel > 0 && pixel < 1 ? `${pixel.toPrecision(2)} ns` : formatNs(pixel)}; pixels with several states are blended by share`];
  const thresholds = new Set(view.model.sections.filter((section) => section.worker).map((section) => view.thresholdOf(section)));
  if (thresholds.size > 0) parts.push(`polls over ${[...thresholds].map(formatSetting).join(" or ")}${thresholds.size > 1 ? " (by run)" : ""} are outlined at any zoom; dense ones are marked at the top of the lane`);
  if (isHatched(view.model)) parts.push("hatched: nothing is kept, not counted");
  return `${parts.join(" · ")}.`;
};
