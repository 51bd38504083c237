// The rows, read from the drawn picture.

const sections = data.sections.map((section, index) => ({ ...section, index, rows: [] }));
const rows = [];

function readRows() {
  for (const section of sections) {
    const group = byId('map').querySelector(`.c${section.index}`);
    const labelGroup = byId('labels').querySelector(`.c${section.index}`);
    const labels = labelGroup ? [...labelGroup.querySelectorAll('text:not(.section):not(.group)')] : [];
    const height = Number(group?.dataset.h ?? 0);
    for (const element of group?.querySelectorAll('.r') ?? []) {
      const y = Number(/ (\d+)\)/.exec(element.getAttribute('transform'))[1]);
      const label = labels[section.rows.length] ?? null;
      const row = {
        element, label, section, height, y,
        group: Number(element.dataset.g),
        name: element.querySelector('title').textContent,
        description: element.dataset.d ?? null,
        totals: element.dataset.t.split(',').map(BigInt),
        polls: (element.dataset.p ?? '').split(';').filter(Boolean).map((poll) => {
          const [start, held, own, worker] = poll.split(' ').map(Number);
          return { start, held, own, worker };
        }),
        held: JSON.parse(element.dataset.q ?? '[]'),
        runs: null,
      };
      section.rows.push(row);
      rows.push(row);
    }
  }
}

/** Returns the row at a height of the map. */
function rowAt(y) {
  return rows.find((row) => row.y <= y && y < row.y + row.height) ?? null;
}

/** Returns the bars of a path: from and to, in columns. */
function barsOf(path) {
  let x = 0;
  return [...path.getAttribute('d').matchAll(/([Mm])(\d+) \d+h(\d+)/g)].map(([, command, move, width]) => {
    x = command === 'M' ? Number(move) : x + Number(move);
    return [x, x + Number(width)];
  });
}

/** Returns the runs of a row from left to right: from, to (in columns), state. */
function runsOf(row) {
  if (row.runs) return row.runs;
  const paths = [...row.element.querySelectorAll('path')].filter((path) => /^s\d+$/.test(path.getAttribute('class')));
  const layers = paths.map((path) => [Number(path.getAttribute('class').slice(1)), barsOf(path)]);
  // The first path is drawn beneath the others.
  const [ground, ...others] = layers;
  const runs = others.flatMap(([state, bars]) => bars.map(([from, to]) => [from, to, state]));
  runs.sort((a, b) => a[0] - b[0]);
  const all = [...runs];
  let next = 0;
  for (const [from, to] of ground?.[1] ?? []) {
    let at = from;
    for (; next < runs.length && runs[next][0] < to; next++) {
      if (runs[next][0] > at) all.push([at, runs[next][0], ground[0]]);
      at = Math.max(at, runs[next][1]);
    }
    if (at < to) all.push([at, to, ground[0]]);
  }
  row.runs = all.sort((a, b) => a[0] - b[0]);
  return row.runs;
}
