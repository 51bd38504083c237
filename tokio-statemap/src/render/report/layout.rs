//! Text on a terminal, fitted into lines and columns.

pub(in crate::render) use crate::util::columns::{COLUMNS, keep_right, width};

/// Breaks the text at its spaces into lines of at most [`COLUMNS`], but not between a number and its unit. A longer
/// word loses its left part.
pub(in crate::render) fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        if word.is_empty() {
            continue;
        }
        match words.last_mut() {
            Some(number) if is_unit(word) && ends_with_digit(number) => {
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

fn ends_with_digit(word: &str) -> bool {
    word.as_bytes().last().is_some_and(u8::is_ascii_digit)
}

fn is_unit(word: &str) -> bool {
    let mut word = word.as_bytes();
    while let [before @ .., last] = word {
        if !last.is_ascii_punctuation() || *last == b'%' {
            break;
        }
        word = before;
    }
    ["ns", "µs", "ms", "s", "%"].iter().any(|unit| unit.as_bytes() == word)
}

/// Returns the text, padded with spaces on its right.
pub(in crate::render) fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns the heads followed by the cells of all rows, and the width of each column as measured by `width`.
pub(super) fn cells_and_widths<'a>(
    heads: &[&'a str],
    rows: &'a [String],
    width: fn(&str) -> usize,
) -> (Vec<&'a str>, Vec<usize>) {
    let mut cells = heads.to_vec();
    for cell in rows {
        cells.push(cell);
    }
    let mut widths = vec![0; heads.len()];
    for (at, cell) in cells.iter().enumerate() {
        let widest = &mut widths[at % heads.len()];
        *widest = width(cell).max(*widest);
    }
    (cells, widths)
}

/// Returns the lines of a table, given the cells of all rows. The first cell of each row is a name. It is on the left, or else on
/// the right of the other cells, in the room that they leave.
pub(in crate::render) fn table(
    heads: &[&str],
    rows: &[String],
    has_names_first: bool,
) -> Vec<String> {
    let columns = heads.len();
    debug_assert_eq!(rows.len() % columns, 0, "{rows:?}");
    let (cells, widths) = cells_and_widths(heads, rows, width);
    let others: usize = widths[1..].iter().sum();
    // Narrow gaps are better than a name that is cut.
    let is_wide = widths[0] + others + 2 * (columns - 1) > COLUMNS && has_names_first;
    let gap = if is_wide { 1 } else { 2 };
    let room = COLUMNS.saturating_sub(others + gap * (columns - 1));
    let (mut names, mut name_width) = (Vec::new(), 0);
    for row in cells.chunks(columns) {
        let name = keep_right(row[0], room);
        name_width = width(&name).max(name_width);
        names.push(name);
    }
    let mut lines = Vec::new();
    for (row, name) in names.into_iter().enumerate() {
        let mut line = if has_names_first { pad_right(&name, name_width) } else { String::new() };
        for place in 1..columns {
            let cell = &cells[row * columns + place];
            let is_first = place == 1 && !has_names_first;
            let before = if is_first { 0 } else { gap } + widths[place].saturating_sub(width(cell));
            line += &" ".repeat(before);
            line += cell;
        }
        if !has_names_first {
            line += &" ".repeat(gap);
            line += &name;
        }
        lines.push(line);
    }
    lines
}
