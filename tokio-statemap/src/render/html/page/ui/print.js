// The page on paper: the head and the lanes on one sheet in landscape, and all of the panel below them. The page is laid out
// as wide as a sheet before it is printed: what is on a canvas can't be laid out anew by then.

import { byId } from "./dom.js";

/** How high a sheet in landscape is within its margins, of A4 and of letter, in px; style.css has how wide it is. */
const SHEET = 700;
/** How high the picture is at least. */
const LEAST = 360;

/** Listens for prints. `reveal(target)` brings what is selected in sight: there is less room than on the screen. */
export const preparePrint = (view, frame, reveal) => {
  let scroll = 0;
  const layOut = (isPrinted) => {
    view.isPrinted = isPrinted;
    document.documentElement.classList.toggle("printed", isPrinted);
    // The colours of paper are the light ones.
    view.setTheme(view.theme);
    const [picture, lanes] = [byId("picture"), byId("lanes")];
    picture.style.height = isPrinted ? `${Math.max(LEAST, SHEET - byId("head").offsetHeight)}px` : "";
    lanes.style.height = "";
    if (isPrinted) {
      // What is around them may become higher on another sheet.
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
