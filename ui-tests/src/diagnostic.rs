//! The parts of rustc's diagnostics that are compared.

use std::fmt;

use serde_json::Value;

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The primary spans.
    pub places: Vec<Place>,
    /// The level: `error`, `warning`, …
    pub level: String,
    /// The code, such as `E0308` or a lint's name.
    pub code: Option<String>,
    /// The headline.
    pub message: String,
}

/// A primary span.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file's name, without its folder.
    pub file: String,
    /// Line and column, from 1.
    pub start: (u64, u64),
    /// Line and column, from 1, after the last character.
    pub end: (u64, u64),
}

impl Diagnostic {
    /// Reads a `message` of cargo. Returns `None` for the summary at the end.
    pub fn parse(message: &Value) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let number = |span: &Value, key: &str| span[key].as_u64().expect("a span has its ends");
        let mut places: Vec<Place> = message["spans"]
            .as_array()?
            .iter()
            .filter(|span| span["is_primary"] == true)
            .map(|span| Place {
                file: span["file_name"]
                    .as_str()
                    .and_then(|path| path.rsplit(['/', '\\']).next())
                    .expect("a span has its file")
                    .to_owned(),
                start: (number(span, "line_start"), number(span, "column_start")),
                end: (number(span, "line_end"), number(span, "column_end")),
            })
            .collect();
        places.sort();
        let message_text = text(&message["message"])?;
        let code = text(&message["code"]["code"]);
        if places.is_empty() && code.is_none() && is_summary(&message_text) {
            return None;
        }
        Some(Self {
            places,
            level: text(&message["level"])?,
            code,
            message: without_place(&message_text),
        })
    }

    /// Rewrites the diagnostic of a case with our attributes as if they were Tokio's: the names in
    /// the message, and the columns after them in `source`.
    #[must_use]
    pub fn as_tokio(mut self, source: &str) -> Self {
        self.message = self.message.replace("tokio_statemap::", "tokio::");
        // The list of valid keys also contains ours.
        if self.message.starts_with("Unknown attribute ") {
            if let Some(at) = self.message.find(", `tasks`") {
                self.message.replace_range(at.., ".");
            }
        }
        for place in &mut self.places {
            for (line, column) in [&mut place.start, &mut place.end] {
                let text =
                    usize::try_from(*line - 1).ok().and_then(|line| source.lines().nth(line));
                *column -= text.map_or(0, |text| longer_before(text, *column));
            }
        }
        self.places.sort();
        self
    }
}

/// Returns by how much the replaced names lengthen `line` before `column`.
fn longer_before(line: &str, column: u64) -> u64 {
    let longer = "tokio_statemap".len() - "tokio".len();
    ["tokio_statemap::main", "tokio_statemap::test"]
        .iter()
        .flat_map(|name| line.match_indices(name))
        .filter(|(at, _)| u64::try_from(at + 1).is_ok_and(|start| start < column))
        .map(|_| longer as u64)
        .sum()
}

/// Returns the message without the place in the type name of an `async` block, which the spans
/// show.
fn without_place(message: &str) -> String {
    match message.split_once("{async block@") {
        None => message.to_owned(),
        Some((before, after)) => match after.split_once('}') {
            None => message.to_owned(),
            Some((_, after)) => format!("{before}{{async block}}{}", without_place(after)),
        },
    }
}

fn is_summary(message: &str) -> bool {
    message.starts_with("aborting due to ")
        || message.starts_with("For more information about ")
        || message.starts_with("Some errors have detailed explanations")
        || message.ends_with(" warning emitted")
        || message.ends_with(" warnings emitted")
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.level)?;
        if let Some(code) = &self.code {
            write!(f, "[{code}]")?;
        }
        write!(f, ": {}", self.message)?;
        for place in &self.places {
            let (Place { file, start, end }, arrow) = (place, "\n  -->");
            write!(f, "{arrow} {file}:{}:{}-{}:{}", start.0, start.1, end.0, end.1)?;
        }
        Ok(())
    }
}
