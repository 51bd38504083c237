import { shorten, visible } from "../format/text.js";
import { rowWord } from "../model/names.js";
import { search } from "../model/search.js";
import { fitText, fontOf } from "../draw/fit.js";
import { byId, make } from "./dom.js";

// The search field and its list of results, as an ARIA combobox.

const MOST_LISTED = 50;

const OPTION_FONT = fontOf(400, 13);
/** The space beside a result for the gaps and its kind, in px. */
const KIND_WIDTH = 90;

export class SearchBox {
  /** `show` is called with the chosen result, as a selection. */
  constructor(view, show) {
    this.view = view;
    this.show = show;
    this.input = byId("search");
    this.list = byId("search-results");
    this.found = [];
    this.active = -1;
    this.timer = 0;
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.run(), 60);
    });
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.input.addEventListener("focus", () => { if (this.input.value !== "") this.run(); });
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 120));
    // Otherwise the field would lose the focus before the click arrives.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  run() {
    clearTimeout(this.timer);
    this.timer = 0;
    const text = this.input.value;
    if (text.trim() === "") {
      this.close();
      return;
    }
    const hits = search(this.view.model, text);
    // The list must be visible to have a width.
    this.list.hidden = false;
    this.found = hits.slice(0, MOST_LISTED);
    this.active = this.found.length > 0 ? 0 : -1;
    const options = this.found.map((hit, index) => {
      const section = this.view.model.sections[hit.section];
      const kind = hit.row === undefined ? "location" : rowWord(section);
      return make("li", { id: `search-option-${index}`, role: "option", "aria-selected": index === 0, onclick: () => this.choose(index) },
        make("span", { class: "what" }, fitText(hit.label, this.room(), OPTION_FONT) || "unnamed"), make("span", { class: "kind" }, kind));
    });
    if (hits.length === 0) options.push(make("li", { class: "none", role: "option", "aria-disabled": true }, `No results for “${shorten(visible(text), 40)}”.`));
    else if (hits.length > MOST_LISTED) options.push(make("li", { class: "none", role: "option", "aria-disabled": true }, `more results: keep typing`));
    this.list.replaceChildren(...options);
    this.input.setAttribute("aria-expanded", "true");
    this.mark();
  }

  /** Returns the width of a result beside its kind. */
  room() {
    return this.list.clientWidth - KIND_WIDTH;
  }

  mark() {
    [...this.list.children].forEach((option, index) => {
      if (index < this.found.length) option.setAttribute("aria-selected", String(index === this.active));
    });
    if (this.active < 0) {
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    this.input.setAttribute("aria-activedescendant", `search-option-${this.active}`);
    this.list.children[this.active].scrollIntoView({ block: "nearest" });
  }

  choose(index) {
    const hit = this.found[index];
    if (hit === undefined) return;
    this.close();
    byId("lanes").focus({ preventScroll: true });
    this.show(hit.row === undefined ? { kind: "group", section: hit.section, group: hit.group } : { kind: "row", section: hit.section, row: hit.row });
  }

  close() {
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  onKey(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.run();
      else if (this.found.length > 0) {
        this.active = (this.active + (event.key === "ArrowDown" ? 1 : -1) + this.found.length) % this.found.length;
        this.mark();
      }
    } else if (event.key === "Enter") {
      if (this.list.hidden || this.timer !== 0) this.run();
      this.choose(this.active);
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.input.blur();
      else this.close();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
