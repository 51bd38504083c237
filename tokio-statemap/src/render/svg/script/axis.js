// The time axis, and the scroll bar.

/** Returns 1, 2 or 5 times a power of ten, in ns. */
function niceStep(length, most) {
  let power = 1;
  for (;;) {
    for (const digit of [1, 2, 5]) if (length / (power * digit) <= most) return power * digit;
    power *= 10;
  }
}

function drawAxis() {
  const axis = byId('axis');
  axis.replaceChildren();
  make(axis, 'path', { d: `M0 0h${place.mapWidth}` });
  const [from, to] = [view.from * nsPerColumn, view.to * nsPerColumn];
  const step = niceStep(to - from, Math.max(2, Math.floor(place.mapWidth / 110)));
  for (let index = Math.ceil(from / step - 1e-9); index * step <= to + 1e-6; index++) {
    const x = ((index * step - from) / (to - from)) * place.mapWidth;
    make(axis, 'path', { d: `M${x.toFixed(1)} 0v-5` });
    const text = make(axis, 'text', { x: x.toFixed(1), y: -9 }, formatMoment(index * step, step));
    const over = x + text.getComputedTextLength() / 2 - (place.width - place.left - 4);
    if (over > 0) set(text, { x: (x - over).toFixed(1) });
  }
}

let thumb = null;

function drawThumb() {
  const region = place.bottom - place.head;
  thumb ??= make(root, 'rect', { id: 'thumb', width: 8, rx: 4, 'data-ui': '', 'aria-hidden': true });
  const height = Math.max(30, (region / place.content) * region);
  const share = view.top / Math.max(1, place.content - region);
  set(thumb, {
    x: place.width - 10, y: place.head + share * (region - height), height,
    visibility: place.content > region + 1 ? 'visible' : 'hidden',
  });
}
