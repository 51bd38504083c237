import { decodeView, encodeView } from "./hash.js";
import { showTab } from "./tabs.js";

// The view in the address, so that a link shows the same thing, and the browser's Back undoes the last step.

/** How long nothing must change before the address is written, in ms (browsers limit how often). */
const ADDRESS_MS = 250;

/** What changes the address: the steps that Back undoes, and what belongs to the step before it. */
const BACK_UNDOES = ["stepped", "selected", "filtered"];
const WITHIN_STEP = ["moved", "threshold", "folds", "charts", "colours", "tab"];

/** A selection as `hash.js` has it, and back. */
const toHash = (selection, opening) => {
  // Where the page opens on something, an address that names nothing would select it.
  if (selection === null) return opening === null ? null : "none";
  const { kind, ...rest } = selection;
  return rest;
};
const fromHash = (sel) =>
  ({ kind: sel.stretch !== undefined ? "stretch" : sel.section === undefined ? "range" : sel.group !== undefined ? "group" : sel.transition === undefined ? "row" : "span", ...sel });

/** A set in which `keys` are as they aren't in `initial`. */
const withOthers = (initial, keys = []) => {
  const others = new Set(initial);
  for (const key of keys) if (!others.delete(key)) others.add(key);
  return others;
};

export class Address {
  /** `initialFolds` is how groups are folded before the user touches them. */
  constructor(view, initialFolds) {
    this.view = view;
    this.initial = initialFolds;
    this.initiallyHidden = new Set(view.hiddenCharts);
    this.timer = 0;
    this.written = null;
    /** Whether anything has changed since it was written, and whether that is a step. */
    this.isOld = false;
    this.isStep = false;
    /** Whether a pointer is down: what it drags is one step, however long that takes. */
    this.isHeld = false;
  }

  /** Reads the address: the parts of a view that it names. */
  read() {
    let read = {};
    try {
      read = decodeView(location.hash, this.view.model);
    } catch {
      // A hash that can't be read is no reason to show nothing.
    }
    const { sel } = read;
    return { ...read, ...(sel ? { selection: sel === "none" ? null : fromHash(sel) } : {}) };
  }

  /** Brings the view to what the address names, before the first frame; returns what that is. */
  restore() {
    const given = this.read();
    this.view.restore({
      folded: this.folds(given.folds),
      threshold: given.threshold > 0 ? given.threshold : undefined,
      palette: given.palette,
      filter: given.group,
      hiddenCharts: this.hidden(given.hide),
      t0: given.t0,
      t1: given.t1,
    });
    return given;
  }

  /** Keeps the address like the view, and the view like an address that is opened later. */
  follow(actions) {
    for (const what of WITHIN_STEP) this.view.on(what, () => this.later());
    for (const what of BACK_UNDOES) this.view.on(what, () => { this.isStep = true; this.later(); });
    const hold = (isHeld) => () => {
      this.isHeld = isHeld;
      if (this.isOld) this.later();
    };
    window.addEventListener("pointerdown", hold(true), true);
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, hold(false), true);
    window.addEventListener("hashchange", () => this.show(this.read(), actions));
  }

  /** Shows what an address names, in a page that is open already. */
  show(asked, actions) {
    const { view } = this;
    view.setPalette(asked.palette ?? "page");
    view.setThreshold(asked.threshold > 0 ? asked.threshold : view.model.meta.long);
    view.setHiddenCharts(this.hidden(asked.hide));
    view.setShown(this.folds(asked.folds), asked.group ?? null);
    const selected = asked.selection === undefined ? view.firstSelection : asked.selection;
    view.select(selected);
    if (selected !== null && selected.kind !== "range" && !asked.group) actions.show(selected);
    view.returnTo(...(asked.t1 > asked.t0 ? [asked.t0, asked.t1] : view.home));
    showTab(view, asked.tab ?? "issues");
    // It is in the history already.
    this.settle();
  }

  /** The folds of an address, which names only what differs from the first state; and the charts that are hidden. */
  folds(keys) {
    return withOthers(this.initial, keys);
  }

  hidden(keys) {
    return withOthers(this.initiallyHidden, keys);
  }

  later() {
    this.isOld = true;
    clearTimeout(this.timer);
    if (!this.isHeld) this.timer = setTimeout(() => this.write(), ADDRESS_MS);
  }

  /** Writes the address of what is shown at once, as no step of its own. */
  settle() {
    this.isStep = false;
    this.write();
  }

  write() {
    clearTimeout(this.timer);
    const { view, isStep } = this;
    this.isOld = this.isStep = false;
    const isHome = view.t0 === view.home[0] && view.t1 === view.home[1];
    const folds = [];
    for (const key of view.folded) if (!this.initial.has(key)) folds.push(key);
    for (const key of this.initial) if (!view.folded.has(key)) folds.push(key);
    const text = encodeView({
      ...(isHome ? {} : { t0: view.t0, t1: view.t1 }),
      sel: toHash(view.selection, view.opening),
      group: view.filter,
      threshold: view.threshold === view.model.meta.long ? undefined : view.threshold,
      folds: folds.slice(0, 2000),
      hide: view.charts.filter((key) => view.hiddenCharts.has(key) !== this.initiallyHidden.has(key)),
      palette: view.palette === "page" ? undefined : view.palette,
      tab: view.tab === "issues" ? undefined : view.tab,
    }, view.model);
    if (text === this.written) return;
    this.written = text;
    const url = text === "" ? location.pathname + location.search : `#${text}`;
    try {
      if (isStep) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // Some browsers allow it only so often, or not for files: the page works without.
    }
  }
}
