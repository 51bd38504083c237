import { shorten, titleText, visible } from "../format/text.js";
import { chartOf } from "../draw/charts/charts.js";
import { make } from "./dom.js";

// The labels of charts: their names are buttons that hide and show them; beside each are the ends of its y-axis.

/** A narrower gutter has room for short names only, in px. */
const NARROW_GUTTER = 160;
/** The most characters of a heading. */
const HEADING = 34;

export class ChartLabels {
  constructor(view) {
    this.view = view;
  }

  /** Builds the element of a chart's item, or of their heading. */
  make(item) {
    return item.kind === "charts" ? this.heading(item) : this.label(item);
  }

  heading({ run, charts }) {
    const { name } = this.view.model.runs[run];
    const of = name === "" ? "" : `, ${visible(name)}`;
    return make("button", {
      type: "button", class: "row section charts", title: titleText(`Charts over time${of}: hide or show all of them`), onclick: () => this.view.toggleCharts(charts),
    }, make("span", { class: "fold", "aria-hidden": "true" }), make("span", { class: "name" }, shorten(`Over time${of}`, HEADING)));
  }

  label({ chart, isHidden }) {
    const { name, short, title } = chartOf(chart);
    const element = make("button", {
      type: "button", class: `row chart${isHidden ? " off" : ""}`, title, "data-chart": chart, "aria-expanded": String(!isHidden),
      onclick: () => this.view.toggleChart(chart),
    }, make("span", { class: "fold", "aria-hidden": "true" }, isHidden ? "▶" : "▼"),
    make("span", { class: "name" }, this.view.gutter < NARROW_GUTTER ? short : name));
    if (!isHidden) element.append(make("span", { class: "scale top" }), make("span", { class: "scale bottom" }));
    return element;
  }

  /** Updates the element: the ends of its axis depend on the view. */
  update(element, item) {
    const { view } = this;
    if (item.kind === "charts") {
      const isOpen = item.charts.some((key) => !view.hiddenCharts.has(key));
      element.setAttribute("aria-expanded", String(isOpen));
      element.firstChild.textContent = isOpen ? "▼" : "▶";
      return;
    }
    if (item.isHidden) return;
    const { scale } = view.chartData.of(item.chart);
    const set = (end, text) => {
      const of = element.querySelector(`.${end}`);
      if (of.textContent !== text) of.textContent = text;
    };
    set("top", scale.label(scale.top));
    set("bottom", scale.label(scale.bottom));
  }
}
