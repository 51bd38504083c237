// Elements of the page.

/** A new element with attributes and children (strings become text). */
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

/** The element with this id. */
export const byId = (id) => document.getElementById(id);
