// Finds and makes elements. Text of the data is only ever inserted as text.

const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);

/** Sets attributes. */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** Appends a new element to `parent`. */
function make(parent, tag, attributes = {}, text = null) {
  const element = set(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

/** Makes an element a button, for the pointer and for keys. */
function button(element, label, press) {
  set(element, { role: 'button', tabindex: 0, 'aria-label': label, 'data-ui': '' });
  element.addEventListener('click', (event) => press(event));
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    press(event);
  });
}

/** Replaces the middle of a text that is too wide by "…". */
function fitText(element, width) {
  const text = [...element.textContent];
  const wide = element.getComputedTextLength();
  if (wide <= width) return;
  // Begin with about as many characters as may fit.
  const likely = Math.min(text.length - 1, Math.ceil((text.length * width * 1.3) / wide));
  for (let keep = likely; keep > 0; keep--) {
    const tail = Math.ceil(keep / 2);
    element.textContent = `${text.slice(0, keep - tail).join('')}…${text.slice(-tail).join('')}`;
    if (element.getComputedTextLength() <= width) return;
  }
}

/** Fills `parent` with lines of text of at most `width`, and returns their height. */
function fillLines(parent, text, { x, y, width, lineHeight, lines, attributes = {} }) {
  const words = text.split(' ');
  let count = 0;
  while (words.length > 0 && count < lines) {
    const line = make(parent, 'text', { x, y: y + ++count * lineHeight, ...attributes });
    let taken = 1;
    line.textContent = words[0];
    while (taken < words.length) {
      line.textContent = words.slice(0, taken + 1).join(' ');
      if (line.getComputedTextLength() > width) break;
      taken++;
    }
    const isLast = count === lines;
    line.textContent = (isLast ? words.splice(0) : words.splice(0, taken)).join(' ');
    fitText(line, width);
  }
  return count * lineHeight;
}
