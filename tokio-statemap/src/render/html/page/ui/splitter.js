import { byId } from "./dom.js";

// The edge between the timeline and the panel, which can be moved.

/** The least width of the panel, and of the timeline beside it, in px. */
const LEAST_PANEL = 260;
const LEAST_TIMELINE = 400;

/** By how much an arrow key moves it, in px. */
const SPLITTER_STEP = 24;

/** Listens to the edge. A double click, or Home, gives it its place back. */
export const prepareSplitter = () => {
  const splitter = byId("splitter"), panel = byId("panel"), main = byId("main");
  const most = () => Math.max(LEAST_PANEL, main.clientWidth - LEAST_TIMELINE);
  const tell = () => {
    splitter.setAttribute("aria-valuemax", String(most()));
    splitter.setAttribute("aria-valuenow", String(Math.round(panel.offsetWidth)));
  };
  const set = (width) => {
    main.style.setProperty("--panel", `${Math.round(Math.min(Math.max(width, LEAST_PANEL), most()))}px`);
    tell();
  };
  const reset = () => {
    main.style.removeProperty("--panel");
    tell();
  };
  splitter.setAttribute("aria-valuemin", String(LEAST_PANEL));
  tell();
  // The size of the window, and the tab, change it, too.
  new ResizeObserver(tell).observe(panel);
  let from = null;
  splitter.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    splitter.focus({ preventScroll: true });
    splitter.setPointerCapture(event.pointerId);
    from = { x: event.clientX, width: panel.offsetWidth };
  });
  splitter.addEventListener("pointermove", (event) => { if (from !== null) set(from.width + from.x - event.clientX); });
  for (const end of ["pointerup", "pointercancel"]) splitter.addEventListener(end, () => { from = null; });
  splitter.addEventListener("dblclick", reset);
  splitter.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: SPLITTER_STEP, ArrowRight: -SPLITTER_STEP }[event.key];
    if (by === undefined && event.key !== "Home") return;
    event.preventDefault();
    event.stopPropagation();
    if (by === undefined) reset();
    else set(panel.offsetWidth + by);
  });
};
