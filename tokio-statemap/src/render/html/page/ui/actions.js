import { itemOfGroup } from "../draw/layout.js";
import { stretchTimes } from "../model/sums.js";
import { wakingStep, wokenSteps } from "../model/wake_steps.js";
import { byId } from "./dom.js";
import { openHelp } from "./help.js";

// The actions that the parts of the page share: show something, zoom to it, clear.

/** Returns the actions on a view. */
export const actionsOn = (view) => {
  const rowOfTarget = (target) => (target.kind === "row" ? target.row : view.model.sections[target.section].rowOf(target.transition));
  const timesOf = (target) => {
    if (target.kind === "stretch") return stretchTimes(view.model, target.stretch);
    const section = view.model.sections[target.section];
    if (target.kind === "span") return [section.time[target.transition], section.endOf(target.transition)];
    if (target.kind === "row") return [section.rowBegin(target.row), section.rowEnd(target.row)];
    return target.kind === "range" ? [target.t0, target.t1] : [0, view.model.lengthNs];
  };
  /** Opens the target's lane or group, and scrolls to it. */
  const reveal = (target) => {
    if (target.kind === "span" || target.kind === "row") {
      const section = view.model.sections[target.section];
      view.showLane(section, section.rowLane[rowOfTarget(target)]);
    } else if (target.kind === "group") {
      const section = view.model.sections[target.section];
      if (itemOfGroup(view.layout, section, target.group) === null) view.setFilter(null);
      view.relayout();
      const item = itemOfGroup(view.layout, section, target.group);
      if (item !== null && item.y >= view.pinned) view.scrollTo(item.y - view.pinned - 40);
    }
  };
  /** Zooms to a time, with some room beside it. */
  const zoomAround = (from, to) => {
    const margin = Math.max((to - from) * 0.12, 20);
    view.jumpTo(from - margin, to + margin);
  };
  const actions = {
    reveal,
    zoomAround,
    /** Selects the target, and moves the view to it without zooming. */
    show(target) {
      view.select(target);
      reveal(target);
      const [from, to] = timesOf(target);
      if (to >= view.t0 && from <= view.t1) return;
      const half = (view.t1 - view.t0) / 2;
      view.jumpTo((from + to) / 2 - half, (from + to) / 2 + half);
    },
    zoomTo(target) {
      if (target === null) return;
      view.select(target);
      reveal(target);
      const [from, to] = timesOf(target);
      if (target.kind === "range" || target.kind === "group") view.jumpTo(from, to);
      else zoomAround(from, to);
    },
    /** Goes on to the first poll that the selected one woke, or, if `by` is negative, back to the one that woke its task. */
    follow(by) {
      const { selection, model } = view;
      const section = model.sections[selection?.section];
      if (selection?.kind !== "span" || section?.kind !== "tasks") return;
      const [to = -1] = by < 0 ? [wakingStep(section, model.meta.gaps, selection.transition)] : wokenSteps(section, model.meta.gaps, selection.transition);
      if (to >= 0) actions.show({ kind: "span", section: section.index, transition: to });
      else byId("live").textContent = by < 0 ? "It isn't known that a poll woke this task." : "It isn't known that this poll woke a task.";
    },
    clear() {
      if (view.selection !== null || view.range !== null) view.select(null);
      else if (view.filter !== null) view.setFilter(null);
    },
    help: openHelp,
  };
  return actions;
};
