// Handles the wheel, pointers, keys and buttons.

const pointers = new Map();
let drag = null;

const isUi = (target) => Boolean(target.closest?.('[data-ui]'));
const isOnMap = (x, y) => x >= place.left && x <= place.right && y >= place.head && y <= place.bottom;

function onWheel(event) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? place.height : 1;
  const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
  if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) pan((dx || dy) / place.mapWidth);
  else if (event.clientX >= place.left || event.ctrlKey) zoom(Math.exp(-Math.max(-300, Math.min(300, dy)) / 300), event.clientX);
  else scrollTo(view.top + dy);
}

function onDown(event) {
  if (event.button !== 0) return;
  if (event.target === thumb) {
    drag = { thumb: true, y: event.clientY, top: view.top };
  } else if (!isUi(event.target)) {
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    drag = pointers.size === 1 ? { x: event.clientX, y: event.clientY, from: view.from, to: view.to, top: view.top, moved: false } : startPinch();
  } else return;
  root.setPointerCapture(event.pointerId);
}

function startPinch() {
  const [a, b] = [...pointers.values()];
  return { pinch: true, distance: Math.max(20, Math.abs(a.x - b.x)), from: view.from, to: view.to, at: toColumn((a.x + b.x) / 2), moved: true };
}

function onMove(event) {
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (!drag) return;
  if (drag.thumb) {
    const region = place.bottom - place.head;
    scrollTo(drag.top + ((event.clientY - drag.y) / region) * place.content);
  } else if (drag.pinch) {
    const [a, b] = [...pointers.values()];
    if (!b) return;
    const size = (drag.to - drag.from) * (drag.distance / Math.max(20, Math.abs(a.x - b.x)));
    const from = drag.at - (((a.x + b.x) / 2 - place.left) / place.mapWidth) * size;
    show(from, from + size);
  } else {
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    if (!drag.moved) keep();
    drag.moved = true;
    const size = drag.to - drag.from;
    const from = Math.min(Math.max(0, drag.from - (dx / place.mapWidth) * size), data.columns - size);
    show(from, from + size);
    scrollTo(drag.top - dy);
  }
}

function onUp(event) {
  const wasClick = drag && !drag.moved && !drag.thumb && event.type === 'pointerup';
  pointers.delete(event.pointerId);
  drag = null;
  if (wasClick) onClick(event);
}

function onClick(event) {
  const [x, y] = [event.clientX, event.clientY];
  if (!isOnMap(x, y)) {
    const row = x < place.left && y >= place.head && y <= place.bottom ? rowAt(y - place.head + view.top) : null;
    if (row) describe(row, view.from, view.from * nsPerColumn);
    return;
  }
  const column = Math.min(toColumn(x), data.columns - 1e-6);
  const ns = column * nsPerColumn;
  if (event.shiftKey) {
    putBar(ns, '', true);
    return;
  }
  const row = rowAt(y - place.head + view.top);
  // The bar comes first, because the panel is placed beside it.
  putBar(ns, formatMoment(ns, nsPerColumn));
  if (row) bars[0].text = describe(row, column, ns);
}

function clearAll() {
  if (chosen) choose(chosen.section, null);
  clearBars();
  closePanel();
}

function help() {
  openPanel([
    { text: 'Keys', kind: 'title' },
    ...[
      ['wheel, + and −, w and s', 'zoom'],
      ['drag, a and d, ← and →', 'move in time'],
      ['↑ ↓, wheel over the labels', 'move up and down'],
      ['click', 'state and time'],
      ['shift-click', 'time since the last click'],
      ['click in the legend', 'one state, and its time by group'],
      ['f or 0', 'show everything'],
      ['z', 'previous view'],
      ['Esc', 'clear'],
    ].map(([text, right]) => ({ text, right })),
  ]);
}

const KEYS = {
  '+': () => zoom(1.5), '=': () => zoom(1.5), w: () => zoom(1.5), '-': () => zoom(1 / 1.5), s: () => zoom(1 / 1.5),
  a: () => pan(-0.2), ArrowLeft: () => pan(-0.2), d: () => pan(0.2), ArrowRight: () => pan(0.2),
  ArrowUp: () => scrollTo(view.top - 60), ArrowDown: () => scrollTo(view.top + 60),
  PageUp: () => scrollTo(view.top - (place.bottom - place.head) * 0.9), PageDown: () => scrollTo(view.top + (place.bottom - place.head) * 0.9),
  Home: () => scrollTo(0), End: () => scrollTo(place.content),
  f: fit, 0: fit, z: back, Escape: clearAll, '?': help,
};

function onKey(event) {
  const action = event.ctrlKey || event.metaKey || event.altKey ? null : KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

const BUTTONS = [
  ['move left', 'M14 5l-6 6l6 6', () => pan(-0.2)], ['move right', 'M8 5l6 6l-6 6', () => pan(0.2)],
  ['zoom in', 'M11 4v14M4 11h14', () => zoom(1.5)], ['zoom out', 'M4 11h14', () => zoom(1 / 1.5)],
  ['show all', 'M4 9v-5h5M13 4h5v5M18 13v5h-5M9 18h-5v-5', fit],
  ['help', 'M8 8q0 -4 3.5 -4t3.5 3.5q0 2 -3.5 3.5v2m0 3v1.5', help],
];
let buttons = null;

function layOutButtons(isNarrow) {
  if (!buttons) {
    buttons = make(root, 'g', { id: 'buttons' });
    BUTTONS.forEach(([label, path, press], index) => {
      const element = make(buttons, 'g', { class: 'button', transform: `translate(${index * 28} 0)` });
      make(element, 'title', {}, label);
      make(element, 'rect', { width: 22, height: 22, rx: 3 });
      make(element, 'path', { d: path });
      button(element, label, press);
    });
  }
  const width = BUTTONS.length * 28 - 6;
  set(buttons, { transform: `translate(${isNarrow ? place.width - width - 10 : place.width - width - 22} ${isNarrow ? 8 : 12})` });
}
