//! Text in the picture: escaping, shortening, measuring.

use crate::util::clean::{clean, clean_chars};
use crate::util::source_path;
use crate::util::utc::Utc;

/// Escapes text for an element or a quoted attribute of XML 1.0. Characters that XML doesn't allow become
/// U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the text as shown, not yet escaped, in at most `max` characters. A longer text has its middle
/// replaced by `…`, or its folders if it is a source location. Characters that change the direction or hide
/// text are removed.
pub(super) fn display(text: &str, max: usize) -> String {
    if text.len() <= source_path::LONGEST {
        let place = clean(text);
        let width = |text: &str| text.chars().count();
        if let Some(fitted) = source_path::fit(&place, max, &width) {
            return fitted;
        }
    }
    // A name may be very long. No more of it is read than can be shown.
    let mut head: Vec<char> = clean_chars(text.chars()).take(max + 1).collect();
    if head.len() <= max {
        return head.into_iter().collect();
    }
    // Two names differ mostly at their ends: a number, a line.
    let tail = (max * 2 / 3).min(max.saturating_sub(1));
    head.truncate(max.saturating_sub(tail + 1));
    let end: Vec<char> = text.chars().rev().take(tail).collect();
    let end: Vec<char> = clean_chars(end.into_iter().rev()).collect();
    head.push('…');
    head.extend(&end[end.len() - tail.min(end.len())..]);
    head.into_iter().collect()
}

/// Returns the maximum width of the text in pixels at this font size. The font isn't known, so a wide one is
/// assumed.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | 'I' | ' ' | '·' => 0.36,
            'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.44,
            'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
            'A'..='Z' => 0.76,
            c if c < '\u{1100}' => 0.64,
            _ => 1.1,
        })
        .sum();
    em * size
}

/// Shortens the text to `pixels`; its middle is cut.
pub(super) fn fit(text: &str, size: f64, pixels: f64) -> String {
    let mut max = (pixels / (0.36 * size)).max(1.0) as usize;
    loop {
        let shown = display(text, max);
        if max <= 1 || width(&shown, size) <= pixels {
            return shown;
        }
        max -= 1;
    }
}

/// Breaks the text at spaces into at most `lines` lines. The last one is shortened if more is left.
pub(super) fn wrap(text: &str, size: f64, pixels: f64, lines: usize) -> Vec<String> {
    let mut wrapped = Vec::new();
    let mut line = String::new();
    // No text of the picture is longer, but hostile data may be.
    let text = display(text, 200 * lines);
    let mut words = text.split(' ').filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&longer, size) <= pixels {
            line = longer;
        } else if wrapped.len() + 1 >= lines || line.is_empty() {
            let rest: Vec<&str> = words.by_ref().collect();
            let all = if rest.is_empty() { longer } else { format!("{longer} {}", rest.join(" ")) };
            line = fit(&all, size, pixels);
        } else {
            wrapped.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    if !line.is_empty() {
        wrapped.push(fit(&line, size, pixels));
    }
    wrapped
}

/// Formats a number with its noun: `1 task`, `10 000 tasks`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Formats a number with a gap between thousands.
pub(super) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + 4);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push('\u{a0}');
        }
        text.push(c);
    }
    text
}

/// Formats a share as a percentage.
pub(super) fn percent(part: u128, whole: u128) -> String {
    if whole == 0 {
        return "0 %".to_owned();
    }
    let percent = part as f64 / whole as f64 * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        p if p < 0.05 => "< 0.1 %".to_owned(),
        p if p >= 99.95 => format!("{p:.0} %"),
        p => format!("{p:.1} %"),
    }
}

/// Formats a time in UTC, given in seconds since the Unix epoch: `2026-11-21 03:50:00 UTC`.
pub(super) fn utc(seconds: u64) -> String {
    let Utc { year, month, day, hour, minute, second } = Utc::from_unix(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}
