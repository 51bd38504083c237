//! The time axis.

/// Returns the distance between the ticks of an axis in ns: 1, 2 or 5 times a power of ten, with at most
/// `most` ticks.
pub(super) fn step(length_ns: u64, most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for digit in [1, 2, 5] {
            let step = power.saturating_mul(digit);
            if length_ns / step < most || step == u64::MAX {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// Returns the text at a tick, in the unit that suits the whole axis.
pub(super) fn label(ns: u64, length_ns: u64, step_ns: u64) -> String {
    let (unit, unit_ns) = match length_ns {
        0..2_000 => ("ns", 1),
        2_000..2_000_000 => ("µs", 1_000),
        2_000_000..2_000_000_000 => ("ms", 1_000_000),
        _ => ("s", 1_000_000_000_u64),
    };
    let mut decimals = 0;
    let mut fraction = unit_ns;
    while fraction > 1 && step_ns % fraction != 0 {
        fraction /= 10;
        decimals += 1;
    }
    format!("{:.decimals$} {unit}", ns as f64 / unit_ns as f64)
}
