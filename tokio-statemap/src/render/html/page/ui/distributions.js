import { formatCount } from "../format/numbers.js";
import { plural } from "../format/text.js";
import { distributionsOf } from "../model/distributions.js";
import { make } from "./dom.js";
import { histogram } from "./histogram.js";
import { inSlices } from "./slices.js";

// The histograms of what is selected. They are counted between frames, and kept while the selection stays.

export class Distributions {
  /** `show(target)` goes to the item with the largest value of a bar. */
  constructor(model, show) {
    this.model = model;
    this.show = show;
    /**
     * What was drawn last in each place: the scope and its element. @type {Map<string|number, {key: string, element:
     * HTMLElement}>}
     */
    this.drawn = new Map();
  }

  /**
   * Returns the histograms of a scope (see `distributionsOf`) for a place of the pane. They are filled in once they are
   * counted.
   */
  draw(scope, place = 0) {
    const key = JSON.stringify(scope);
    const drawn = this.drawn.get(place);
    if (drawn?.key === key) return drawn.element;
    const element = make("div", { class: "distributions", "data-scope": scope.kind }, make("p", { class: "hint" }, "Counting …"));
    this.drawn.set(place, { key, element });
    this.count(scope, element, () => this.drawn.get(place).element === element);
    return element;
  }

  async count(scope, element, isWanted) {
    const found = await inSlices(distributionsOf(this.model, scope), isWanted);
    if (found !== undefined) element.replaceChildren(...this.parts(scope, found));
  }

  parts(scope, found) {
    const { section, polls, ready, lives, tasks } = found;
    const showSpan = (transition) => this.show({ kind: "span", section, transition });
    const of = { range: "Counts what began within this time.", group: this.model.meta.sums ? "Counts all that is kept in detail, not only what is in view." : "Counts the whole run, not only what is in view." }[scope.kind] ?? null;
    const isOne = scope.kind === "row";
    return [
      polls === null ? null : histogram(polls, { title: "Poll length", word: "poll", kind: "polls", note: pollsNote(scope, this.model, polls) ?? of, show: showSpan }),
      ready === null || ready.n === 0 ? null : histogram(ready, { title: "Time ready before a poll", word: "time", kind: "ready", show: showSpan }),
      lives === null || tasks === 0 || isOne ? null
        : histogram(lives, { title: "Lifetime", word: this.wordOf(section), kind: "lives", note: livesNote(found), show: (row) => this.show({ kind: "row", section, row }) }),
    ].filter(Boolean);
  }

  wordOf(section) {
    return this.model.sections[section].kind === "tasks" ? "task" : "row";
  }
}

/** Says how many polls the histogram covers, if the report doesn't list all of them. */
const pollsNote = (scope, model, { n }) => {
  if (scope.kind !== "culprit") return null;
  const { polls } = model.sections[scope.section].why.culprits[scope.culprit];
  return n < polls ? `Counts only the listed ones of ${formatCount(polls)} polls.` : null;
};

/** Says which tasks are missing from the histogram of lifetimes. */
const livesNote = ({ alive, older }) => {
  const parts = [
    alive > 0 ? `${plural(alive, "other", formatCount(alive))} had not ended` : null,
    older > 0 ? `the spawn of ${plural(older, "other", formatCount(older))} was not recorded` : null,
  ].filter(Boolean);
  return parts.length === 0 ? null : `${parts.join("; ")}.`.replace(/^t/, "T");
};
