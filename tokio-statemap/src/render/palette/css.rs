//! The palette in style sheets.

use std::fmt::Write;

#[cfg(any(feature = "svg", test))]
use super::Colour;
use super::{Screen, all};

/// The opacity of the focus colour over the row at the pointer, in 255ths.
#[cfg(feature = "html")]
const ROW_LIGHT: u8 = 0x19;

/// Returns the custom properties of the page for each kind of screen. Paper is light.
#[cfg(feature = "html")]
pub(crate) fn properties() -> String {
    format!(
        ":root {{\n  color-scheme: light dark;\n{}}}\n\
         @media (prefers-color-scheme: dark) {{ :root:where(:not(.printed)) {{\n{}}} }}\n\
         @media (forced-colors: active) {{ :root {{\n{}}} }}\n",
        properties_on(Screen::Light),
        properties_on(Screen::Dark),
        properties_on(Screen::Forced),
    )
}

#[cfg(feature = "html")]
fn properties_on(screen: Screen) -> String {
    let mut text = String::new();
    let mut row_light = "transparent".to_owned();
    for colour in all() {
        if screen == Screen::Forced && colour.forced.is_none() {
            continue;
        }
        let _ = writeln!(text, "  --{}: {};", colour.name, colour.on(screen));
        if screen != Screen::Forced && colour.name == "focus" {
            row_light = format!("{}{ROW_LIGHT:02x}", colour.on(screen));
        }
    }
    let _ = writeln!(text, "  --row-light: {row_light};");
    text
}

/// Returns the rules with each `var(--name)` replaced by the colour on `screen`, for viewers that don't know
/// variables.
#[cfg(any(feature = "svg", test))]
pub(crate) fn fill(rules: &str, screen: Screen) -> String {
    let mut filled = String::with_capacity(rules.len());
    let mut rest = rules;
    while let Some((before, after)) = rest.split_once("var(--") {
        filled.push_str(before);
        match after.split_once(')').and_then(|(name, after)| Some((named(name)?, after))) {
            Some((colour, after)) => {
                filled.push_str(&colour.on(screen));
                rest = after;
            }
            None => {
                filled.push_str("var(--");
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// Returns the declarations with a colour from `rules`, one rule per line, as they are on `screen`.
#[cfg(any(feature = "svg", test))]
pub(crate) fn fill_again(rules: &str, screen: Screen) -> String {
    let mut again = String::new();
    for line in rules.lines() {
        let Some((selector, rest)) = line.split_once('{') else { continue };
        let declarations = rest.trim_end().trim_end_matches('}').split(';').map(str::trim);
        let coloured: Vec<_> = declarations.filter(|text| text.contains("var(--")).collect();
        if !coloured.is_empty() {
            let _ = write!(again, "{}{{{}}}", selector.trim_end(), coloured.join(";"));
        }
    }
    fill(&again, screen)
}

#[cfg(any(feature = "svg", test))]
fn named(name: &str) -> Option<Colour> {
    all().into_iter().find(|colour| colour.name == name)
}
