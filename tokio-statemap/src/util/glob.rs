//! Patterns of paths.

/// Returns whether a path has the pattern: `?` stands for one byte but `/`, `*` for any number of those, `**` for any
/// bytes, and `**/` for any folders or none.
pub(crate) fn has_pattern(path: &[u8], pattern: &[u8]) -> bool {
    let any_end = |rest: &[u8], is_wide: bool| {
        let whole = path.len();
        let slash = path.iter().position(|byte| *byte == b'/').unwrap_or(whole);
        let most = if is_wide { whole } else { slash };
        (0..=most).any(|taken| has_pattern(&path[taken..], rest))
    };
    match (pattern, path) {
        ([b'*', b'*', b'/', rest @ ..], _) if has_pattern(path, rest) => true,
        ([b'*', b'*', rest @ ..], _) => any_end(rest, true),
        ([b'*', rest @ ..], _) => any_end(rest, false),
        ([expected, rest @ ..], [byte, path @ ..]) => {
            let is_it = expected == byte || (*expected == b'?' && *byte != b'/');
            is_it && has_pattern(path, rest)
        }
        ([], path) => path.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_parts_of_paths() {
        let has = |path: &str, pattern: &str| has_pattern(path.as_bytes(), pattern.as_bytes());
        for (pattern, yes, no) in [
            ("src/**", vec!["src/a.rs", "src/a/b.rs", "src/"], vec!["src", "tests/src/a.rs"]),
            ("src/*.rs", vec!["src/a.rs", "src/.rs"], vec!["src/a/b.rs", "src/a.rsx"]),
            ("**/auth.rs", vec!["auth.rs", "a/b/auth.rs"], vec!["oauth.rs", "src/auth.rs:7"]),
            ("**/a*/x", vec!["q/a/a1/x", "ab/x"], vec!["q/a/b/x", "q/a1/a2/y"]),
            ("src/a.rs:4?", vec!["src/a.rs:42"], vec!["src/a.rs:4", "src/a.rs:421", "src/a.rs:4/"]),
            ("*", vec!["", "a"], vec!["a/b"]),
            ("", vec![""], vec!["a"]),
            ("a**b*c", vec!["abc", "a/b/bxc"], vec!["a/b/b/c/", "ab/c"]),
        ] {
            for path in yes {
                assert!(has(path, pattern), "{path} {pattern}");
            }
            for path in no {
                assert!(!has(path, pattern), "{path} {pattern}");
            }
        }
    }
}
