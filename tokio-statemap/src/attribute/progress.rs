//! A line on the terminal while the writing takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::util::message::print;
use crate::util::sync::lock;

/// From when on it is said that something is done, and how often it is said anew.
const LONG: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(200);

/// Says how much is written, where stderr is a terminal and it takes over a second. The line is
/// taken away again when this is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    is_shown: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: u64,
    said: Option<Instant>,
}

impl Progress {
    pub(super) fn new() -> Self {
        let is_shown = io::stderr().is_terminal();
        Self { began: Instant::now(), is_shown, state: Mutex::default() }
    }

    /// `w`, of which it is said how much was written to it.
    pub(super) fn of<'a, W: Write + ?Sized>(&'a self, w: &'a mut W) -> impl Write + 'a {
        Counting { progress: self, w }
    }

    fn add(&self, bytes: usize) {
        if !self.is_shown {
            return;
        }
        let mut state = lock(&self.state);
        state.bytes += bytes as u64;
        let is_due = match state.said {
            None => self.began.elapsed() >= LONG,
            Some(said) => said.elapsed() >= STEP,
        };
        if is_due {
            state.said = Some(Instant::now());
            let mb = state.bytes / 1_000_000;
            print(format_args!("\rtokio-statemap: writing … {mb} MB"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if lock(&self.state).said.is_some() {
            print(format_args!("\r\x1b[K"));
        }
    }
}

struct Counting<'a, W: Write + ?Sized> {
    progress: &'a Progress,
    w: &'a mut W,
}

impl<W: Write + ?Sized> Write for Counting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.w.write(bytes)?;
        self.progress.add(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.w.flush()
    }
}
