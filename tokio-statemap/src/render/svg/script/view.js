// The part of the picture in view, and its place on the screen.

const view = { from: 0, to: data.columns, top: 0 };
const past = [];
const place = { width: 0, height: 0, left: 0, right: 0, mapWidth: 0, head: 0, bottom: 0, content: 0, legendTop: 0, isLegendFixed: true };
// A picture without any length has columns of one ns, too.
const nsPerColumn = Math.max(1, data.length) / data.columns;
const FEWEST = Math.min(16, data.columns);
let pending = false;
let lastKept = 0;

const mapHeight = Number(byId('map').getAttribute('height'));
const toX = (column) => place.left + ((column - view.from) / (view.to - view.from)) * place.mapWidth;
const toColumn = (x) => view.from + ((x - place.left) / place.mapWidth) * (view.to - view.from);

/** Remembers the view for `back`. Changes that follow quickly are one step. */
function keep() {
  const now = Date.now();
  if (now - lastKept > 500) past.push({ ...view });
  lastKept = now;
  if (past.length > 100) past.shift();
}

/** Shows these columns, within the picture. */
function show(from, to) {
  const size = Math.min(data.columns, Math.max(FEWEST, to - from));
  const middle = (from + to) / 2;
  view.from = Math.min(Math.max(0, middle - size / 2), data.columns - size);
  view.to = view.from + size;
  redraw();
}

/** Zooms in (factor over 1) or out around `x`. */
function zoom(factor, x = place.left + place.mapWidth / 2) {
  const at = Math.min(Math.max(toColumn(x), view.from), view.to);
  const size = Math.min(data.columns, Math.max(FEWEST, (view.to - view.from) / factor));
  const share = (at - view.from) / (view.to - view.from);
  const from = Math.min(Math.max(0, at - share * size), data.columns - size);
  keep();
  show(from, from + size);
}

/** Moves by a share of the view. */
function pan(share) {
  const by = share * (view.to - view.from);
  const from = Math.min(Math.max(0, view.from + by), data.columns - (view.to - view.from));
  show(from, from + (view.to - view.from));
}

function scrollTo(top) {
  view.top = Math.min(Math.max(0, top), Math.max(0, place.content - (place.bottom - place.head)));
  redraw();
}

function back() {
  const before = past.pop();
  if (!before) return;
  lastKept = 0;
  show(before.from, before.to);
  scrollTo(before.top);
}

function fit() {
  // Always a step of its own.
  lastKept = 0;
  keep();
  lastKept = 0;
  show(0, data.columns);
}

function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    drawNow();
  });
}

function drawNow() {
  const legendTop = place.isLegendFixed ? place.bottom : place.head + place.legendTop - view.top;
  set(byId('legend'), { transform: `translate(0 ${legendTop})` });
  set(byId('body'), { transform: `translate(0 ${place.head - view.top})` });
  set(byId('map'), { viewBox: `${view.from} 0 ${view.to - view.from} ${mapHeight}` });
  if (byId('strip')) set(byId('strip'), { viewBox: `${view.from} 0 ${view.to - view.from} ${byId('strip').getAttribute('height')}` });
  drawAxis();
  drawBars();
  drawThumb();
}

/** Lays out everything for the size of the window. */
function layOut() {
  place.width = Math.max(280, window.innerWidth);
  const isNarrow = place.width < 700;
  place.left = isNarrow ? 92 : 145;
  place.right = place.width - (isNarrow ? 14 : 22);
  place.mapWidth = place.right - place.left;
  layOutHead(isNarrow);
  const legendHeight = layOutLegend(isNarrow);
  const notes = byId('notes');
  notes.replaceChildren();
  let y = 4;
  for (const note of data.notes) {
    y += fillLines(notes, note, { x: 15, y, width: place.width - 30, lineHeight: 16, lines: isNarrow ? 6 : 2 });
  }
  place.height = Math.max(window.innerHeight, place.head + 120 + legendHeight);
  place.legendTop = mapHeight + y + 8;
  // On a small screen the legend scrolls with the rows; otherwise it stays at the bottom.
  place.isLegendFixed = legendHeight < place.height / 4;
  place.content = place.legendTop + (place.isLegendFixed ? 0 : legendHeight);
  place.bottom = Math.min(place.height - (place.isLegendFixed ? legendHeight : 0), place.head + place.content);
  set(root, { viewBox: `0 0 ${place.width} ${place.height}`, width: place.width, height: place.height });
  set(byId('map'), { x: place.left, width: place.mapWidth });
  for (const { label, name } of rows) {
    if (!label) continue;
    label.textContent = name;
    set(label, { x: place.left - 6 });
    fitText(label, place.left - 14);
  }
  for (const heading of byId('labels').querySelectorAll('.section, .group')) layOutHeading(heading, isNarrow);
  layOutPanel();
  scrollTo(view.top);
}

/** Shows a heading in full if there is room, otherwise without the details behind it. */
function layOutHeading(heading, isNarrow) {
  heading.full ??= [...heading.childNodes].map((node) => node.textContent);
  const [title, more] = heading.childNodes;
  title.textContent = heading.full[0];
  if (more) more.textContent = heading.full[1] ?? '';
  if (!isNarrow || !more) return;
  const room = place.width - 40;
  for (const end of [',', ' (']) {
    if (heading.getComputedTextLength() > room) more.textContent = more.textContent.split(end)[0];
  }
  const text = [...heading.full[0]];
  for (let kept = text.length - 1; kept > 8 && heading.getComputedTextLength() > room; kept--) {
    title.textContent = `…${text.slice(-kept).join('')}`;
  }
}

function layOutHead(isNarrow) {
  const middle = place.width / 2;
  const shift = isNarrow ? 34 : 0;
  set(byId('name'), { x: middle, y: 26 + shift });
  byId('name').textContent = titleText;
  fitText(byId('name'), place.width - (isNarrow ? 24 : 500));
  set(byId('where'), { x: middle, y: 45 + shift });
  byId('where').textContent = whereText;
  fitText(byId('where'), place.width - (isNarrow ? 24 : 460));
  const verdict = byId('verdict');
  verdict.replaceChildren();
  let y = 50 + shift;
  if (data.verdict) {
    const [headline, rest] = data.verdict;
    const fill = (text, kind, lineHeight, lines) =>
      fillLines(verdict, text, { x: 15, y, width: place.width - 30, lineHeight, lines, attributes: { class: kind } });
    y += fill(headline, 'headline', 20, isNarrow ? 8 : 3);
    if (rest) y += fill(rest, 'rest', 16, isNarrow ? 8 : 3);
  }
  if (byId('strip')) y = layOutStrip(y + 4, isNarrow);
  set(byId('axis'), { transform: `translate(${place.left} ${y + 50})` });
  place.head = y + 52;
  set(byId('head').querySelector('.paper'), { width: place.width, height: place.head });
  layOutButtons(isNarrow);
}

/** Lays out the sentence on what is kept in detail and the strip of sums, and returns where they end. */
function layOutStrip(y, isNarrow) {
  byId('detail').replaceChildren();
  const top = y + 8 + fillLines(byId('detail'), data.detail, { x: 15, y, width: place.width - 30, lineHeight: 16, lines: isNarrow ? 4 : 2 });
  set(byId('strip'), { x: place.left, y: top, width: place.mapWidth });
  set(byId('strip-label'), { y: top + 17 });
  return top + Number(byId('strip').getAttribute('height')) + 4;
}

const titleText = byId('name').textContent;
const whereText = byId('where').textContent;
