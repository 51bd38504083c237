// Measures with keys: a range of time that begins at the selection, and whose other end moves.

/** The step of a key, as a share of the time in view. */
const KEY_STEP = 1 / 40;

export class KeyRange {
  constructor(view) {
    this.view = view;
    /** The last range: its fixed end, and the end that moves. */
    this.last = null;
  }

  /** Moves the end right (`by` 1) or left (−1). A new range is the selected span, or begins in the middle of the view. */
  move(by) {
    const { view } = this;
    const clamp = (t) => Math.round(Math.min(Math.max(t, 0), view.model.lengthNs));
    const step = Math.max(1, (view.t1 - view.t0) * KEY_STEP);
    let { from, to } = this.isSelected() ? this.last : this.begin(by);
    if (this.isSelected() || to === from) to += by * step;
    [from, to] = [clamp(from), clamp(to)];
    // The range would be empty, so it continues on the other side.
    if (to === from) to = clamp(to + by * step);
    if (to === from) return;
    this.last = { from, to, range: { kind: "range", t0: Math.min(from, to), t1: Math.max(from, to) } };
    view.select(this.last.range);
    this.follow(to);
  }

  /** Returns whether the last range is still selected, and thus continues. */
  isSelected() {
    return this.last !== null && this.view.selection === this.last.range;
  }

  begin(by) {
    const { view } = this;
    const { selection } = view;
    if (selection?.kind === "range") return by > 0 ? { from: selection.t0, to: selection.t1 } : { from: selection.t1, to: selection.t0 };
    if (selection?.kind !== "span") return { from: (view.t0 + view.t1) / 2, to: (view.t0 + view.t1) / 2 };
    const section = view.model.sections[selection.section];
    const [start, end] = [section.time[selection.transition], section.endOf(selection.transition)];
    return by > 0 ? { from: start, to: end } : { from: end, to: start };
  }

  /** Brings the end into view. */
  follow(t) {
    const { view } = this;
    const by = t < view.t0 ? t - view.t0 : t > view.t1 ? t - view.t1 : 0;
    if (by !== 0) view.setTimes(view.t0 + by, view.t1 + by);
  }
}
