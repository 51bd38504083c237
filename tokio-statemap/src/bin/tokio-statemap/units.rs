//! Times and sizes on the command line.

const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const SIZES: [(&str, u64); 7] = [
    ("", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// A time in ns.
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    parse(text, &TIMES)
        .ok_or_else(|| "a number and ns, us, ms, s, m or h, such as 250ms or 1.5s".to_owned())
}

/// A time in ns that isn't 0.
pub(crate) fn positive_nanoseconds(text: &str) -> Result<u64, String> {
    match nanoseconds(text)? {
        0 => Err("it is 0: there would be nothing to see".to_owned()),
        ns => Ok(ns),
    }
}

/// A size in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    parse(text, &SIZES)
        .ok_or_else(|| "a number of bytes, or with kB, MB, GB, such as 4MB".to_owned())
}

/// A decimal number and a unit, as a whole number of the smallest unit.
fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let (_, size) = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    let number = number.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(*size)?;
    // What is less than the smallest unit is left out.
    let mut place = *size;
    for digit in fraction.bytes() {
        place /= 10;
        value = value.checked_add(place * u64::from(digit - b'0'))?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes() {
        for (text, ns) in [
            ("0s", 0),
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("7 ns", 7),
            ("0.000000001s", 1),
            ("2m", 120_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Ok(ns), "{text}");
        }
        for text in ["", "5", "s", "-1s", "1.s", ".5s", "1e3s", "1 fortnight", "99999999999999h"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
        assert!(positive_nanoseconds("0ms").is_err());
        for (text, size) in
            [("4000", 4_000), ("4MB", 4_000_000), ("1.5kb", 1_500), ("1MiB", 1 << 20)]
        {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        assert!(bytes("4 apples").is_err());
    }
}
