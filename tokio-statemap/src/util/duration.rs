//! Parses durations such as `"250us"` and `"1.5s"`.
//!
//! The attribute's keys, the environment variables, and the command's options use the same syntax. The code exists in two
//! files, as a procedural macro exports no functions and two packages can't share a file:
//! `tokio-statemap-macros/src/args/duration.rs` and `tokio-statemap/src/util/duration.rs`. A test of the macros checks that
//! they are equal.

/// The units with their lengths in ns.
const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Parses a decimal number directly followed by a unit, and returns the duration in ns.
///
/// Returns `None` if the text is no duration, no whole number of ns, or over `u64::MAX` ns (584
/// years).
pub(crate) fn nanoseconds(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(unit_at);
    let (_, unit_ns) = UNITS.iter().find(|(name, _)| *name == unit)?;
    multiple(number, *unit_ns)
}

/// Returns `number` times `unit`, if that is a whole number.
pub(crate) fn multiple(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (number, ""),
    };
    // `u64::from_str` would take a sign.
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }

    let mut value = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in fraction.bytes().map(|byte| u64::from(byte - b'0')) {
        // This digit's part may be no whole number although that of its place is: a tenth of a
        // minute is a whole number of ns, a tenth of a ns is not.
        if place % 10 != 0 && digit != 0 {
            return None;
        }
        place /= 10;
        value = value.checked_add(digit * place)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn a_number_and_a_unit() {
        for (text, ns) in [
            ("0s", 0),
            ("7ns", 7),
            ("250us", 250_000),
            ("250ms", 250_000_000),
            ("2s", 2_000_000_000),
            ("1m", 60_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.25ms", 250_000),
            ("1.0ns", 1),
            ("0.000000001s", 1),
            ("0.5m", 30_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Some(ns), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "5",
            "s",
            "1 s",
            " 1s",
            "1s ",
            "-1s",
            "+1s",
            "1.s",
            ".5s",
            "1.5.5s",
            "1,5s",
            "1S",
            "1µs",
            "1e3s",
            "1d",
            "1s2ms",
            "0.5ns",
            "0.0000000001s",
            "6000000h",
            "99999999999999999999s",
        ] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }
}
