//! Escapes text for HTML and JSON within HTML.

use std::borrow::Cow;

/// Escapes text for an element or a quoted attribute.
pub(in crate::render) fn escape_html(text: &str) -> Cow<'_, str> {
    escape(text, |c| match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    })
}

/// Escapes JSON for a `script` element. The escaped characters only occur within strings, where the escape
/// means the same.
pub(super) fn escape_json(json: &str) -> Cow<'_, str> {
    escape(json, |c| match c {
        '<' => Some("\\u003c"),
        '>' => Some("\\u003e"),
        '&' => Some("\\u0026"),
        '\u{2028}' => Some("\\u2028"),
        '\u{2029}' => Some("\\u2029"),
        _ => None,
    })
}

fn escape(text: &str, with: fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut plain = 0;
    for (at, c) in text.char_indices() {
        if let Some(other) = with(c) {
            escaped.push_str(&text[plain..at]);
            escaped.push_str(other);
            plain = at + c.len_utf8();
        }
    }
    if plain == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[plain..]);
    Cow::Owned(escaped)
}
