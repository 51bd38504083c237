import { fitText, textWidth } from "../draw/fit.js";

// Labels that have a line of the panel to themselves, or share it with a length: what doesn't fit is left out where it tells
// least, as the browser would leave out the end, where a place has its file and line.

const fontOf = (weight, px) => `${weight} ${px}px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif`;

const LABEL_OF_PANEL = fontOf(500, 12);
const LABEL_OF_ISSUE = fontOf(600, 13);

/** How wide they are, in px: as wide as the style has them, beside a scrollbar. */
const LABEL_WIDTH = 336;
const ISSUE_WIDTH = 326;

/** Between the label and the length, in px. */
const GAP = 8;

/** The label in a line of the panel. */
export const labelInPanel = (text) => fitText(text, LABEL_WIDTH, LABEL_OF_PANEL);

/** The label of an issue, `indent` px from the left, with this length at the right. */
export const labelOfIssue = (text, length, indent) =>
  fitText(text, ISSUE_WIDTH - indent - (length === "" ? 0 : GAP + textWidth(length, LABEL_OF_ISSUE)), LABEL_OF_ISSUE);
