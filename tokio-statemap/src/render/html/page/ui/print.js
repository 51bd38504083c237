// Printing: the head and the lanes on one sheet in landscape, and the panel behind them. The page is laid out in the width
// of a sheet before it is printed, because what is on a canvas can't be laid out again by then.

import { byId } from "./dom.js";

/** The height of a landscape sheet within its margins, for both A4 and letter, in px; style.css has the width. */
const SHEET = 700;
/** The least height of the picture. */
const LEAST = 360;

/** Listens for prints. `reveal(target)` brings the selection into view, as there is less room than on the screen. */
export const preparePrint = (view, frame, reveal) => {
  let scroll = 0;
  const layOut = (isPrinted) => {
    view.isPrinted = isPrinted;
    document.documentElement.classList.toggle("printed", isPrinted);
    // Paper has the light colours.
    view.setTheme(view.theme);
    const [picture, lanes] = [byId("picture"), byId("lanes")];
    picture.style.height = isPrinted ? `${Math.max(LEAST, SHEET - byId("head").offsetHeight)}px` : "";
    lanes.style.height = "";
    if (isPrinted) {
      // On another sheet, the parts around the lanes may be higher.
      lanes.style.height = `${lanes.clientHeight}px`;
      picture.style.height = "";
    }
    frame.measure();
    view.relayout();
  };
  window.addEventListener("beforeprint", () => {
    ({ scroll } = view);
    layOut(true);
    if (view.selection !== null) reveal(view.selection);
    view.paintNow();
  });
  window.addEventListener("afterprint", () => {
    layOut(false);
    view.scrollTo(scroll);
    view.paintNow();
  });
};
