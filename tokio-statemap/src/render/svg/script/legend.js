// The legend: a click on a state shows it alone, and where its time goes.

let chosen = null;
let filtered = null;
const dimming = make(root, 'style');

/** Greys every other state of the section; null: none. */
function choose(section, state) {
  const isSame = state === null || (chosen?.section === section && chosen.state === state);
  if (chosen && chosen.section !== section && chosen.section.sortedBy != null) sortRows(chosen.section, null);
  if (isSame && section?.sortedBy != null) sortRows(section, null);
  chosen = isSame ? null : { section, state };
  // Not by opacity: what lies beneath would show.
  const of = chosen && `#map .c${section.index} `;
  // What is there no more is blank, unless it is what is looked for.
  const ended = chosen && section.states[state].end ? `${of}.s${state}{fill:currentColor}` : '';
  dimming.textContent = chosen
    ? `${of}path[class^="s"]:not(.s${state}){fill:var(--dimming);shape-rendering:crispEdges}${ended}`
    : '';
  for (const item of byId('legend').querySelectorAll('.k[data-s]')) {
    const isChosen = chosen && item.parentNode.classList.contains(`c${section.index}`) && Number(item.dataset.s) === state;
    item.classList.toggle('chosen', Boolean(isChosen));
    set(item, { 'aria-pressed': Boolean(isChosen) });
  }
  if (chosen) describeState(section, state);
  else {
    filter(null);
    closePanel();
  }
}

/** Shows only the rows of one group strongly; null: all. */
function filter(which) {
  filtered = which;
  const last = (section) => section.groups.length - 1;
  for (const row of rows) {
    const isOff = which && row.section === which.section && Math.min(row.group, last(row.section)) !== which.group;
    row.element.classList.toggle('off', Boolean(isOff));
    row.label?.classList.toggle('off', Boolean(isOff));
  }
  const first = which && which.section.rows.find((row) => row.group === which.group);
  if (first) scrollTo(first.y - 60);
}

function wireLegend() {
  for (const section of sections) {
    for (const item of byId('legend').querySelectorAll(`.c${section.index} .k[data-s]`)) {
      const state = Number(item.dataset.s);
      button(item, `${section.title}: ${section.states[state].name}`, () => choose(section, state));
      set(item, { 'aria-pressed': false });
    }
  }
  byId('legend').prepend(make(root, 'rect', { class: 'paper', 'data-ui': '' }));
  byId('legend').prepend(make(root, 'path', { class: 'edge', d: '' }));
  byId('legend').prepend(byId('legend').querySelector('.paper'));
}

/** Gives how high the legend is. */
function layOutLegend(isNarrow) {
  let y = 8;
  for (const section of sections) {
    const group = byId('legend').querySelector(`.c${section.index}`);
    if (!group) continue;
    set(group.querySelector('.of'), { y: y + 14 });
    let x = isNarrow ? 15 : place.left;
    if (isNarrow) y += 22;
    for (const item of group.querySelectorAll('.k')) {
      const width = 42 + item.querySelector('text').getComputedTextLength() + 20;
      if (x > 145 && x + width > place.width - 8) {
        x = isNarrow ? 15 : place.left;
        y += 26;
      }
      set(item, { transform: `translate(${Math.round(x)} ${y})` });
      x += width;
    }
    y += 28;
  }
  set(byId('legend').querySelector('.paper'), { width: place.width, height: y + 400 });
  set(byId('legend').querySelector('.edge'), { d: `M0 .5H${place.width}` });
  return y + 6;
}
