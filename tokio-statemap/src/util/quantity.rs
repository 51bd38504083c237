//! Formats times, shares and counts for people.

/// Formats a time with three significant digits: `400 µs`, `51.2 ms`, `1.25 s`.
#[inline(never)]
pub(crate) fn human(ns: u64) -> String {
    human_sum(ns.into())
}

/// Formats a sum of times as [`human`] does.
pub(crate) fn human_sum(ns: u128) -> String {
    if ns < 1_000 {
        return format!("{ns} ns");
    }
    let ns = ns as f64;
    // The bound isn't 1000: a value that rounds to 1000 of a unit is 1.00 of the next.
    let (value, unit) = match ns {
        ns if ns < 999.5e3 => (ns / 1e3, "µs"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// Formats own time, and the wall time beside it where that differs by more than rounding: `16.8 ms (wall time 23.4
/// ms)`.
pub(crate) fn own_and_wall(own_ns: u64, wall_ns: u64) -> String {
    let (own, wall) = (human(own_ns), human(wall_ns));
    if own == wall { own } else { format!("{own} (wall time {wall})") }
}

/// Formats a configured time, without trailing zeros: `1 ms`, `2.5 ms`.
pub(crate) fn human_setting(ns: u64) -> String {
    let text = human(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

/// Formats a moment as seconds since the start: `0.731 s`.
#[inline(never)]
pub(crate) fn moment(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// Returns the share of `part` in `whole`, from 0 to 1, or `None` if `whole` is 0.
pub(crate) fn share(part: impl Into<u128>, whole: impl Into<u128>) -> Option<f64> {
    let (part, whole): (u128, u128) = (part.into(), whole.into());
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns `of * part / all`, or 0 if `all` is 0.
pub(crate) fn scale(of: u64, part: u64, all: u64) -> u64 {
    match all {
        0 => 0,
        _ => (u128::from(of) * u128::from(part) / u128::from(all)) as u64,
    }
}

/// Formats a share as a percentage: `12.3 %`, `100 %`.
#[inline(never)]
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 99.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// Formats a number with its noun: `1 task`, `2 tasks`.
#[inline(never)]
pub(crate) fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}
