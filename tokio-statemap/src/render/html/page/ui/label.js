import { fitText, fontOf, textWidth } from "../draw/fit.js";

// Labels that fill a line of the panel, or share it with a length. They are shortened where they say least; a browser would
// cut the end, where a place has its file and line.

const LABEL_OF_PANEL = fontOf(500, 12);
const LABEL_OF_ISSUE = fontOf(600, 13);

/** The width of such labels in px, as in the style sheet. */
const LABEL_WIDTH = 336;

/** The padding of a pane, in px. */
const AROUND = 28;

/** The gap between the label and the length, in px. */
const GAP = 8;

/** Fits a label to a line of the panel. */
export const labelInPanel = (text) => fitText(text, LABEL_WIDTH, LABEL_OF_PANEL);

/** Returns the width of a line of this pane, in px; that of the panel if the pane isn't shown. */
export const lineOf = (pane) => (pane.clientWidth === 0 ? LABEL_WIDTH : pane.clientWidth - AROUND);

/** Fits the label of an issue to a line of `width` px that ends with `length`. */
export const labelOfIssue = (text, length, width) =>
  fitText(text, width - (length === "" ? 0 : GAP + textWidth(length, LABEL_OF_ISSUE)), LABEL_OF_ISSUE);
