//! Text on a terminal: how wide it is, and how it is fitted into columns.

use crate::util::source_path::fit;

/// The columns that a report keeps to.
pub(in crate::render) const COLUMNS: usize = 80;

/// How many columns the text takes. East Asian letters and pictures take two; where that is not
/// certain it is taken for two, so that a line is rather too short than too long.
pub(in crate::render) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    if c < '\u{1100}' || ('\u{2000}'..'\u{2e80}').contains(&c) { 1 } else { 2 }
}

/// The text in at most `columns`: of a longer place its folders are left out, see [`fit`]; of another path its left,
/// where that can be at a folder's border.
pub(in crate::render) fn keep_right(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if let Some(place) = fit(text, columns, width) {
        return place;
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
pub(in crate::render) fn wrap(text: &str) -> Vec<String> {
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
    matches!(word, "ns" | "µs" | "ms" | "s" | "%")
}

/// The text, filled up with spaces on its right.
pub(in crate::render) fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The lines of a table. The first cell of each row is a name: it stands on the left, or else on the
/// right of the others, in the room that they leave.
pub(in crate::render) fn table<const N: usize>(
    rows: &[[String; N]],
    has_names_first: bool,
) -> Vec<String> {
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(widest);
    let cells: usize = widths[1..].iter().sum();
    // Rather narrow gaps than a name that is cut.
    let is_wide = widths[0] + cells + 2 * (N - 1) > COLUMNS && has_names_first;
    let gap = if is_wide { 1 } else { 2 };
    let room = COLUMNS.saturating_sub(cells + gap * (N - 1));
    let names: Vec<String> = rows.iter().map(|row| keep_right(&row[0], room)).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let lines = names.iter().zip(rows).map(|(name, row)| {
        let cells = row[1..].iter().zip(&widths[1..]);
        let padded = cells.map(|(cell, &columns)| {
            format!("{}{cell}", " ".repeat(columns.saturating_sub(width(cell))))
        });
        let padded: Vec<String> = padded.collect();
        let gap = " ".repeat(gap);
        match has_names_first {
            true => format!("{}{gap}{}", pad_right(name, name_width), padded.join(&gap)),
            false => format!("{}{gap}{name}", padded.join(&gap)),
        }
    });
    lines.collect()
}
