//! Finds the ends of parts of a name with brackets.

/// Splits at the last `::` that is in no brackets.
pub(crate) fn split_last(name: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let bytes = name.as_bytes();
    for i in (1..bytes.len()).rev() {
        match bytes[i] {
            b'>' if bytes[i - 1] != b'-' => depth += 1,
            b'<' => depth -= 1,
            b':' if depth == 0 && bytes[i - 1] == b':' => {
                return Some((&name[..i - 1], &name[i + 1..]));
            }
            _ => {}
        }
    }
    None
}

/// Returns the position of the `>` that closes brackets whose `<` is before `inner`.
pub(super) fn end_of(inner: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (i, c) in inner.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' && depth == 0 => return Some(i),
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        before = c;
    }
    None
}

/// Splits at the first `word` that is in no brackets.
pub(super) fn split_at_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut depth = 0_i32;
    let mut before = ' ';
    for (i, c) in text.char_indices() {
        if depth == 0 && text[i..].starts_with(word) {
            return Some((&text[..i], &text[i + word.len()..]));
        }
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        before = c;
    }
    None
}

/// Returns the beginning of the path or type that ends at `end`: the position after the last bracket or comma before it
/// that isn't within the path's own brackets.
pub(super) fn start_of(text: &str, end: usize) -> usize {
    let mut depth = 0_u32;
    let bytes = text.as_bytes();
    for i in (0..end.min(bytes.len())).rev() {
        match bytes[i] {
            b'>' if i == 0 || bytes[i - 1] != b'-' => depth += 1,
            b'<' if depth == 0 => return i + 1,
            b'<' => depth -= 1,
            b',' | b'(' | b'[' | b' ' | b'&' | b'*' if depth == 0 => return i + 1,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_matched() {
        assert_eq!(split_last("a::<b::c as d>::e<f::g>"), Some(("a::<b::c as d>", "e<f::g>")));
        assert_eq!(split_last("e<f::g>"), None);
        assert_eq!(end_of("a<b>, fn() -> c>::d"), Some(15));
        assert_eq!(end_of("a<b>"), None);
        assert_eq!(split_at_word("a<b for c> for d", " for "), Some(("a<b for c>", "d")));
        assert_eq!(split_at_word("a<b for c>", " for "), None);
        assert_eq!(start_of("poll<a, b<c>::d", 15), 8);
        assert_eq!(start_of("a::b", 4), 0);
    }
}
