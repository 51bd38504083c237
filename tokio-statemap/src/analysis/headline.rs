//! What of a verdict is its headline.

/// The verdict's first sentence, and what follows it; neither has spaces at its ends.
///
/// A sentence ends where a full stop is followed by a space and a capital or a number: `main.rs:3 held …` goes on. Its
/// words may be parted by spaces or by line breaks.
pub(crate) fn split(verdict: &str) -> (&str, &str) {
    let is_end = |end: &usize| {
        let mut after = verdict[*end..].chars();
        match (after.next(), after.next()) {
            (Some(gap), Some(next)) => {
                gap.is_whitespace() && (next.is_uppercase() || next.is_ascii_digit())
            }
            (None, _) => true,
            _ => false,
        }
    };
    let mut ends = verdict.match_indices('.').map(|(at, _)| at + 1);
    let end = ends.find(is_end).unwrap_or(verdict.len());
    (verdict[..end].trim(), verdict[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_first_sentence_is_the_headline() {
        for (verdict, headline, rest) in [
            ("Nothing was recorded.", "Nothing was recorded.", ""),
            (
                "a::b at src/a.rs:7 held it up. It took 3.5 ms.",
                "a::b at src/a.rs:7 held it up.",
                "It took 3.5 ms.",
            ),
            ("One\nsentence. Another\none.", "One\nsentence.", "Another\none."),
            (
                "Up to 1.5 tasks waited. 3 had to. Then none.",
                "Up to 1.5 tasks waited.",
                "3 had to. Then none.",
            ),
            ("no full stop", "no full stop", ""),
            ("", "", ""),
        ] {
            assert_eq!(split(verdict), (headline, rest), "{verdict}");
        }
    }
}
