// Builds and finds elements of the page.

/** Builds an element with attributes and children. Strings become text; null and undefined are left out. */
export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "class") element.className = value;
    else if (name === "onclick") element.addEventListener("click", value);
    else element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

/** Builds a sample of a state's colour, an object with `css` and `blank`. */
export const swatchOf = ({ css, blank }) => {
  const swatch = make("span", { class: `swatch${blank ? " blank" : ""}` });
  if (!blank) swatch.style.background = css;
  return swatch;
};

/** Returns the element with this id. */
export const byId = (id) => document.getElementById(id);
