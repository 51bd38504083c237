// A finger that goes up or down scrolls the lanes, and then the page; one that goes sideways pans.

/** Begins a swipe: `isVertical(event)` tells whether it goes up or down, which its first movement decides. */
export const swipeFrom = (view, { clientX, clientY }) => {
  let isVertical = null;
  return {
    clientY, scroll: view.scroll, page: window.scrollY,
    isVertical: (event) => (isVertical ??= Math.abs(event.clientY - clientY) > Math.abs(event.clientX - clientX)),
  };
};

/** Scrolls to where the finger is. What the lanes can't scroll, the page does. */
export const swipeBy = (view, { clientY, scroll, page }, event) => {
  const to = scroll + clientY - event.clientY;
  view.scrollTo(to);
  window.scrollTo({ top: page + Math.trunc(to - view.scroll), behavior: "instant" });
};
