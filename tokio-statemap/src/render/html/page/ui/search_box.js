import { shorten, visible } from "../format/text.js";
import { search } from "../model/search.js";
import { fitText, fontOf } from "../draw/fit.js";
import { byId, make } from "./dom.js";

// The search field and its list of results, as an ARIA combobox.

const MOST_LISTED = 50;

const OPTION_FONT = fontOf(400, 13);
/** The space beside a result for the gaps and its kind, in px. */
const KIND_WIDTH = 90;

export class SearchBox {
  /** `show` is called with what a result shows, as a selection. */
  constructor(view, show) {
    this.view = view;
    this.show = show;
    this.input = byId("search");
    this.list = byId("search-results");
    this.found = [];
    this.active = -1;
    /** What the chosen result shows, and which of it is shown. */
    this.shown = { all: [], at: 0 };
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
      [this.found, this.active, this.shown] = [[], -1, { all: [], at: 0 }];
      this.close();
      return;
    }
    const hits = search(this.view.model, text);
    // The list must be visible to have a width.
    this.list.hidden = false;
    this.found = hits.slice(0, MOST_LISTED);
    this.active = this.found.length > 0 ? 0 : -1;
    this.shown = { all: [], at: 0 };
    const options = this.found.map((hit, index) => make("li", { id: `search-option-${index}`, role: "option", "aria-selected": index === 0, onclick: () => this.choose(index) },
        make("span", { class: "what" }, fitText(hit.label, this.room(), OPTION_FONT) || "unnamed"), make("span", { class: "kind" }, hit.word)));
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

  /** Shows the first of what a result shows. If there is more, Enter goes on. */
  choose(index) {
    const hit = this.found[index];
    if (hit === undefined) return;
    this.close();
    this.shown = { all: hit.shows(), at: 0 };
    if (this.shown.all.length < 2) byId("lanes").focus({ preventScroll: true });
    this.showOne();
  }

  showOne() {
    const { all, at } = this.shown;
    if (all.length === 0) return;
    const target = all[at % all.length];
    if (target.kind === "tab") {
      byId(`tab-${target.tab}`).click();
      byId(`tab-${target.tab}`).focus();
    } else this.show(target);
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
    } else if (event.key === "Enter" && this.list.hidden && this.timer === 0 && this.shown.all.length > 1) {
      this.shown.at++;
      this.showOne();
    } else if (event.key === "Enter") {
      if (this.list.hidden || this.timer !== 0) this.run();
      this.choose(this.active);
    } else if (event.key === "Escape") {
      if (this.list.hidden) byId("lanes").focus({ preventScroll: true });
      else this.close();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
