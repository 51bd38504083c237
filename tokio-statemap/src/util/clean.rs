//! Escapes invisible characters in text.

use std::borrow::Cow;

/// Escapes characters that could move a terminal's cursor, change its colours, reverse the direction of the
/// text, or be invisible.
#[inline(never)]
pub fn clean(text: &str) -> Cow<'_, str> {
    match text.chars().any(is_hidden) {
        true => Cow::Owned(clean_chars(text.chars()).collect()),
        false => Cow::Borrowed(text),
    }
}

/// Escapes such characters in a sequence of characters.
pub(crate) fn clean_chars(chars: impl Iterator<Item = char>) -> impl Iterator<Item = char> {
    chars.flat_map(|c| {
        let escaped = is_hidden(c).then(|| c.escape_default());
        let plain = escaped.is_none().then_some(c);
        plain.into_iter().chain(escaped.into_iter().flatten())
    })
}

/// Returns `true` for a control, a direction mark or override, a line separator, a character that is drawn as
/// nothing (default ignorable in Unicode), and a noncharacter.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
