import { shorten, titleText, visible } from "../format/text.js";
import { sourceOf } from "../model/frames.js";
import { byId, make } from "./dom.js";

// A file and line that can be copied with a click, or opened where the help says: in an editor, or on a web site.

/** Where the browser remembers it. */
const SOURCES_KEY = "statemap-sources";

/** For how long a button says that its text was copied, in ms. */
const COPIED_MS = 1500;

/** Schemes that would run something in this page. */
const SCRIPTS = /^\s*(javascript|data|vbscript|blob|about|view-source):/i;

/**
 * Returns what is wrong with an address for sources; null if nothing is.
 * @param {string} address "vscode://file/home/me/shop/{file}:{line}"
 */
export const faultOfAddress = (address) => {
  if (address === "") return null;
  if (!/^[a-z][\w+.-]*:/i.test(address) || SCRIPTS.test(address)) return "It must begin with a scheme, such as vscode: or https:.";
  return address.includes("{file}") ? null : "It must contain {file}; {line} is replaced, too.";
};

/**
 * Returns the address of a function's line; null if none is set, or if the line isn't of the program, or if its path would lead out of
 * the folder that the address names.
 */
export const addressOfSource = (address, { file, line, origin }) => {
  if (address === "" || file === null || origin !== "program" || faultOfAddress(address) !== null) return null;
  const parts = file.replaceAll("\\", "/").split("/");
  if (parts.includes("..")) return null;
  let path;
  try {
    path = parts.map(encodeURIComponent).join("/");
  } catch {
    return null; // it isn't Unicode
  }
  // The path of a file outside of the project begins with a slash, which the address may have before it, too.
  return address.replaceAll(path.startsWith("/") ? /(?<=[^/])\/\{file\}|\{file\}/g : "{file}", () => path).replaceAll("{line}", String(Math.max(line, 1)));
};

/** Some browsers keep nothing for pages in files. */
const remembered = () => {
  try {
    return localStorage.getItem(SOURCES_KEY) ?? "";
  } catch {
    return "";
  }
};

const remember = (address) => {
  try {
    localStorage.setItem(SOURCES_KEY, address);
  } catch {
    // It holds until the page is closed.
  }
};

let current = null;

const currentAddress = () => (current ??= remembered());

/** Shows the file and line of a function; null if they aren't known. */
export const sourceLink = (frame) => {
  const source = sourceOf(frame);
  if (source === "") return null;
  const address = addressOfSource(currentAddress(), frame), text = shorten(visible(source), 120);
  if (address !== null) return make("a", { class: "source", href: address, target: "_blank", rel: "noreferrer", title: titleText(`Open ${source}`) }, text);
  const button = make("button", { type: "button", class: "source", title: titleText(`Copy ${source}`) }, text);
  button.addEventListener("click", async () => {
    const done = await copy(visible(source));
    byId("live").textContent = done ? `${visible(source)} is on the clipboard.` : "The browser doesn't let this page copy.";
    button.textContent = done ? "Copied" : "The browser doesn't let this page copy";
    setTimeout(() => { button.textContent = text; }, COPIED_MS);
  });
  return button;
};

/** A page that isn't from a file or by https has no clipboard. */
const copy = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

/** Builds the part of the help that sets where sources are opened. `changed()` is called when it was. */
export const sourceSetting = (changed) => {
  const fault = make("span", { class: "fault", id: "sources-fault", role: "status" });
  const input = make("input", {
    id: "sources", type: "text", spellcheck: "false", autocomplete: "off", placeholder: "vscode://file/home/me/shop/{file}:{line}",
    "aria-describedby": "sources-fault", value: currentAddress(),
  });
  input.addEventListener("input", () => {
    const found = faultOfAddress(input.value.trim());
    fault.textContent = found ?? "";
    if (found !== null) return;
    current = input.value.trim();
    remember(current);
    changed();
  });
  return make("section", {}, make("h3", {}, "Source code"),
    make("p", {}, make("label", { for: "sources" }, "A click on a line of the program copies it, or opens this address: "), input, fault),
    make("p", {}, "In it, {file} and {line} are replaced, as in https://github.com/me/shop/blob/main/{file}#L{line}. It is kept in this browser, not in the page."));
};
