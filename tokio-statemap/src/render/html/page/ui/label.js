import { fitText } from "../draw/fit.js";

// Labels that have a line of the panel to themselves: what doesn't fit is left out where it tells least, as the browser
// would leave out the end, where a place has its file and line.

const LABEL_OF_PANEL = '500 12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';

/** How wide they are, in px: as wide as the style has them. */
const LABEL_WIDTH = 336;

/** The label in a line of the panel. */
export const labelInPanel = (text) => fitText(text, LABEL_WIDTH, LABEL_OF_PANEL);
