//! Colours a report on a terminal with the palette.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::io::IsTerminal;

use crate::analysis::{Issue, Report};
use crate::render::palette::{RUNNING, Rgb};

/// The colours that an output supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// None: the output is a file or a pipe, or the user wants no colours.
    None,
    /// Bold text only.
    Bold,
    /// The 256 colours of xterm.
    Indexed,
    /// All colours.
    All,
}

impl Colours {
    /// Returns the colours for standard output, standard error and the like.
    pub fn for_stream(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() {
            Self::in_environment(&|name| env::var_os(name))
        } else {
            Self::None
        }
    }

    /// Determines the terminal's colours, and whether they are wanted, from `NO_COLOR`, `TERM` and
    /// `COLORTERM`.
    fn in_environment(get: &dyn Fn(&str) -> Option<OsString>) -> Self {
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

    /// Returns the escape sequence of bold text with a colour.
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

/// Returns the nearest colour of xterm's cube of 6 × 6 × 6.
fn nearest(colour: Rgb) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |channel: u8| {
        let (mut nearest, mut least) = (0, u8::MAX);
        for (step, of_step) in STEPS.iter().enumerate() {
            let distance = of_step.abs_diff(channel);
            if distance < least {
                (nearest, least) = (step as u8, distance);
            }
        }
        nearest
    };
    let [r, g, b] = colour.channels();
    16 + 36 * step(r) + 6 * step(g) + step(b)
}

/// Returns the text of a report with its headline and its titles bold. The headline has the colour of *running* if
/// something certainly held the runtime up.
pub fn coloured_report(text: &str, report: &Report, colours: Colours) -> String {
    let is_bad = report.issues().first().is_some_and(Issue::is_certain);
    let words = report.verdict.headline().split_whitespace().count();
    coloured(text, words, is_bad, colours)
}

/// Returns another text of this form, whose first line is the headline.
pub fn coloured_text(text: &str, colours: Colours) -> String {
    let line = text.lines().next().unwrap_or_default();
    coloured(text, line.split_whitespace().count(), false, colours)
}

/// Makes the titles of a text stand out, and its headline, which consists of `words` words.
fn coloured(text: &str, mut words: usize, is_bad: bool, colours: Colours) -> String {
    if colours == Colours::None {
        return text.to_owned();
    }
    let mut lines = Vec::new();
    let mut before = "";
    for line in text.lines() {
        let is_title = before.is_empty() && line.ends_with(':');
        let is_head = words > 0;
        let (loud, plain) = match (is_head, is_title) {
            (true, _) => line.split_at(end_of_words(line, &mut words)),
            (false, true) => (line, ""),
            (false, false) => ("", line),
        };
        let mut shown = String::with_capacity(line.len() + 24);
        if !loud.is_empty() {
            let colour = (is_bad && is_head).then_some(RUNNING.light);
            // Writing to a string does not fail.
            let _ = write!(shown, "{}{loud}{OFF}", colours.bold(colour));
        }
        shown.push_str(plain);
        lines.push(shown);
        before = line;
    }
    lines.join("\n")
}

/// Returns the end of the first `words` words of a line, and subtracts those of the line from `words`.
fn end_of_words(line: &str, words: &mut usize) -> usize {
    let mut end = 0;
    for word in line.split_whitespace().take(*words) {
        *words -= 1;
        end = word.as_ptr().addr() - line.as_ptr().addr() + word.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a::b at src/a.rs:7 held the runtime\nup: it blocked. It took 3.5 ms.\n\nA title:\nname  1";

    /// The number of words of the headline of `TEXT`.
    const WORDS: usize = 9;

    #[test]
    fn only_what_stands_out_is_coloured() {
        assert_eq!(coloured(TEXT, WORDS, true, Colours::None), TEXT);
        assert_eq!(
            coloured(TEXT, WORDS, true, Colours::All),
            "\x1b[1;38;2;220;38;127ma::b at src/a.rs:7 held the runtime\x1b[0m\n\
             \x1b[1;38;2;220;38;127mup: it blocked.\x1b[0m It took 3.5 ms.\n\n\x1b[1mA title:\x1b[0m\nname  1"
        );
        assert!(coloured(TEXT, WORDS, true, Colours::Indexed).starts_with("\x1b[1;38;5;162ma::b"));
        assert!(coloured(TEXT, WORDS, true, Colours::Bold).starts_with("\x1b[1ma::b"));
        assert!(coloured(TEXT, WORDS, false, Colours::All).starts_with("\x1b[1ma::b"));
        // The text itself is unchanged.
        for colours in [Colours::Bold, Colours::Indexed, Colours::All] {
            let mut plain = String::new();
            for (n, part) in coloured(TEXT, WORDS, true, colours).split('\x1b').enumerate() {
                plain += if n == 0 { part } else { part.split_once('m').expect("an end").1 };
            }
            assert_eq!(plain, TEXT);
        }
    }

    #[test]
    fn the_environment_says_what_is_wanted() {
        let of = |set: &[(&str, &str)]| {
            Colours::in_environment(&|name| {
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
        assert_eq!(Colours::for_stream(&file), Colours::None);
    }
}
