//! A progress bar, for work that takes long while someone waits at a terminal.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio_statemap::__private::Counting;

/// Shorter work has no bar.
const LONG: Duration = Duration::from_secs(1);

/// A bar on stderr, which shows only if stderr is a terminal and the work takes long.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { bar: ProgressBar::hidden(), began: Instant::now() }
    }

    /// Begins the next step, of `length` bytes if that is known.
    pub(crate) fn begin(&self, what: &str, length: Option<u64>) {
        let template = match length {
            Some(_) => "{msg} [{bar:30}] {bytes} of {total_bytes}",
            None => "{msg} {spinner} {bytes}",
        };
        self.bar.reset();
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_message(what.to_owned());
        match length {
            Some(length) => self.bar.set_length(length),
            None => self.bar.unset_length(),
        }
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.bar.is_hidden() && self.began.elapsed() >= LONG {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns a writer that counts what is written to `w`.
    pub(crate) fn count_writes<W: Write>(&self, w: W) -> impl Write {
        Counting::new(w, |bytes| self.advance(bytes as u64))
    }

    /// Returns a reader that counts what is read from `r`.
    pub(crate) fn count_reads<R: Read>(&self, r: R) -> impl Read + use<R> {
        Counted { r, progress: self.clone() }
    }
}

struct Counted<R> {
    r: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.r.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}
