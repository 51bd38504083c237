//! Measures the columns that text takes on a terminal, and shortens it to fit.

use super::source_path::fit;

/// The number of columns that a report fits into.
pub(crate) const COLUMNS: usize = 80;

/// Returns the number of columns that the text takes. East Asian letters and pictures take two. A character that may
/// take two counts as two: a line may be too short, but not too long.
#[inline(never)]
pub(crate) fn width(text: &str) -> usize {
    let mut width = 0;
    for c in text.chars() {
        width += char_width(c);
    }
    width
}

fn char_width(c: char) -> usize {
    if c < '\u{1100}' || ('\u{2000}'..'\u{2e80}').contains(&c) { 1 } else { 2 }
}

/// Returns the text in at most `columns`. A source location that is longer loses folders, see [`fit`]. Another path
/// loses its left part, at a folder's border if possible.
pub(crate) fn keep_right(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if let Some(place) = fit(text, columns, &width) {
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
