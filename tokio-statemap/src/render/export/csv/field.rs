//! The fields of a line, as RFC 4180 has them.

use std::io::{self, Write};

/// A line that is being made.
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

    /// A text. In front of one that a spreadsheet would take for a formula there is a `'`.
    pub(super) fn text(&mut self, text: &str) {
        self.begin();
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let needs_quotes = text.contains(['"', ',', '\r', '\n']);
        self.bytes.extend_from_slice(if needs_quotes { b"\"" } else { b"" });
        self.bytes.extend_from_slice(if is_formula { b"'" } else { b"" });
        if needs_quotes {
            self.bytes.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// A number, or nothing.
    pub(super) fn number(&mut self, number: Option<u64>) {
        self.begin();
        if let Some(number) = number {
            self.bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
    }

    /// `true` or `false`.
    pub(super) fn bool(&mut self, value: bool) {
        self.begin();
        self.bytes.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes the line, and begins the next.
    pub(super) fn write(&mut self, w: &mut impl Write) -> io::Result<()> {
        self.bytes.extend_from_slice(b"\r\n");
        w.write_all(&self.bytes)?;
        self.bytes.clear();
        self.fields = 0;
        Ok(())
    }
}
