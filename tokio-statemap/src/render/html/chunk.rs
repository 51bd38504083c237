//! Writes the data of the page: columns of variable-length integers, compressed, in base64.
//!
//! A chunk is a `script` element that no browser runs. Its text is base64 of a raw deflate stream, which contains, all
//! numbers being LEB128:
//!
//! - the section, the number of pieces, and the lengths of the six columns in bytes;
//! - the columns: rows, times, states, workers, tags, wakers.
//!
//! A piece is a part of one row's transitions. Long rows are cut into pieces, so that neither side needs more memory
//! than a chunk takes.
//!
//! - *rows*, for each piece: flags ([`NEW_ROW`] …) and the number of transitions; for a new row its name (the number of
//!   a prefix, from 1, and a number; or 0, length and text), its parent (0, or the place of the row, from 1), and its
//!   description (length and text) if it has one.
//! - *times*: the first of a piece from the left edge, then differences, in units of [`unit_ns`].
//! - *states*: their indices.
//! - *workers*, for polls: twice the worker's index + 1 (0: none), plus 1 if the poll handed the worker on; then how
//!   long it had held the worker, in the same units.
//! - *tags*: the index + 1, or 0.
//! - *wakers*, for polls: who woke the task (0: unknown, 1: the runtime, 2: a blocking task, 3: another thread, 4: a
//!   task that isn't shown, 5 and more: the task at this place of the rows).

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::deflate::compress_to_vec;

use crate::analysis::picture::{Role, Section, SectionKind, Transition, Waker};
use crate::util::map::Map;

pub(super) const NEW_ROW: u64 = 1;
const NEW_LANE: u64 = 2;
pub(super) const HAS_DESCRIPTION: u64 = 4;
const IS_ROOT: u64 = 8;

/// The number of columns.
pub(super) const COLUMNS: usize = 6;
/// In the column of wakers, a task that isn't shown, and the first of those that are.
pub(super) const NOT_SHOWN: u64 = 4;
pub(super) const FIRST_ROW: u64 = 5;

/// The least size at which a chunk is written.
const CHUNK_BYTES: usize = 1 << 20;
/// The most transitions of a piece.
const PIECE: u64 = 1 << 16;
/// Fast: the integers are small already, so higher levels gain little.
const LEVEL: u8 = 1;
/// The largest integer up to which JavaScript represents every integer.
const LARGEST_NUMBER: u64 = (1 << 53) - 1;

/// Returns the unit of the times of a page, in ns: 1, or for runs longer than 104 days a power of two, so
/// that JavaScript represents each time exactly.
pub(super) fn unit_ns(length_ns: u64) -> u64 {
    1 << length_ns.checked_ilog2().map_or(0, |bits| bits.saturating_sub(LARGEST_NUMBER.ilog2()))
}

/// Counts of what was written, for readers.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) chunks: u64,
    pub(super) sections: Vec<WrittenSection>,
}

#[derive(Debug, Default)]
pub(super) struct WrittenSection {
    pub(super) rows: u64,
    pub(super) transitions: u64,
    /// The prefixes of the names, by their numbers.
    pub(super) prefixes: Vec<String>,
}

/// Writes sections as chunks.
pub(super) struct Writer<'a> {
    w: &'a mut dyn Write,
    unit_ns: u64,
    written: Written,
    columns: Columns,
    text: String,
}

/// The columns of the current chunk.
#[derive(Default)]
struct Columns {
    pieces: u64,
    rows: Vec<u8>,
    times: Vec<u8>,
    states: Vec<u8>,
    workers: Vec<u8>,
    tags: Vec<u8>,
    wakers: Vec<u8>,
    /// The places of the rows of the section; `None` if it doesn't say who woke its tasks.
    places: Option<Vec<u32>>,
}

impl<'a> Writer<'a> {
    /// Creates a writer of times in units of [`unit_ns`].
    pub(super) fn new(w: &'a mut dyn Write, unit_ns: u64) -> Self {
        let (written, columns) = (Written::default(), Columns::default());
        Self { w, unit_ns, written, columns, text: String::new() }
    }

    pub(super) fn section(&mut self, section: &Section<'_>) -> io::Result<()> {
        self.written.sections.push(WrittenSection::default());
        let places = section.places();
        self.columns.places = section.has_wakers().then(|| places.clone());
        let mut prefixes = Map::default();
        let mut head = Vec::new();
        for lane in 0..section.lanes.len() - 1 {
            for (n, &row) in section.lane(lane).iter().enumerate() {
                head.clear();
                let flags = NEW_ROW | if n == 0 { NEW_LANE } else { 0 };
                let flags = flags | describe(section, row, &places, &mut prefixes, &mut head);
                self.row(section, row, flags, &head)?;
            }
        }
        self.end_chunk()?;
        if let Some(written) = self.written.sections.last_mut() {
            // Prefixes are in the order in which they were numbered.
            for (prefix, _) in prefixes {
                written.prefixes.push(prefix);
            }
            written.rows = section.rows.len() as u64;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Written {
        self.written
    }

    /// Writes a row as one piece or several. Only the first one has `head`.
    fn row(&mut self, section: &Section<'_>, row: u32, flags: u64, head: &[u8]) -> io::Result<()> {
        let mut piece = Piece { unit_ns: self.unit_ns, count: 0, last: 0, total: 0 };
        let mut result = Ok(());
        let mut first = Some((flags, head));
        section.source.walk(row, &mut |transition| {
            if result.is_err() {
                return;
            }
            if piece.count == PIECE {
                let (flags, head) = first.take().unwrap_or((0, &[]));
                self.columns.end_piece(&mut piece, flags, head);
                result = self.end_chunk_if_full();
            }
            self.columns.push(section, &mut piece, transition);
        });
        result?;
        let (flags, head) = first.take().unwrap_or((0, &[]));
        self.columns.end_piece(&mut piece, flags, head);
        if let Some(written) = self.written.sections.last_mut() {
            written.transitions += piece.total;
        }
        self.end_chunk_if_full()
    }

    fn end_chunk_if_full(&mut self) -> io::Result<()> {
        if self.columns.len() >= CHUNK_BYTES { self.end_chunk() } else { Ok(()) }
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        if self.columns.pieces == 0 {
            return Ok(());
        }
        let section = self.written.sections.len() as u64 - 1;
        let compressed = compress_to_vec(&self.columns.take(section), LEVEL);
        self.text.clear();
        self.text.push_str("<script type=\"text/plain\" class=\"statemap-chunk\">");
        STANDARD.encode_string(&compressed, &mut self.text);
        self.text.push_str("</script>\n");
        self.written.chunks += 1;
        self.w.write_all(self.text.as_bytes())
    }
}

/// Writes a row's name, parent and description, and returns the flags for them.
fn describe(
    section: &Section<'_>,
    row: u32,
    places: &[u32],
    prefixes: &mut Map<String, u64>,
    to: &mut Vec<u8>,
) -> u64 {
    let mut name = String::new();
    section.source.name(row, &mut name);
    match split_number(&name) {
        Some((prefix, number)) => {
            let next = prefixes.len() as u64 + 1;
            varint(*prefixes.get_or_insert_with(prefix.to_owned(), || next), to);
            varint(number, to);
        }
        None => {
            varint(0, to);
            text(&name, to);
        }
    }
    let parent = section.source.parent(row).map(|parent| u64::from(places[parent as usize]));
    varint(parent.map_or(0, |place| place + 1), to);
    let mut flags = if section.source.is_root(row) { IS_ROOT } else { 0 };
    if let Some(description) = section.source.description(row) {
        text(description, to);
        flags |= HAS_DESCRIPTION;
    }
    flags
}

/// Splits a name into a prefix and its final number, if the two make the same name again.
fn split_number(name: &str) -> Option<(&str, u64)> {
    let mut digits_at = name.len();
    while digits_at > 0 && name.as_bytes()[digits_at - 1].is_ascii_digit() {
        digits_at -= 1;
    }
    let (prefix, digits) = name.split_at(digits_at);
    let is_plain = digits == "0" || !digits.starts_with('0');
    let number = digits.parse().ok().filter(|&n: &u64| n <= LARGEST_NUMBER)?;
    // A longer prefix saves nothing.
    (is_plain && prefix.len() <= 64).then_some((prefix, number))
}

/// The current piece.
struct Piece {
    unit_ns: u64,
    count: u64,
    /// The last time, in units.
    last: u64,
    /// The number of transitions in all pieces of the row.
    total: u64,
}

impl Columns {
    fn push(&mut self, section: &Section<'_>, piece: &mut Piece, transition: Transition) {
        let time = transition.time_ns / piece.unit_ns;
        let since = if piece.count == 0 { 0 } else { piece.last };
        varint(time.saturating_sub(since), &mut self.times);
        piece.last = time.max(since);
        piece.count += 1;
        piece.total += 1;
        varint(u64::from(transition.state), &mut self.states);
        if section.has_workers() && section.role_of(transition.state) == Role::Running {
            let worker = transition.worker.map_or(0, |worker| u64::from(worker) + 1);
            varint(2 * worker + u64::from(transition.held_ns.is_some()), &mut self.workers);
            if let Some(held_ns) = transition.held_ns {
                varint(held_ns / piece.unit_ns, &mut self.workers);
            }
        }
        if section.has_tags() {
            varint(transition.tag.map_or(0, |tag| u64::from(tag) + 1), &mut self.tags);
        }
        if let (Some(places), Role::Running) = (&self.places, section.role_of(transition.state)) {
            let waker = match transition.woken_by {
                None => 0,
                Some(Waker::Runtime) => 1,
                Some(Waker::BlockingTask) => 2,
                Some(Waker::Thread) => 3,
                Some(Waker::NotShown) => NOT_SHOWN,
                Some(Waker::Row(row)) => FIRST_ROW + u64::from(places[row as usize]),
            };
            varint(waker, &mut self.wakers);
        }
    }

    fn end_piece(&mut self, piece: &mut Piece, flags: u64, head: &[u8]) {
        varint(flags, &mut self.rows);
        varint(piece.count, &mut self.rows);
        self.rows.extend_from_slice(head);
        self.pieces += 1;
        piece.count = 0;
    }

    fn all(&mut self) -> [&mut Vec<u8>; COLUMNS] {
        let Self { rows, times, states, workers, tags, wakers, .. } = self;
        [rows, times, states, workers, tags, wakers]
    }

    fn len(&mut self) -> usize {
        let mut len = 0;
        for column in &self.all() {
            len += column.len();
        }
        len
    }

    /// Returns the bytes of the chunk, and empties the columns.
    fn take(&mut self, section: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len() + 64);
        varint(section, &mut bytes);
        varint(std::mem::take(&mut self.pieces), &mut bytes);
        for column in self.all() {
            varint(column.len() as u64, &mut bytes);
        }
        for column in self.all() {
            bytes.append(column);
        }
        bytes
    }
}

pub(super) fn text(text: &str, to: &mut Vec<u8>) {
    varint(text.len() as u64, to);
    to.extend_from_slice(text.as_bytes());
}

/// Appends a number as LEB128: seven bits per byte, the lowest first.
pub(super) fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

impl Section<'_> {
    /// Returns whether its transitions have workers.
    pub(super) fn has_workers(&self) -> bool {
        self.kind == SectionKind::Tasks && self.source.knows_workers()
    }

    /// Returns whether its transitions have who woke a task.
    pub(super) fn has_wakers(&self) -> bool {
        self.kind == SectionKind::Tasks && self.source.knows_wakers()
    }

    /// Returns whether its transitions have tags.
    pub(super) fn has_tags(&self) -> bool {
        !self.tags.is_empty()
    }
}
