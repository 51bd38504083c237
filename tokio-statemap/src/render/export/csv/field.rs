//! The fields of a line, according to RFC 4180.

use std::io::{self, Write};

use crate::render::export::rows::Cell;
use crate::util::clean::clean;

/// A line that is being built.
#[derive(Debug, Default)]
pub(super) struct Line {
    bytes: Vec<u8>,
    fields: usize,
}

impl Line {
    fn begin(&mut self) {
        if self.fields > 0 {
            self.bytes.push(b',');
        }
        self.fields += 1;
    }

    pub(super) fn cell(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Text(text) => self.text(text.unwrap_or_default()),
            Cell::Number(number) => self.number(number),
            Cell::Bool(value) => self.bool(value),
        }
    }

    /// Appends a text, with invisible characters escaped, and with `'` before one that a spreadsheet would take for a
    /// formula.
    pub(super) fn text(&mut self, text: &str) {
        self.begin();
        let text = clean(text);
        let is_formula = text.starts_with(['=', '+', '-', '@']);
        let needs_quotes = text.contains(['"', ',']);
        self.bytes.extend_from_slice(if needs_quotes { b"\"" } else { b"" });
        self.bytes.extend_from_slice(if is_formula { b"'" } else { b"" });
        if needs_quotes {
            self.bytes.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// Appends a number, or an empty field.
    pub(super) fn number(&mut self, number: Option<u64>) {
        self.begin();
        if let Some(number) = number {
            self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
    }

    /// Appends `true` or `false`.
    pub(super) fn bool(&mut self, value: bool) {
        self.begin();
        self.bytes.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes the line, and begins the next one.
    pub(super) fn write(&mut self, w: &mut impl Write) -> io::Result<()> {
        self.bytes.extend_from_slice(b"\r\n");
        w.write_all(&self.bytes)?;
        self.bytes.clear();
        self.fields = 0;
        Ok(())
    }
}
