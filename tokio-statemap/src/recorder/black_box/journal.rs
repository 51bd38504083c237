//! Writes the two files of a box.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::config::CollectorConfig;
use crate::recorder::black_box::Sent;
use crate::recorder::black_box::format::{Head, MAGIC, Origin, Round};
use crate::recorder::black_box::place::{self, Files, Left};
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::{Eviction, Limits};
use crate::recorder::record::events_in;
use crate::recorder::store::segment::events_of;
use crate::recorder::store::tap::{Tapped, segments};
use crate::recorder::window::{Window, Windows};
use crate::util::message::warn;
use crate::util::plain::Plain;

/// The bytes that a file takes per event of `max_events`: half of the 24 bytes of an event, as each poll, which is two
/// events, has a note of who woke the task. A file takes at least [`LEAST`] bytes.
const BYTES_PER_EVENT: u64 = 12;
const LEAST: u64 = 256 << 10;
/// The least size of a file, in bytes, if there is no room for larger ones.
const LEAST_OF_ALL: u64 = 16 << 10;

/// The bytes of a file per pinned event. A file begins with these: they are around the longest polls of the run.
const BYTES_PER_PINNED: u64 = 128;
/// The bytes of a file per staged event. These follow the pinned ones: they haven't been searched for long polls to the
/// end. With 16 bytes per event, both kinds leave more than a third of the file for new events.
const BYTES_PER_STAGED: u64 = 32;

/// The number of times in a row that there may be no room before the box ends.
const MOST_FAILURES: u32 = 16;

/// The box of a recorder, as it is written.
#[derive(Debug)]
pub(crate) struct Journal {
    files: Files,
    /// The process that writes it. A forked child has a copy.
    pid: u32,
    /// The number of the file that is written now, and its length.
    number: u64,
    len: u64,
    /// A file that is longer is full.
    full_at: u64,
    /// The length of what began the file: of all of it, and of what isn't records.
    head_len: u64,
    begin_len: u64,
    /// The records of all files so far: those that are kept for the next file, the memory of the others, and the windows
    /// that both refer to.
    eviction: Eviction,
    memory: Memory,
    windows: Windows,
    dropped: u64,
    rounds: u64,
    pub(crate) sent: Sent,
    /// The records from after the last round began.
    later: Tapped,
    /// The moment of the last round, in ticks.
    pub(crate) written_at: u64,
    /// `true` if there was no room for files as large as they should be.
    is_smaller: bool,
    /// The number of times in a row that there was no room.
    failures: u32,
    is_over: bool,
    /// `true` if the files stay when this is dropped; `None` if that isn't known.
    stays: Option<bool>,
}

impl Journal {
    /// Creates the files of a box. Returns it with the boxes that earlier processes of this program have left.
    pub(crate) fn create(config: &CollectorConfig) -> io::Result<(Self, Vec<Left>)> {
        let full_at = (config.max_events as u64).saturating_mul(BYTES_PER_EVENT).max(LEAST);
        let (files, left) = place::create(&config.black_box)?;
        let mut eviction = Eviction::new(0);
        eviction.pinned.limit_to(full_at / BYTES_PER_PINNED);
        let journal = Self {
            files,
            pid: std::process::id(),
            number: 0,
            len: 0,
            full_at,
            head_len: 0,
            begin_len: 0,
            eviction,
            memory: Memory::default(),
            windows: Windows::default(),
            dropped: 0,
            rounds: 0,
            sent: Sent::default(),
            later: Tapped::default(),
            written_at: 0,
            is_smaller: false,
            failures: 0,
            is_over: false,
            stays: None,
        };
        Ok((journal, left))
    }

    /// Returns whether nothing more can be written to it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns how many records may wait before a round is due: a part of what a file takes.
    pub(crate) fn most_waiting(&self) -> usize {
        (self.full_at / 64).min(1 << 16) as usize
    }

    /// Returns whether it is this process that writes it.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Returns whether the next round begins a file, and must have everything.
    pub(crate) fn begins_file(&self) -> bool {
        self.len == 0
    }

    /// Returns how many events may wait to be looked through.
    pub(crate) fn most_staged(&self) -> u64 {
        self.full_at / BYTES_PER_STAGED
    }

    /// Writes a round, after the head of a file if it begins one. `long_poll` is from when on a poll is long, in ticks;
    /// `limits` are those of what is kept around such polls.
    pub(crate) fn write(
        &mut self,
        mut round: Round,
        tapped: Tapped,
        (long_poll, limits): (u64, Limits),
        origin: impl FnOnce() -> Origin,
    ) {
        self.memory.sums.expect_long_poll(&|| long_poll);
        let tapped = self.up_to_now(tapped, round.now);
        let mut bytes = Vec::with_capacity(tapped.records.len() * 16 + 1024);
        if self.begins_file() {
            bytes.extend_from_slice(&MAGIC);
            let head = Head {
                number: self.number,
                origin: origin(),
                from: self.written_at,
                dropped_before: self.dropped,
                rounds_before: self.rounds,
                windows: self.windows.clone(),
            };
            frame(&mut bytes, &|into| {
                head.write(into);
                self.memory.write(into);
                self.eviction.write(into);
            });
            self.head_len = bytes.len() as u64;
        }
        note_windows(&mut self.windows, &round.windows);
        if tapped.missed > 0 {
            cut_gap(&mut self.windows, self.written_at, round.now);
        }
        let of_head = if self.begins_file() { self.eviction.staged_bytes() } else { 0 };
        self.evict(&tapped, round.now, limits);
        self.rounds += 1;
        (round.records, round.runs, round.missed) = (tapped.records, tapped.runs, tapped.missed);
        frame(&mut bytes, &|into| round.write(into));
        if self.begins_file() {
            let of_records = 16 * round.records.len() + 12 * round.runs.len();
            self.begin_len =
                (bytes.len().saturating_sub(of_records) as u64).saturating_sub(of_head);
        }
        self.written_at = round.now;
        match self.append(&bytes) {
            Ok(()) => self.failures = 0,
            // What was recorded so far is in the sums, with which the next file begins.
            Err(error)
                if error.kind() == io::ErrorKind::StorageFull && self.failures < MOST_FAILURES =>
            {
                self.begin_smaller();
            }
            Err(error) => self.end(&error.to_string()),
        }
    }

    /// Keeps what is written in this round for the next file if it is around a long poll, and adds up the rest.
    fn evict(&mut self, tapped: &Tapped, now: u64, limits: Limits) {
        let new = segments(&tapped.records, &tapped.runs).unwrap_or_default();
        let events = events_of(&new);
        let Self { eviction, memory, windows, .. } = self;
        eviction.staged.extend(new);
        eviction.has_staged(events, now);
        let dropped = eviction.look_through(limits, memory, &windows.all, &mut drop);
        self.dropped += dropped + tapped.missed;
    }

    /// Returns what is written in this round: all up to one moment, or a task would be taken for alive whose end is known
    /// long before its spawn. If records are missing, nothing is known of the time since the last round.
    fn up_to_now(&mut self, tapped: Tapped, now: u64) -> Tapped {
        let mut all = std::mem::take(&mut self.later);
        all.append(tapped);
        if all.missed > 0 {
            return Tapped { missed: all.missed + events_in(&all.records), ..Tapped::default() };
        }
        self.later = all.split_after(now);
        all
    }

    /// Returns whether something was recorded after the last round began.
    pub(crate) fn has_later(&self) -> bool {
        !self.later.runs.is_empty()
    }

    /// Sets whether the files stay when this is dropped.
    pub(crate) fn keep(&mut self, stays: bool) {
        self.stays = Some(stays);
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = self.file();
        if self.len == 0 {
            file.set_len(0)?;
        }
        file.write_all_at(bytes, self.len)?;
        self.len += bytes.len() as u64;
        // A few times as long as what begins it, or there would be nothing else.
        let least = (4 * self.begin_len).max(self.head_len + self.full_at / 4);
        if self.len >= self.full_at.max(least) {
            self.begin_next();
        }
        Ok(())
    }

    /// Goes on with the other file.
    fn begin_next(&mut self) {
        self.number += 1;
        self.len = 0;
        self.sent = Sent::default();
        self.memory.forget_windows(self.eviction.done_until(), &mut self.windows);
    }

    /// Goes on with smaller files, as there is no more room.
    fn begin_smaller(&mut self) {
        if !std::mem::replace(&mut self.is_smaller, true) {
            let path = self.files.paths[0].display();
            warn(format_args!(
                "the black box keeps fewer events than `max_events`: there is no more room: {path}"
            ));
        }
        self.failures += 1;
        let reached = if self.len > 0 { self.len } else { self.full_at };
        self.full_at = (reached / 2).max(LEAST_OF_ALL);
        self.dropped += self.eviction.pinned.limit_to(self.full_at / BYTES_PER_PINNED);
        self.begin_next();
        // The older file goes first. If that fails, there is no room for what comes next, either.
        let both = self.failures > 1;
        for file in self.files.files.iter().filter(|file| both || std::ptr::eq(*file, self.file()))
        {
            let _ = file.set_len(0);
        }
    }

    fn file(&self) -> &File {
        &self.files.files[(self.number % 2) as usize]
    }

    /// Ends it. What was written so far stays.
    fn end(&mut self, why: &str) {
        self.is_over = true;
        let path = self.files.paths[0].display();
        warn(format_args!(
            "the black box ends here, and has what was recorded so far: {path}: {why}"
        ));
    }
}

impl Drop for Journal {
    /// Removes the files: the program had the chance to look at what was recorded, unless it panics.
    fn drop(&mut self) {
        let stays = self.stays.unwrap_or_else(std::thread::panicking);
        if self.is_of_this_process() && !stays {
            for path in &self.files.paths {
                // Somebody else may have removed it, which is what is wanted.
                let _ = std::fs::remove_file(path);
            }
            place::forget(&self.files.paths[0]);
        }
    }
}

/// Adds windows that are new, and notes when those that are known ended. A window with a [gap](cut_gap) is there in several
/// parts, the last of which ends with it.
pub(crate) fn note_windows(all: &mut Windows, new: &[Window]) {
    for window in new {
        let last_from = all.all.last().map(|last| last.from);
        match all.all.iter_mut().rfind(|known| known.from == window.from) {
            Some(known) if known.to.is_none() => known.to = window.to,
            None if last_from.is_none_or(|last| last < window.from) => all.all.push(*window),
            // Its first part is over, and may be forgotten.
            _ => {
                if let (Some(to), Some(last)) = (window.to, all.all.last_mut()) {
                    if last.to.is_none() && last.from < to {
                        last.to = Some(to);
                    }
                }
            }
        }
    }
}

/// Notes that nothing is known of the time between two rounds, as if recording had been stopped.
pub(crate) fn cut_gap(all: &mut Windows, since: u64, until: u64) {
    let is_open = all.all.last().is_some_and(|last| last.to.is_none());
    for window in &mut all.all {
        if window.to.is_none_or(|to| to > since) {
            window.to = Some(since.max(window.from));
        }
    }
    if is_open {
        all.all.push(Window::new(until, None));
    }
}

/// Appends a frame: the length, a hash, and the bytes that `write` adds.
fn frame(into: &mut Vec<u8>, write: &dyn Fn(&mut Vec<u8>)) {
    let at = into.len();
    into.extend_from_slice(&[0; 16]);
    write(into);
    let (head, body) = into[at..].split_at_mut(16);
    head[..8].copy_from_slice(&(body.len() as u64).to_le_bytes());
    head[8..].copy_from_slice(&hash(body).to_le_bytes());
}

/// Returns a hash that tells bytes that were written whole from those that weren't. It doesn't keep anybody from writing
/// other ones.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    for word in &mut words {
        add(u64::from_le_bytes(word.try_into().unwrap_or_default()));
    }
    for &byte in words.remainder() {
        add(u64::from(byte));
    }
    hash
}

/// Takes the next frame off `bytes`; `None` if what is left isn't whole.
#[cfg(feature = "read")]
pub(crate) fn next_frame<'a>(bytes: &mut crate::util::plain::Bytes<'a>) -> Option<&'a [u8]> {
    let (len, expected) = <(usize, u64)>::read(bytes)?;
    bytes.take(len).filter(|body| hash(body) == expected)
}
