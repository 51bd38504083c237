// The bars at clicked moments: a second bar shows the time between the two.

const bars = [];
let barLayer = null;

/** Puts a bar at a moment (in ns), instead of all others or as the second one. */
function putBar(ns, text, isSecond = false) {
  if (isSecond && bars.length > 0) bars.splice(1, 1, { ns, text });
  else bars.splice(0, bars.length, { ns, text });
  redraw();
}

function clearBars() {
  bars.length = 0;
  redraw();
}

function drawBars() {
  barLayer ??= make(root, 'g', { class: 'bar' });
  barLayer.replaceChildren();
  if (bars.length === 2) drawDelta();
  for (const [index, { ns, text }] of bars.entries()) {
    const x = toX(ns / nsPerColumn);
    if (x < place.left - 0.5 || x > place.right + 0.5) continue;
    make(barLayer, 'path', { d: `M${x.toFixed(1)} ${place.head - (index ? 26 : 40)}V${place.bottom}` });
    if (bars.length === 1) labelBar(x, text);
  }
}

function labelBar(x, text) {
  const isLeft = x < (place.left + place.right) / 2;
  const label = make(barLayer, 'text', {
    x: (x + (isLeft ? 4 : -4)).toFixed(1), y: place.head - 33, 'text-anchor': isLeft ? 'start' : 'end',
  }, text);
  fitText(label, isLeft ? place.width - x - 8 : x - 8);
}

function drawDelta() {
  const [a, b] = bars.map(({ ns }) => ns).sort((first, second) => first - second);
  const clamp = (x) => Math.min(Math.max(x, place.left), place.right);
  const [x1, x2] = [clamp(toX(a / nsPerColumn)), clamp(toX(b / nsPerColumn))];
  const y = place.head - 29;
  const half = nsPerColumn < 1000 ? '' : `, give or take ${formatNs(nsPerColumn)}`;
  make(barLayer, 'rect', { class: 'span', x: x1, y: place.head, width: x2 - x1, height: place.bottom - place.head });
  make(barLayer, 'path', { d: `M${x1.toFixed(1)} ${y}H${x2.toFixed(1)}` });
  const text = `delta = ${formatNs(b - a)}${half} (${formatMoment(a, nsPerColumn)} to ${formatMoment(b, nsPerColumn)})`;
  const label = make(barLayer, 'text', { y: place.head - 33, 'text-anchor': 'middle' }, text);
  fitText(label, place.width - 16);
  const width = label.getComputedTextLength() / 2;
  set(label, { x: Math.min(Math.max((x1 + x2) / 2, 8 + width), place.width - 8 - width).toFixed(1) });
}
