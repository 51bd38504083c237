import { formatCount } from "../format/numbers.js";
import { plural } from "../format/text.js";
import { distributionsOf } from "../model/distributions.js";
import { make } from "./dom.js";
import { histogram } from "./histogram.js";
import { inSlices } from "./slices.js";

// The histograms of what is selected: counted between frames, and kept while the same is selected.

export class Distributions {
  /** `show(target)` goes to what a bar's largest value is of. */
  constructor(model, show) {
    this.model = model;
    this.show = show;
    /** What was drawn last in each place: of which scope, and its element. @type {Map<string|number, {key: string, element: HTMLElement}>} */
    this.drawn = new Map();
  }

  /** The histograms of a scope (see `distributionsOf`) for a place of the pane; they come when they are counted. */
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
    const of = { range: "What began in this time counts.", group: this.model.meta.sums ? "Of all that is kept in detail, in the view or not." : "Of the whole run, in the view or not." }[scope.kind] ?? null;
    const isOne = scope.kind === "row";
    return [
      polls === null ? null : histogram(polls, { title: "Poll length", word: "poll", kind: "polls", note: pollsNote(scope, this.model, polls) ?? of, show: showSpan }),
      ready === null || ready.n === 0 ? null : histogram(ready, { title: "Ready, until it was polled", word: "time", kind: "ready", show: showSpan }),
      lives === null || tasks === 0 || isOne ? null
        : histogram(lives, { title: "Lifetime", word: this.wordOf(section), kind: "lives", note: livesNote(found), show: (row) => this.show({ kind: "row", section, row }) }),
    ].filter(Boolean);
  }

  wordOf(section) {
    return this.model.sections[section].kind === "tasks" ? "task" : "row";
  }
}

/** The report counts all polls of who is to blame, also where it doesn't tell of all. */
const pollsNote = (scope, model, { n }) => {
  if (scope.kind !== "culprit") return null;
  const { polls } = model.sections[scope.section].why.culprits[scope.culprit];
  return n < polls ? `Of ${formatCount(polls)} polls, those that are told of one by one.` : null;
};

/** Who isn't among the lives. */
const livesNote = ({ alive, older }) => {
  const parts = [
    alive > 0 ? `${plural(alive, "other", formatCount(alive))} had no end yet` : null,
    older > 0 ? `of ${plural(older, "other", formatCount(older))} the spawn was not recorded` : null,
  ].filter(Boolean);
  return parts.length === 0 ? null : `${parts.join("; ")}.`.replace(/^o/, "O");
};
