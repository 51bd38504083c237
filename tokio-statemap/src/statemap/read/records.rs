//! Finds the records in a stream of bytes, and the position of each.

use std::io;
use std::ops::Range;

use serde_json::Value;

use super::ReadError;
use super::field::short;
use crate::util::clean::clean;

/// The number of bytes that are read at once. Miri is slow, and tests the same with fewer.
pub(super) const CHUNK_BYTES: usize = if cfg!(miri) { 1 << 10 } else { 1 << 18 };
/// The most bytes of a record. The longest useful record, metadata with thousands of states, is far shorter, and a file
/// that is no statemap data should not fill the memory.
pub(super) const RECORD_BYTES: usize = 8 << 20;
/// The most bytes of a record without an end that are parsed to find the problem.
const LOOK_BYTES: usize = 1 << 16;

/// The position of a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::statemap) struct Position {
    /// The line, from 1.
    pub(in crate::statemap) line: u64,
    /// The byte from the start of the data, from 0.
    pub(in crate::statemap) byte: u64,
}

impl Position {
    /// Returns the error for a problem here. The problem may quote the data: invisible characters are
    /// escaped.
    pub(in crate::statemap) fn error(self, problem: impl AsRef<str>) -> ReadError {
        let problem = clean(problem.as_ref()).into_owned();
        ReadError { line: self.line, byte: self.byte, problem, source: None }
    }
}

/// The records of a stream, one after the other.
pub(in crate::statemap) struct RecordStream<R> {
    r: R,
    /// `buffer[at..end]` was read but not taken yet.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    is_over: bool,
    /// The position of `buffer[marked]`.
    position: Position,
    marked: usize,
}

impl<R: io::Read> RecordStream<R> {
    pub(in crate::statemap) fn new(r: R) -> Self {
        Self {
            r,
            buffer: vec![0; CHUNK_BYTES],
            at: 0,
            end: 0,
            is_over: false,
            position: Position { line: 1, byte: 0 },
            marked: 0,
        }
    }

    /// Skips white space up to the next record; `None` at the end of the data.
    pub(in crate::statemap) fn begin(&mut self) -> Result<Option<Position>, ReadError> {
        loop {
            let rest = &self.buffer[self.at..self.end];
            match rest.iter().position(|b| !b.is_ascii_whitespace()) {
                Some(spaces) => {
                    self.at += spaces;
                    return Ok(Some(self.here()));
                }
                None => self.at = self.end,
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Returns the current position.
    pub(in crate::statemap) fn here(&mut self) -> Position {
        let passed = &self.buffer[self.marked..self.at];
        self.position.byte += passed.len() as u64;
        self.position.line += newlines(passed);
        self.marked = self.at;
        self.position
    }

    /// Returns the bytes from here on that have been read, which may end within the record.
    pub(in crate::statemap) fn ahead(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Takes bytes that were seen ahead.
    pub(in crate::statemap) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes the whole object that begins here.
    pub(in crate::statemap) fn record(&mut self) -> Result<&str, ReadError> {
        let record = self.object()?;
        let position = self.here();
        self.at = record.end;
        let bytes = &self.buffer[record];
        std::str::from_utf8(bytes).map_err(|error| not_utf8(position, bytes, error.valid_up_to()))
    }

    /// Returns the range in the buffer of the object that begins here.
    fn object(&mut self) -> Result<Range<usize>, ReadError> {
        if self.ahead().first() != Some(&b'{') {
            return Err(self.no_object()?);
        }
        let (mut depth, mut is_in_string, mut is_escaped) = (0_u32, false, false);
        let mut length = 0;
        loop {
            for &byte in &self.ahead()[length..] {
                length += 1;
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = is_in_string,
                    b'"' => is_in_string = !is_in_string,
                    b'{' | b'[' if !is_in_string => depth += 1,
                    b'}' | b']' if !is_in_string => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    return Ok(self.at..self.at + length);
                }
            }
            if self.ahead().len() > RECORD_BYTES {
                return Err(self.no_end(&format!(
                    "this record is longer than {} MiB; a record is a JSON object of a few hundred \
                     bytes",
                    RECORD_BYTES >> 20
                )));
            }
            if !self.fill()? {
                return Err(self.no_end(
                    "the data is truncated: this record has no end; a record is a whole JSON object",
                ));
            }
        }
    }

    /// Returns the error for an object without an end. An earlier syntax error is more helpful, if there is one.
    fn no_end(&mut self, problem: &str) -> ReadError {
        let position = self.here();
        let ahead = &self.buffer[self.at..self.end];
        let ahead = &ahead[..ahead.len().min(LOOK_BYTES)];
        match serde_json::from_slice::<Value>(ahead) {
            Err(error) if !error.is_eof() => syntax_error(position, ahead, &error),
            _ => position.error(problem),
        }
    }

    /// Returns the error for a record that doesn't begin as an object.
    fn no_object(&mut self) -> Result<ReadError, ReadError> {
        while self.ahead().len() < LOOK_BYTES && self.fill()? {}
        let position = self.here();
        let ahead = &self.buffer[self.at..self.end];
        let ahead = &ahead[..ahead.len().min(LOOK_BYTES)];
        if let Err(error) = std::str::from_utf8(ahead) {
            if error.valid_up_to() == 0 {
                return Ok(not_utf8(position, ahead, 0));
            }
        }
        let is_value = matches!(ahead.first(), Some(b'"' | b'[' | b'-' | b'0'..=b'9'));
        let first = serde_json::Deserializer::from_slice(ahead).into_iter::<Value>().next();
        Ok(match first {
            Some(Ok(value)) => {
                position.error(format!("{} is no record; a record is a JSON object", short(&value)))
            }
            Some(Err(error)) if !error.is_eof() && !is_value => {
                syntax_error(position, ahead, &error)
            }
            _ => position.error("this is no record; a record is a JSON object"),
        })
    }

    /// Reads more, after the bytes that weren't taken yet. Returns `false` at the end of the data.
    fn fill(&mut self) -> Result<bool, ReadError> {
        if self.is_over {
            return Ok(false);
        }
        self.here();
        self.buffer.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        (self.at, self.marked) = (0, 0);
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        loop {
            match self.r.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.read_error(error)),
            }
            return Ok(!self.is_over);
        }
    }

    fn read_error(&self, error: io::Error) -> ReadError {
        let ahead = self.ahead();
        let position = Position {
            line: self.position.line + newlines(ahead),
            byte: self.position.byte + ahead.len() as u64,
        };
        let problem = match error.kind() {
            io::ErrorKind::IsADirectory => {
                "this is a directory; statemap data is a file".to_owned()
            }
            _ => format!("reading failed: {error}"),
        };
        ReadError { source: Some(error), ..position.error(problem) }
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u64
}

/// Returns the position of a byte of the record that begins at `start`.
fn within(start: Position, record: &[u8], at: usize) -> Position {
    Position { line: start.line + newlines(&record[..at]), byte: start.byte + at as u64 }
}

fn not_utf8(start: Position, record: &[u8], at: usize) -> ReadError {
    within(start, record, at).error("this is not UTF-8; statemap data is JSON in UTF-8")
}

/// Returns a syntax error of the JSON in the record that begins at `start`.
pub(in crate::statemap) fn syntax_error(
    start: Position,
    record: &[u8],
    error: &serde_json::Error,
) -> ReadError {
    // serde_json counts lines and columns from 1, columns in bytes; a newline is the next line's
    // column 0.
    let line_start = match error.line() {
        0 | 1 => 0,
        line => {
            let mut newlines = record.iter().enumerate().filter(|&(_, &b)| b == b'\n');
            newlines.nth(line - 2).map_or(0, |(at, _)| at + 1)
        }
    };
    let at = (line_start + error.column()).saturating_sub(1).min(record.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    within(start, record, at).error(format!("this is no JSON: {message}"))
}
