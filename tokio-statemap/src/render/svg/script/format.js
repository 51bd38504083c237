// Formats times and numbers.

/** Formats a time in ns (number or BigInt) with three significant digits: "51.2 ms". */
function formatNs(ns) {
  const value = Number(ns);
  if (value < 1000) return `${Math.round(value)} ns`;
  // The limits are below 1000: a value that rounds to 1000 of a unit is shown as 1.00 of the next one.
  const [number, unit] = value < 999.5e3 ? [value / 1e3, 'µs'] : value < 999.5e6 ? [value / 1e6, 'ms'] : [value / 1e9, 's'];
  return `${number.toFixed(number < 9.995 ? 2 : number < 99.95 ? 1 : 0)} ${unit}`;
}

/** Formats a moment with as many decimals as a resolution of `stepNs` needs: "731.25 ms". */
function formatMoment(ns, stepNs) {
  const [size, unit] = data.length < 2e3 ? [1, 'ns'] : data.length < 2e6 ? [1e3, 'µs'] : data.length < 2e9 ? [1e6, 'ms'] : [1e9, 's'];
  const decimals = Math.max(0, Math.min(Math.log10(size), Math.ceil(Math.log10(size / Math.max(stepNs, 1)) - 1e-9)));
  return `${(ns / size).toFixed(decimals)} ${unit}`;
}

/** Formats a BigInt of ns exactly, with spaces between thousands. */
function formatExact(ns) {
  return `${String(ns).replace(/\B(?=(\d{3})+$)/g, '\u00a0')} ns`;
}

function formatShare(part, whole) {
  if (!whole) return '0 %';
  const percent = (Number(part) / Number(whole)) * 100;
  return percent > 0 && percent < 0.05 ? '< 0.1 %' : `${percent.toFixed(percent >= 99.95 || percent === 0 ? 0 : 1)} %`;
}
