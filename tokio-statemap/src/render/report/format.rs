//! Numbers and text as a person wants them on a terminal.

/// The columns that a report keeps to.
pub(super) const COLUMNS: usize = 80;

/// A time with three significant digits: `400 us`, `51.2 ms`, `1.25 s`.
pub(crate) fn human(ns: u64) -> String {
    human_sum(ns.into())
}

/// A sum of times, as [`human`] has one.
pub(crate) fn human_sum(ns: u128) -> String {
    if ns < 1_000 {
        return format!("{ns} ns");
    }
    let ns = ns as f64;
    // Not 1000: what is rounded to 1000 of a unit is 1.00 of the next.
    let (value, unit) = match ns {
        ns if ns < 999.5e3 => (ns / 1e3, "us"),
        ns if ns < 999.5e6 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// A time that someone set, without the zeros that it was not set with: `1 ms`, `2.5 ms`.
pub(super) fn human_setting(ns: u64) -> String {
    let text = human(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

/// A moment, as seconds since the start: `0.731 s`.
pub(crate) fn moment(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// Which share of `whole` a `part` is, from 0 to 1; `None` of nothing.
pub(super) fn share(part: impl Into<u128>, whole: impl Into<u128>) -> Option<f64> {
    let (part, whole): (u128, u128) = (part.into(), whole.into());
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A share as a percentage: `12.3 %`, `100 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 99.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// A number with its noun: `1 task`, `2 tasks`.
pub(super) fn count(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

/// How many columns the text takes. East Asian letters and pictures take two; where that is not
/// certain it is taken for two, so that a line is rather too short than too long.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    if c < '\u{1100}' || ('\u{2000}'..'\u{2e80}').contains(&c) { 1 } else { 2 }
}

/// The text in at most `columns`: if it is a longer path, its left is replaced by `…`, where that
/// can be at a folder's border.
pub(super) fn keep_right(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let mut cut = text.len();
    let mut cut_at_folder = None;
    for (at, c) in text.char_indices().rev() {
        let Some(left) = room.checked_sub(char_width(c)) else {
            break;
        };
        room = left;
        cut = at;
        if c == '/' || c == '\\' {
            cut_at_folder = Some(at);
        }
    }
    format!("…{}", &text[cut_at_folder.unwrap_or(cut)..])
}

/// Breaks the text at its spaces into lines of at most [`COLUMNS`], but not between a number and its
/// unit. A word that is longer keeps its right.
pub(super) fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(number) if is_unit(word) && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    for word in &words {
        if !line.is_empty() && width(&line) + 1 + width(word) > COLUMNS {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&keep_right(word, COLUMNS));
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
    matches!(word, "ns" | "us" | "ms" | "s" | "%")
}

/// The text, filled up with spaces on its left.
pub(super) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text, filled up with spaces on its right.
pub(super) fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}
