//! How far it is, for who waits at a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio_statemap::__private::Counting;

/// Work that takes less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on stderr that is there only if that is a terminal and the work takes long.
pub(crate) struct Progress {
    is_wanted: bool,
    began: Instant,
    what: String,
    length: Option<u64>,
    done: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            is_wanted: io::stderr().is_terminal(),
            began: Instant::now(),
            what: String::new(),
            length: None,
            done: 0,
            bar: None,
        }
    }

    /// The next thing is done: perhaps a number of bytes that is known.
    pub(crate) fn begin(&mut self, what: &str, length: Option<u64>) {
        self.end();
        self.what = what.to_owned();
        (self.length, self.done) = (length, 0);
    }

    /// So many more bytes of it are done.
    pub(crate) fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if !self.is_wanted || self.began.elapsed() < PATIENCE {
            return;
        }
        let (what, length) = (&self.what, self.length);
        self.bar.get_or_insert_with(|| bar(what, length)).set_position(self.done);
    }

    /// All is done: the bar goes.
    pub(crate) fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Counts what is written to `w`.
    pub(crate) fn counting<W: Write>(&mut self, w: W) -> impl Write {
        Counting::new(w, |bytes| self.advance(bytes as u64))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn bar(what: &str, length: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let template = match length {
        Some(_) => "{msg} [{bar:30}] {bytes} of {total_bytes}",
        None => "{msg} {spinner} {bytes}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what.to_owned());
    bar
}
