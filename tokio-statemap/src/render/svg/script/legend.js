// The legend: a click on a state shows only that state, and its time by group.

let chosen = null;
const dimming = make(root, 'style');

/** Greys all other states of the section; null shows all. */
function choose(section, state) {
  const isSame = state === null || (chosen?.section === section && chosen.state === state);
  chosen = isSame ? null : { section, state };
  // Not by opacity: the path beneath would show through.
  const of = chosen && `#map .c${section.index} `;
  // A state in which a row has ended is blank, unless it is the chosen one.
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
  else closePanel();
}

function wireLegend() {
  for (const section of sections) {
    for (const item of byId('legend').querySelectorAll(`.c${section.index} .k[data-s]`)) {
      const state = Number(item.dataset.s);
      button(item, `${section.title}: ${section.states[state].name}`, () => choose(section, state));
      set(item, { 'aria-pressed': false });
    }
  }
  byId('legend').prepend(make(root, 'rect', { class: 'paper', 'data-ui': '' }), make(root, 'path', { class: 'edge', d: '' }));
}

/** Lays out the legend, and returns its height. */
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
