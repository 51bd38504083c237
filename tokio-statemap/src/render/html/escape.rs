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

fn escape(text: &str, with: impl Fn(char) -> Option<&'static str>) -> Cow<'_, str> {
    if !text.chars().any(|c| with(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match with(c) {
            Some(other) => escaped.push_str(other),
            None => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
