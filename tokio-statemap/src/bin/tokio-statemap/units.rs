//! Times and sizes on the command line.

use crate::duration;

const SIZES: [(&str, u64); 7] = [
    ("", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Parses a time of the data, in ns.
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    time(text, |positive| {
        format!("times count from the left edge, which is 0s; use {positive}, or leave it out")
    })
}

/// Parses a duration over 0, in ns.
pub(crate) fn positive_nanoseconds(text: &str) -> Result<u64, String> {
    match nanoseconds(text)? {
        0 => Err("it is 0: nothing would be shown; leave it out to show all".to_owned()),
        ns => Ok(ns),
    }
}

/// Parses an upper limit of a duration, in ns.
pub(crate) fn limit(text: &str) -> Result<u64, String> {
    match time(text, |positive| format!("a limit must be positive; use {positive}"))? {
        0 => Err("it is 0: a limit must be positive; use a time such as 5ms".to_owned()),
        ns => Ok(ns),
    }
}

/// Parses a time, in ns. If it is negative, `advice` gets its absolute value and returns what to do.
fn time(text: &str, advice: impl Fn(&str) -> String) -> Result<u64, String> {
    let problem = || match text.strip_prefix('-') {
        Some(positive) if duration::nanoseconds(positive).is_some() => {
            format!("it is negative: {}", advice(positive))
        }
        _ => "it must be a number and ns, us, ms, s, m or h, such as 250ms or 1.5s".to_owned(),
    };
    duration::nanoseconds(text).ok_or_else(problem)
}

/// Parses a size, in bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    size(text)
        .ok_or_else(|| "it must be a number of bytes, or with kB, MB, GB, such as 4MB".to_owned())
}

fn size(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let (_, bytes) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?;
    duration::multiple(number, *bytes)
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
            ("7ns", 7),
            ("0.000000001s", 1),
            ("2m", 120_000_000_000),
        ] {
            assert_eq!(nanoseconds(text), Ok(ns), "{text}");
        }
        for text in ["", "5", "s", "-1s", "1.s", ".5s", "1e3s", "1 fortnight", "99999999999999h"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
        // As in the attribute's keys.
        for text in ["7 ns", " 7ns", "7NS", "0.5ns"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
        assert!(positive_nanoseconds("0ms").is_err());
        assert_eq!(limit("5ms"), Ok(5_000_000));
        assert!(limit("0s").unwrap_err().starts_with("it is 0: a limit must be positive"));
        assert!(limit("-5ms").unwrap_err().ends_with("use 5ms"));
        assert_eq!(limit("-x"), nanoseconds("-x"));
        for (text, size) in
            [("4000", 4_000), ("4MB", 4_000_000), ("1.5kb", 1_500), ("1MiB", 1 << 20)]
        {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        assert!(bytes("4 apples").is_err());
    }
}
