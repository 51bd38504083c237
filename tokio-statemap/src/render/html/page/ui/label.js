import { fitText, fontOf, textWidth } from "../draw/fit.js";

// Labels that have a line of the panel to themselves, or share it with a length: what doesn't fit is left out where it tells
// least, as the browser would leave out the end, where a place has its file and line.

const LABEL_OF_PANEL = fontOf(500, 12);
const LABEL_OF_ISSUE = fontOf(600, 13);

/** How wide they are, in px: as wide as the style has them. */
const LABEL_WIDTH = 336;

/** What a pane has around its content, in px. */
const AROUND = 28;

/** Between the label and the length, in px. */
const GAP = 8;

/** The label in a line of the panel. */
export const labelInPanel = (text) => fitText(text, LABEL_WIDTH, LABEL_OF_PANEL);

/** How wide a line of this pane is, in px; as in the panel where the pane isn't shown. */
export const lineOf = (pane) => (pane.clientWidth === 0 ? LABEL_WIDTH : pane.clientWidth - AROUND);

/** The label of an issue in a line of `width` px, with this length at its end. */
export const labelOfIssue = (text, length, width) =>
  fitText(text, width - (length === "" ? 0 : GAP + textWidth(length, LABEL_OF_ISSUE)), LABEL_OF_ISSUE);
