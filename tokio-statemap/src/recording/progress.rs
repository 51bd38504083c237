//! A progress line on the terminal while writing takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::util::counting::Counting;
use crate::util::message::print;
use crate::util::sync::lock;

/// The time until the line appears, and between updates.
const DELAY: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_millis(200);

/// Shows the amount written if stderr is a terminal and writing takes over a second. Dropping it
/// erases the line.
#[derive(Debug)]
pub(super) struct Progress {
    began: Instant,
    is_shown: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bytes: u64,
    shown: Option<Instant>,
}

impl Progress {
    pub(super) fn new() -> Self {
        let is_shown = io::stderr().is_terminal();
        Self { began: Instant::now(), is_shown, state: Mutex::default() }
    }

    /// Wraps `w` so that its bytes are counted.
    pub(super) fn counted<'a, W: Write + ?Sized>(&'a self, w: &'a mut W) -> impl Write + 'a {
        Counting::new(w, |bytes| self.add(bytes))
    }

    fn add(&self, bytes: usize) {
        if !self.is_shown {
            return;
        }
        let mut state = lock(&self.state);
        state.bytes += bytes as u64;
        let is_due = match state.shown {
            None => self.began.elapsed() >= DELAY,
            Some(shown) => shown.elapsed() >= INTERVAL,
        };
        if is_due {
            state.shown = Some(Instant::now());
            let mb = state.bytes / 1_000_000;
            print(format_args!("\rtokio-statemap: writing … {mb} MB"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if lock(&self.state).shown.is_some() {
            print(format_args!("\r\x1b[K"));
        }
    }
}
