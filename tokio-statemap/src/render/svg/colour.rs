//! The colours of states.

use crate::analysis::picture::RowState;

/// For states that have none of their own: told apart by colour-blind eyes, too.
const PALETTE: [&str; 9] = [
    "#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB", "#EE8866",
    "#332288",
];

/// The declarations that give a state its colour. A colour that the reader doesn't know, or that
/// could be more than a colour, leaves that of the palette.
pub(super) fn fill(state: &RowState, index: usize) -> String {
    let own = PALETTE[index % PALETTE.len()];
    match state.colour.as_deref().map(str::trim).filter(|colour| is_plain(colour)) {
        Some(colour) if colour.starts_with('#') => format!("fill:{colour}"),
        Some(colour) => format!("fill:{own};fill:{colour}"),
        // What isn't known to be there any more is blank.
        None if state.role.is_end() => "fill:none".to_owned(),
        None => format!("fill:{own}"),
    }
}

/// Whether it is nothing but a colour: `#rgb`, a name, or numbers in `rgb(…)` and its like.
fn is_plain(colour: &str) -> bool {
    if let Some(hex) = colour.strip_prefix('#') {
        return matches!(hex.len(), 3 | 4 | 6 | 8) && hex.chars().all(|c| c.is_ascii_hexdigit());
    }
    let (name, rest) = colour.split_at(colour.find('(').unwrap_or(colour.len()));
    let numbers = |c: char| c.is_ascii_digit() || " ,.%/-".contains(c);
    let is_function = matches!(name, "rgb" | "rgba" | "hsl" | "hsla")
        && rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(numbers));
    let is_name =
        rest.is_empty() && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic());
    colour.len() <= 40 && (is_function || is_name)
}
