// Formats durations, moments, counts and shares for readers, and finds the ticks of a time axis. All times are in ns.

/**
 * Formats a duration with three significant digits, as in the text report: "400 ns", "51.2 ms", "1.25 s".
 * @param {number} ns
 * @returns {string}
 */
export function formatNs(ns) {
  if (ns < 0) return "\u2212" + formatNs(-ns);
  if (ns < 1e3) return `${Math.round(ns)} ns`;
  // The limits are below 1000: a value that rounds to 1000 of a unit is shown as 1.00 of the next one.
  const [value, unit] =
    ns < 999.5e3 ? [ns / 1e3, "µs"] : ns < 999.5e6 ? [ns / 1e6, "ms"] : [ns / 1e9, "s"];
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${unit}`;
}

/**
 * Formats the length of a poll: its own time, and its wall time if the two differ by more than rounding: "16.8 ms (wall time
 * 23.4 ms)".
 * @param {number} own ns
 * @param {number} wall ns
 * @returns {string}
 */
export function formatLength(own, wall) {
  const [text, beside] = [formatNs(own), formatNs(wall)];
  return text === beside ? text : `${text} (wall time ${beside})`;
}

/**
 * Formats a duration that somebody set, without trailing zeros: "1 ms", "2.5 ms".
 * @param {number} ns
 * @returns {string}
 */
export function formatSetting(ns) {
  const [number, unit] = formatNs(ns).split(" ");
  return `${number.includes(".") ? number.replace(/\.?0+$/, "") : number} ${unit}`;
}

/** The time of the left edge, in ns since the run's start. */
let origin = 0;

/**
 * Makes moments count from the run's start, as in the text report.
 * @param {number} ns the time of the left edge
 */
export function setOrigin(ns) {
  origin = ns;
}

/**
 * Formats a moment in seconds from the run's start: "0.731 s".
 * @param {number} ns from the left edge
 * @param {number} [decimals] 3 by default; 9 is exact to the ns
 * @returns {string}
 */
export function formatMoment(ns, decimals = 3) {
  return `${((ns + origin) / 1e9).toFixed(decimals)} s`;
}

/**
 * Formats a whole number with narrow no-break spaces between thousands: "16 900 000".
 * @param {number|bigint} n
 * @returns {string}
 */
export function formatCount(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/**
 * Formats a share as a percentage, as in the text report: "12.3 %", "100 %".
 * @param {number} share from 0 to 1
 * @returns {string}
 */
export function formatShare(share) {
  const percent = share * 100;
  return `${percent.toFixed(percent >= 99.95 ? 0 : 1)} %`;
}

/**
 * Finds the ticks of a time axis: at multiples of 1, 2 or 5 times a power of ten of ns.
 * @param {number} t0
 * @param {number} t1
 * @param {number} maxTicks the most ticks
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
