//! A report with the palette's colours, for who reads it on a terminal.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::io::IsTerminal;

use crate::analysis::{Report, Verdict, headline};
use crate::render::palette::{RUNNING, Rgb};

/// What a place that text is written to makes of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Nothing: it is a file or a pipe, or somebody wants none.
    None,
    /// Bold text, and no more that is known.
    Bold,
    /// The 256 colours of xterm.
    Indexed,
    /// All colours.
    All,
}

impl Colours {
    /// Of standard output, standard error and the like.
    pub fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() {
            Self::in_environment(|name| env::var_os(name))
        } else {
            Self::None
        }
    }

    /// What a terminal can, and whether it is wanted: `NO_COLOR`, `TERM` and `COLORTERM` say so.
    fn in_environment(get: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| get(name).unwrap_or_default().to_string_lossy().into_owned();
        let (term, all) = (text("TERM"), text("COLORTERM"));
        if !text("NO_COLOR").is_empty() || term.is_empty() || term == "dumb" {
            return Self::None;
        }
        match all.as_str() {
            "truecolor" | "24bit" => Self::All,
            _ if term.contains("256color") => Self::Indexed,
            _ => Self::Bold,
        }
    }

    /// What switches bold text of that colour on.
    fn bold(self, colour: Option<Rgb>) -> String {
        match (self, colour) {
            (Self::None, _) => String::new(),
            (Self::Bold, _) | (_, None) => "\x1b[1m".to_owned(),
            (Self::Indexed, Some(colour)) => format!("\x1b[1;38;5;{}m", nearest(colour)),
            (Self::All, Some(colour)) => {
                let [r, g, b] = colour.channels();
                format!("\x1b[1;38;2;{r};{g};{b}m")
            }
        }
    }
}

const OFF: &str = "\x1b[0m";

/// The nearest colour of xterm's cube of 6 × 6 × 6.
fn nearest(colour: Rgb) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |channel: u8| {
        let steps = (0_u8..).zip(STEPS);
        steps.min_by_key(|(_, step)| step.abs_diff(channel)).map_or(0, |(step, _)| step)
    };
    let [r, g, b] = colour.channels().map(step);
    16 + 36 * r + 6 * g + b
}

/// The text of a report with its headline and its titles bold, and the headline in the colour of *running* if somebody or
/// something held the runtime up.
pub fn coloured_report(text: &str, report: &Report, colours: Colours) -> String {
    coloured(text, accuses(&report.verdict), colours)
}

/// Whether something is wrong.
fn accuses(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::LongPolls { did_harm, .. } | Verdict::LongPollsNotKept { did_harm, .. } => {
            *did_harm
        }
        Verdict::NeverFinished(never) => never.is_sure(),
        Verdict::Busy { .. }
        | Verdict::TooFewWorkers { .. }
        | Verdict::ExhaustedPool { .. }
        | Verdict::Stall(_)
        | Verdict::Starved(_) => true,
        _ => false,
    }
}

/// A report's text with its headline and its titles made to stand out.
fn coloured(text: &str, accuses: bool, colours: Colours) -> String {
    if colours == Colours::None {
        return text.to_owned();
    }
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let (head, _) = headline::split(paragraph);
    let head_lines = head.lines().count();
    let mut lines = Vec::new();
    let mut before = "";
    for (n, line) in text.lines().enumerate() {
        let is_title = before.is_empty() && line.ends_with(':');
        let (loud, plain) = match n {
            n if n + 1 < head_lines => (line, ""),
            n if n + 1 == head_lines => {
                line.split_at(head.lines().last().unwrap_or_default().len().min(line.len()))
            }
            _ if is_title => (line, ""),
            _ => ("", line),
        };
        let mut shown = String::with_capacity(line.len() + 24);
        if !loud.is_empty() {
            let colour = (accuses && n < head_lines).then_some(RUNNING.light);
            // Writing to a string does not fail.
            let _ = write!(shown, "{}{loud}{OFF}", colours.bold(colour));
        }
        shown.push_str(plain);
        lines.push(shown);
        before = line;
    }
    lines.join("\n")
}

/// Another text of such a form, which accuses nobody.
pub fn coloured_text(text: &str, colours: Colours) -> String {
    coloured(text, false, colours)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a::b at src/a.rs:7 held the runtime\nup: it blocked. It took 3.5 ms.\n\nA title:\nname  1";

    #[test]
    fn only_what_stands_out_is_coloured() {
        assert_eq!(coloured(TEXT, true, Colours::None), TEXT);
        assert_eq!(
            coloured(TEXT, true, Colours::All),
            "\x1b[1;38;2;220;38;127ma::b at src/a.rs:7 held the runtime\x1b[0m\n\
             \x1b[1;38;2;220;38;127mup: it blocked.\x1b[0m It took 3.5 ms.\n\n\x1b[1mA title:\x1b[0m\nname  1"
        );
        assert!(coloured(TEXT, true, Colours::Indexed).starts_with("\x1b[1;38;5;162ma::b"));
        assert!(coloured(TEXT, true, Colours::Bold).starts_with("\x1b[1ma::b"));
        assert!(coloured(TEXT, false, Colours::All).starts_with("\x1b[1ma::b"));
        // The text is the same.
        for colours in [Colours::Bold, Colours::Indexed, Colours::All] {
            let mut plain = String::new();
            for (n, part) in coloured(TEXT, true, colours).split('\x1b').enumerate() {
                plain += if n == 0 { part } else { part.split_once('m').expect("an end").1 };
            }
            assert_eq!(plain, TEXT);
        }
    }

    #[test]
    fn the_environment_says_what_is_wanted() {
        let of = |set: &[(&str, &str)]| {
            Colours::in_environment(|name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            })
        };
        assert_eq!(of(&[]), Colours::None);
        assert_eq!(of(&[("TERM", "dumb")]), Colours::None);
        assert_eq!(of(&[("TERM", "linux")]), Colours::Bold);
        assert_eq!(of(&[("TERM", "xterm-256color")]), Colours::Indexed);
        assert_eq!(of(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Colours::All);
        let all = [("TERM", "xterm"), ("COLORTERM", "24bit"), ("NO_COLOR", "1")];
        assert_eq!(of(&all), Colours::None);
        assert_eq!(of(&[("TERM", "xterm"), ("NO_COLOR", "")]), Colours::Bold);
    }

    #[test]
    fn a_file_has_no_colours() {
        let file = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
            .expect("the manifest");
        assert_eq!(Colours::of(&file), Colours::None);
    }
}
