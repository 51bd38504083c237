import { formatNs } from "../format/numbers.js";
import { shorten, titleText, visible } from "../format/text.js";
import { pathOfSelection } from "../model/critical_path.js";
import { drawPathLane, stretchOfPath } from "../draw/path_lane.js";
import { byId } from "./dom.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

// The lane above all others that shows the critical path of what is selected. The panel has it as a table.

/**
 * The path is looked for once the selection has stayed for this time, in ms. A path of 200 000 polls takes a while, and the lane takes
 * room from the others: none may move between the two clicks of a double click.
 */
const REST_MS = 600;

export class PathLane {
  /** `show(target)` selects a stretch. */
  constructor(view, show) {
    this.view = view;
    this.canvas = byId("path");
    this.shown = null;
    this.timer = 0;
    /** The stretch that was selected on the lane. While it is, the path stays. */
    this.stretch = -1;
    view.on("selected", () => this.follow());
    this.canvas.addEventListener("pointermove", (event) => this.explain(event));
    this.canvas.addEventListener("pointerleave", hideTooltip);
    this.canvas.addEventListener("click", (event) => {
      this.stretch = this.transitionAt(event);
      if (this.stretch >= 0) show({ kind: "span", section: this.shown.section.index, transition: this.stretch });
    });
  }

  /** Shows the path of what is selected, once that rests. */
  follow() {
    const { view } = this;
    const { selection } = view;
    clearTimeout(this.timer);
    const isOwn = selection?.kind === "span" && selection.section === this.shown?.section.index && selection.transition === this.stretch;
    if (isOwn) return;
    this.stretch = -1;
    if (selection === null) return this.show(null);
    this.timer = setTimeout(() => this.show(pathOfSelection(view.model, selection)), REST_MS);
  }

  /** Shows a path, or hides the lane. */
  show(found) {
    this.shown = found;
    byId("path-row").hidden = found === null;
    if (found === null) return;
    const { section, row, of, path } = found;
    const name = visible(section.name(row)), length = formatNs(path.length);
    const depended = { task: `the length of ${name}, ${length},`, wait: `a wait of ${name} for ${length}`, period: `the length of ${name} in this time` }[of];
    const text = `Critical path: what ${depended} depended on`;
    byId("path-label").textContent = of === "wait" ? `Path of a wait of ${shorten(name, 60)}` : `Path of ${shorten(name, 60)}`;
    byId("path-label").title = titleText(text);
    this.canvas.setAttribute("aria-label", text);
    this.view.touch("lanes");
  }

  draw() {
    if (this.shown !== null) drawPathLane(this.view, this.canvas, this.shown.section, this.shown.path.way);
  }

  /** Returns the transition on the path under the pointer; −1 if there is none. */
  transitionAt(event) {
    const { view, shown } = this;
    if (shown === null) return -1;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    const stretch = stretchOfPath(shown.path.way, view.t0 + (x / view.width) * (view.t1 - view.t0));
    return stretch < 0 || !shown.path.way.isKnown[stretch] ? -1 : shown.path.way.transition[stretch];
  }

  explain(event) {
    const transition = this.transitionAt(event);
    showTooltip(this.view, transition < 0 ? null : { kind: "span", section: this.shown.section, transition }, event.clientX, event.clientY);
  }
}
