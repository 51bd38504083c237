// The panel: a box with the details of a row or a state.

let panel = null;
let panelLines = [];

/** Shows lines: `{text, right, kind, wrap, colour: {section, state}}`. */
function openPanel(lines) {
  panelLines = lines;
  layOutPanel();
}

function closePanel() {
  panelLines = [];
  panel?.remove();
  panel = null;
}

function layOutPanel() {
  panel?.remove();
  panel = null;
  if (panelLines.length === 0) return;
  const width = Math.min(390, place.width - 16);
  panel = make(root, 'g', { id: 'panel', 'data-ui': '', role: 'region', 'aria-label': 'details' });
  const paper = make(panel, 'rect', { width, height: 10, rx: 4, class: 'paper' });
  let y = 10;
  const most = place.height - place.head - 60;
  for (const line of panelLines) {
    if (y > most) {
      make(panel, 'text', { x: 12, y: (y += 16), class: 'more' }, '…');
      break;
    }
    y = drawLine(line, y, width);
  }
  set(paper, { height: y + 12 });
  const close = make(panel, 'g', { class: 'button' });
  make(close, 'rect', { x: width - 28, y: 6, width: 22, height: 22, rx: 3 });
  make(close, 'path', { d: `M${width - 22} 12l10 10m0 -10l-10 10` });
  button(close, 'close', () => closePanel());
  // Beside what was clicked, not on it.
  const clicked = bars.length > 0 ? toX(bars[0].ns / nsPerColumn) : 0;
  const left = clicked > place.width - width - 40 && place.width > 2 * width ? place.left + 8 : place.width - width - 12;
  set(panel, { transform: `translate(${left} ${Math.max(4, Math.min(place.head + 6, place.height - y - 20))})` });
}

function drawLine(line, y, width) {
  const x = line.colour ? 34 : 12;
  const holder = make(panel, 'g', line.kind ? { class: line.kind } : {});
  if (line.colour) {
    const swatch = make(holder, 'g', { class: `c${line.colour.section}` });
    make(swatch, 'rect', { class: `s${line.colour.state}`, x: 12, y: y + 6, width: 16, height: 11 });
  }
  let room = width - x - (y < 30 ? 40 : 12);
  if (line.right) {
    const right = make(holder, 'text', { x: width - 12, y: y + 16, 'text-anchor': 'end' }, line.right);
    room -= right.getComputedTextLength() + 10;
  }
  let height;
  if (line.wrap) {
    height = fillLines(holder, line.text, { x, y, width: room, lineHeight: 16, lines: 6 });
  } else {
    fitText(make(holder, 'text', { x, y: y + 16 }, line.text), room);
    height = 18;
  }
  return y + height + (line.kind === 'title' ? 4 : 0);
}

/** Describes a column of a row in the panel, and returns a short form for the bar. */
function describe(row, column, ns) {
  const run = runsOf(row).find(([from, to]) => from <= column && column < to);
  const state = run ? row.section.states[run[2]] : null;
  const isKept = data.gaps.every(([from, to]) => ns < from || ns >= to);
  const what = !isKept ? `${data.detail ? 'no detail' : 'nothing'} kept` : state ? state.name : 'not there yet';
  const poll = row.polls.find(({ start, held }) => start - nsPerColumn <= ns && ns <= start + held + nsPerColumn);
  const group = row.section.groups[Math.min(row.group, row.section.groups.length - 1)];
  const lines = [{ text: row.name, kind: 'title' }];
  if (row.description) lines.push({ text: row.description, wrap: true });
  if (row.section.groups.length > 1 && group) lines.push({ text: group[0] });
  lines.push({ text: `${what} at ${formatMoment(ns, nsPerColumn)}`, kind: 'strong', colour: run && isKept ? { section: row.section.index, state: run[2] } : null });
  if (run && isKept) {
    const span = (run[1] - run[0]) * nsPerColumn;
    lines.push({ text: `for ${formatNs(span)} at this resolution (a column is ${formatNs(nsPerColumn)})`, kind: 'more' });
  }
  if (poll) {
    const on = Number.isFinite(poll.worker) ? ` on worker-${poll.worker}` : '';
    lines.push({ text: `long poll: exactly ${exactLength(poll.own, poll.held)}${on}, from ${formatExact(poll.start)} on`, wrap: true });
  }
  const held = row.held.find(([start, length]) => start - nsPerColumn <= ns && ns <= start + length + nsPerColumn);
  if (held) {
    const [start, length, task, location, own] = held;
    lines.push({ text: `held by ${task}, ${location}, for exactly ${exactLength(own, length)}, from ${formatExact(start)} on`, wrap: true });
  }
  lines.push({ text: 'total time in each state', kind: 'head' });
  const whole = row.totals.reduce((sum, total, index) => (row.section.states[index].end ? sum : sum + total), 0n);
  row.section.states.forEach(({ name, end }, index) => {
    if (!row.totals[index]) return;
    lines.push({ text: end ? name : `${name} ${formatShare(row.totals[index], whole)}`, right: formatExact(row.totals[index]), colour: { section: row.section.index, state: index } });
  });
  openPanel(lines);
  const more = held ? `, held by ${held[2]} for ${formatNs(held[4])},` : poll ? `, a poll of ${formatNs(poll.own)},` : '';
  return `${row.name}: ${what}${more} at ${formatMoment(ns, nsPerColumn)}`;
}

/** Formats the own time of a poll, and its wall time if the machine took a part of that. */
function exactLength(own, held) {
  return own === held ? formatExact(own) : `${formatExact(own)} (wall time ${formatExact(held)})`;
}

/** Shows how much time each group spent in a state. */
function describeState(section, state) {
  const whole = section.groups.reduce((sum, [, , totals]) => sum + BigInt(totals[state]), 0n);
  const groups = section.groups.map(([label, , totals]) => ({ label, total: BigInt(totals[state]) }));
  groups.sort((a, b) => (a.total < b.total ? 1 : a.total > b.total ? -1 : 0));
  const tags = section.tags.filter(([of]) => of === state);
  const share = (total) => `${formatShare(total, whole)} · ${formatNs(total)}`;
  openPanel([
    { text: section.states[state].name, kind: 'title', colour: { section: section.index, state } },
    { text: `${section.title}: ${formatExact(whole)} in all`, kind: 'more' },
    { text: section.noun === 'task' ? 'by spawn location' : 'by group', kind: 'head' },
    ...groups.slice(0, 40).map(({ label, total }) => ({ text: label, right: share(total) })),
    ...(tags.length > 0 ? [{ text: section.noun === 'task' ? 'by line' : 'by tag', kind: 'head' }] : []),
    ...tags.slice(0, 40).map(([, tag, total]) => ({ text: tag, right: share(BigInt(total)) })),
  ]);
}
