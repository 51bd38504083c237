//! Text on a terminal, fitted into lines and columns.

pub(in crate::render) use crate::util::columns::{COLUMNS, keep_right, width};

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
    table_of(rows.as_flattened(), N, has_names_first)
}

/// The same of so many columns: compiled once, and not for each number of them.
fn table_of(cells: &[String], columns: usize, has_names_first: bool) -> Vec<String> {
    let mut widths = vec![0; columns];
    for row in cells.chunks(columns) {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    let others: usize = widths[1..].iter().sum();
    // Rather narrow gaps than a name that is cut.
    let is_wide = widths[0] + others + 2 * (columns - 1) > COLUMNS && has_names_first;
    let gap = if is_wide { 1 } else { 2 };
    let room = COLUMNS.saturating_sub(others + gap * (columns - 1));
    let names: Vec<String> = cells.chunks(columns).map(|row| keep_right(&row[0], room)).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut lines = Vec::with_capacity(names.len());
    for (name, row) in names.iter().zip(cells.chunks(columns)) {
        let mut line = if has_names_first { pad_right(name, name_width) } else { String::new() };
        for (place, cell) in row.iter().enumerate().skip(1) {
            let is_first = place == 1 && !has_names_first;
            let before = if is_first { 0 } else { gap } + widths[place].saturating_sub(width(cell));
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(cell);
        }
        if !has_names_first {
            line.extend(std::iter::repeat_n(' ', gap));
            line.push_str(name);
        }
        lines.push(line);
    }
    lines
}
