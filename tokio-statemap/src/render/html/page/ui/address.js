import { decodeView, encodeView } from "./hash.js";
import { showTab } from "./tabs.js";

// Keeps the view in the address, so that a link shows the same view, and the browser's Back button undoes the last step.

/** The time without changes after which the address is written, in ms (browsers limit the rate). */
const ADDRESS_MS = 250;

/** The changes that are written to the address: steps that Back undoes, and those that belong to the step before. */
const BACK_UNDOES = ["stepped", "selected", "filtered"];
const WITHIN_STEP = ["moved", "threshold", "folds", "charts", "colours", "tab"];

/** Converts a selection to the form that `hash.js` has, and back. */
const toHash = (selection, opening) => {
  // If the page opens on something, an address without a selection would select that.
  if (selection === null) return opening === null ? null : "none";
  const { kind, ...rest } = selection;
  return rest;
};
const fromHash = (sel) =>
  ({ kind: sel.stretch !== undefined ? "stretch" : sel.section === undefined ? "range" : sel.group !== undefined ? "group" : sel.transition === undefined ? "row" : "span", ...sel });

/** Returns `initial` with each of `keys` toggled. */
const withOthers = (initial, keys = []) => {
  const others = new Set(initial);
  for (const key of keys) if (!others.delete(key)) others.add(key);
  return others;
};

export class Address {
  /** `initialFolds` are the groups that are folded at first. */
  constructor(view, initialFolds) {
    this.view = view;
    this.initial = initialFolds;
    this.initiallyHidden = new Set(view.hiddenCharts);
    this.timer = 0;
    this.written = null;
    /** Whether anything has changed since the address was written, and whether that is a step. */
    this.isOld = false;
    this.isStep = false;
    /** Whether a pointer is pressed: a drag is one step, however long it takes. */
    this.isHeld = false;
  }

  /** Reads the parts of a view that the address names. */
  read() {
    let read = {};
    try {
      read = decodeView(location.hash, this.view.model);
    } catch {
      // The page is still shown if the hash can't be read.
    }
    const { sel } = read;
    return { ...read, ...(sel ? { selection: sel === "none" ? null : fromHash(sel) } : {}) };
  }

  /** Restores the view that the address names, before the first frame. Returns what the address names. */
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

  /** Updates the address when the view changes, and the view when another address is opened. */
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

  /** Shows what an address names, while the page is open. */
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
    // The address is in the history already.
    this.settle();
  }

  /** Returns the folded groups of an address, which names only those that differ from the initial ones. */
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

  /** Writes the address of the view at once, without making it a step. */
  settle() {
    this.isStep = false;
    this.write();
  }

  /** Writes the address of the view, and returns it. */
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
    const url = text === "" ? location.pathname + location.search : `#${text}`;
    if (text === this.written) return url;
    this.written = text;
    try {
      if (isStep) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // Some browsers limit the rate, or do not allow it for files. The page works without.
    }
    return url;
  }
}
