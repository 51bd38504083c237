import { formatCount, formatMoment, formatNs, formatShare } from "../format/numbers.js";
import { plural, shorten, titleText, visible } from "../format/text.js";
import { byId, make } from "./dom.js";
import { SortedTable } from "./sorted_table.js";

// The requests tab: what spans of `tracing` took, and what they did in that time. It is hidden if there are none.

const [SPAN_P50, SPAN_P90, SPAN_P99, SPAN_LONGEST] = [1, 2, 3, 4];
const timeColumn = (heading, title, place) => [heading, title, ({ times }) => times[place], ({ times }) => formatNs(times[place])];

/** The columns, see `SortedTable`. */
const REQUEST_COLUMNS = [
  ["Count", "Spans that closed", ({ count }) => count, ({ count }) => formatCount(count)],
  timeColumn("p50", "Median time from a span's opening to its close", SPAN_P50),
  timeColumn("p90", "90th percentile of that time", SPAN_P90),
  timeColumn("p99", "99th percentile of that time", SPAN_P99),
  timeColumn("Longest", "The longest span", SPAN_LONGEST),
  ["Total", "Sum over all spans", ({ total }) => total, ({ total }) => formatNs(total)],
];
const BY_TOTAL = 5;

/** The parts of a span's time: the member, its name, and what links it to a place. */
const REQUEST_PARTS = [
  ["running", "running", "in"],
  ["ready", "ready", "behind"],
  ["waiting", "waiting", "at"],
  ["elsewhere", "outside of the span in its task", ""],
  ["unknown", "unknown", ""],
];

const LATE_BEHIND = "of it while no worker looked for timers and I/O, behind";

/** Fills the tab, and shows it if there are requests. `reveal(target)` scrolls to a lane, `zoomAround(from, to)` zooms to a time. */
export const prepareRequests = (view, { reveal, zoomAround }) => {
  const of = view.model.sections.filter(({ requests }) => requests);
  const all = of.map(({ requests }) => requests);
  if (all.length === 0) return;
  const rows = of.flatMap(({ requests, index }) => requests.rows.map((row) => ({ ...row, section: index })));
  const show = (section, { shown: [t0, to], row }) => {
    const t1 = Math.max(to, t0 + 1);
    view.select({ kind: "range", t0, t1 });
    if (row !== null) reveal({ kind: "row", section, row });
    zoomAround(t0, t1);
  };
  const pane = byId("pane-requests");
  const draw = () => pane.replaceChildren(
    make("h2", {}, "Requests", make("span", { class: "count" }, "whole run")),
    make("p", { class: "hint" }, "Spans of tracing. Open one to see what it did."),
    ...table.draw(rows),
    ...missingSpans(all),
  );
  const table = new SortedTable({ columns: REQUEST_COLUMNS, sort: BY_TOTAL, nameOf: (row) => requestName(row, show), redraw: draw });
  byId("tab-requests").hidden = false;
  draw();
};

/** The name of a row, which opens to what its spans did. `show(section, span)` shows one on the timeline. */
const requestName = (row, show) => {
  const name = make("span", { title: titleText(`${row.name} of ${row.target}`) }, shorten(visible(row.name), 60));
  if (row.parts.spans === 0) return name;
  const details = make("details", { class: "request" },
    make("summary", {}, name, make("span", { class: "source" }, sharesText(row.parts))),
    ...partsOfSpans(`${formatCount(row.parts.spans)} of ${plural(row.count, "span", formatCount(row.count))}, whose surroundings are kept`, row.parts),
    ...partsOfSpans(`The slowest ${formatCount(row.slowest.spans)} of these`, row.slowest),
  );
  // There may be a thousand rows.
  details.addEventListener("toggle", () => {
    if (row.longest.length === 0 || details.querySelector("ol") !== null) return;
    details.append(
      make("p", { class: "hint" }, `The longest of the ${formatCount(row.parts.spans)}, one by one:`),
      make("ol", {}, ...row.longest.map((span) => make("li", {}, ...oneSpan(row.section, span, show)))),
    );
  });
  return details;
};

/** One span: its length, which leads to it, and what it did most. */
const oneSpan = (section, span, show) => {
  const { parts, shown } = span;
  const length = formatNs(parts.length);
  const [most] = REQUEST_PARTS.filter(([part]) => parts[part] > 0).sort(([a], [b]) => parts[b] - parts[a]);
  const did = most === undefined ? [] : [`${formatShare(shareOfSpans(parts, most[0]))} ${most[1]}`];
  const places = parts.causes.filter(([state]) => state === most?.[0]).slice(0, 1);
  return [
    shown === null ? `${length}, outside of what is shown`
      : make("button", { type: "button", class: "step", onclick: () => show(section, span) }, `${length} ${span.isEarly ? "from before what is shown" : `at ${formatMoment(shown[0], 6)}`}`),
    make("span", { class: "source", title: places.map(([, place]) => titleText(place)).join("") },
      [...did, ...places.map(([, place]) => `${most[2]} ${shorten(visible(place), 80)}`)].join(" ")),
  ];
};

/** The shares of the three parts that matter most. */
const sharesText = (parts) => REQUEST_PARTS.slice(0, 3).map(([part, name]) => `${name} ${formatShare(shareOfSpans(parts, part))}`).join(", ");

const shareOfSpans = (parts, part) => (parts.length > 0 ? parts[part] / parts.length : 0);

/** Lists the parts of spans, each with its places. */
const partsOfSpans = (title, parts) => [
  make("p", { class: "hint" }, `${title}: ${formatNs(parts.length)} in all.`),
  make("ul", {}, ...REQUEST_PARTS.filter(([part]) => parts[part] > 0).map(([part, name, link]) => make("li", {},
    `${formatNs(parts[part])} (${formatShare(shareOfSpans(parts, part))}) ${name}`,
    ...parts.causes.filter(([state]) => state === part || (state === "late" && part === "waiting")).map(([state, place, ns]) =>
      make("span", { class: "source", title: titleText(place) }, `${formatNs(ns)} ${state === "late" ? LATE_BEHIND : link} ${shorten(visible(place), 120)}`)))))
];

/** Notes on the spans that aren't in the table. */
const missingSpans = (all) => {
  const sum = (of) => all.reduce((sum, requests) => sum + of(requests), 0);
  const notes = [
    [sum(({ open }) => open), "still open at the end"],
    [sum(({ cut }) => cut), "not recorded as a whole"],
    [sum(({ lost }) => lost), "lost"],
  ].filter(([n]) => n > 0).map(([n, what]) => `${plural(n, "span", formatCount(n))} ${what}`);
  return notes.length === 0 ? [] : [make("p", { class: "hint" }, `Not counted: ${notes.join(", ")}.`)];
};
