// Numbers, times and text as a person wants them to read: durations, moments, counts, the ticks of a
// time axis. All times are ns.

/**
 * A duration with three significant digits, as in the text report: "400 ns", "51.2 ms", "1.25 s".
 * @param {number} ns
 * @returns {string}
 */
export function formatNs(ns) {
  if (ns < 0) return "\u2212" + formatNs(-ns);
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  // Not 1000: what is rounded to 1000 of a unit is 1.00 of the next.
  const [value, unit] =
    ns < 999.5e3 ? [ns / 1e3, "µs"] : ns < 999.5e6 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

/**
 * How long a poll took: its own time, and the wall time beside it where that differs by more than rounding: "16.8 ms
 * (wall time 23.4 ms)".
 * @param {number} own ns
 * @param {number} wall ns
 * @returns {string}
 */
export function formatLength(own, wall) {
  const [text, beside] = [formatNs(own), formatNs(wall)];
  return text === beside ? text : `${text} (wall time ${beside})`;
}

/**
 * The same without the zeros of what somebody set: "1 ms", "2.5 ms".
 * @param {number} ns
 * @returns {string}
 */
export function formatSetting(ns) {
  const [number, unit] = formatNs(ns).split(" ");
  return `${number.includes(".") ? number.replace(/\.?0+$/, "") : number} ${unit}`;
}

/** When the left edge is, in ns since the run's start. */
let origin = 0;

/**
 * Has moments count from the run's start, as in the text report.
 * @param {number} ns when the left edge is
 */
export function setOrigin(ns) {
  origin = ns;
}

/**
 * A moment in seconds from the run's start: "0.731 s".
 * @param {number} ns from the left edge
 * @param {number} [decimals] 3 if not given; 9 is to the ns
 * @returns {string}
 */
export function formatMoment(ns, decimals = 3) {
  return `${((ns + origin) / 1e9).toFixed(decimals)} s`;
}

/**
 * A whole number with thin gaps between thousands: "16 900 000" (the gaps don't break a line).
 * @param {number|bigint} n
 * @returns {string}
 */
export function formatCount(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/**
 * A share as a percentage, as in the text report: "12.3 %", "100 %".
 * @param {number} share from 0 to 1
 * @returns {string}
 */
export function formatShare(share) {
  const percent = share * 100;
  return `${percent.toFixed(percent >= 99.95 ? 0 : 1)} %`;
}

const NS_OF_UNIT = new Map([
  ["ns", 1], ["us", 1e3], ["µs", 1e3], ["μs", 1e3], ["ms", 1e6],
  ["s", 1e9], ["sec", 1e9], ["m", 60e9], ["min", 60e9],
]);

/**
 * A duration that somebody typed: "1.5ms", "20 us", "2s".
 * @param {string} text
 * @returns {number|null} whole ns; null if it can't be read
 */
export function parseDuration(text) {
  const match = /^\s*(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})\s*([a-zµμ]{1,3})\s*$/i.exec(text);
  const unit = match && NS_OF_UNIT.get(match[2].toLowerCase());
  if (!unit) return null;
  const ns = Math.round(Number(match[1]) * unit);
  return Number.isSafeInteger(ns) ? ns : null;
}

/**
 * Where a time axis has its ticks: at multiples of 1, 2 or 5 times a power of ten of ns.
 * @param {number} t0
 * @param {number} t1
 * @param {number} maxTicks at most so many
 * @returns {{ticks: number[], step: number, format: (ns: number) => string}} all labels of one axis
 *   have the same unit and the same number of decimals
 */
export function niceTicks(t0, t1, maxTicks) {
  const least = Math.max(1, (t1 - t0) / Math.max(1, maxTicks));
  let step = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((f) => f * step >= least * (1 - 1e-12)) ?? 10;
  step = Math.max(1, Math.round(step * factor));
  const ticks = [];
  for (let i = Math.ceil((t0 + origin) / step); i * step - origin <= t1 && ticks.length < maxTicks; i++) {
    // Not −0.
    ticks.push(i * step - origin + 0);
  }
  const largest = Math.max(Math.abs(t0 + origin), Math.abs(t1 + origin), step);
  const [unit, name] =
    largest < 1e3 ? [1, "ns"] : largest < 1e6 ? [1e3, "µs"] : largest < 1e9 ? [1e6, "ms"] : [1e9, "s"];
  const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return { ticks, step, format: (ns) => `${((ns + origin) / unit).toFixed(decimals)} ${name}` };
}
