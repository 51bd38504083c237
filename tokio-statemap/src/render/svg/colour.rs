//! The colours of states.

use crate::analysis::picture::RowState;
use crate::render::palette::{self, Screen};

/// Returns the declarations that colour a state on `screen`: with the colour of the palette if it knows the
/// state's meaning, else that of the data. A colour that isn't known, or could be more than a colour, is
/// replaced by one of the palette. A state in which the row has ended is blank.
pub(super) fn fill(state: &RowState, index: usize, screen: Screen) -> String {
    if state.role.is_end() {
        return "fill:none".to_owned();
    }
    if let Some(colour) = palette::of_role(state.role) {
        return format!("fill:{}", colour.on(screen));
    }
    let own = palette::OTHERS[index % palette::OTHERS.len()].on(screen);
    match state.colour.as_deref().map(str::trim).filter(|colour| is_plain(colour)) {
        Some(colour) if colour.starts_with('#') => format!("fill:{colour}"),
        Some(colour) => format!("fill:{own};fill:{colour}"),
        None => format!("fill:{own}"),
    }
}

/// Returns whether `colour` is only a colour: `#rgb`, a name, or numbers in `rgb(…)` and the like.
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
