//! Messages of our own to the user, on stderr.
//!
//! Nobody may read them, and who has the lock of `std::io::stderr` may be blocked for ever. So the lock is
//! waited for on a thread of its own, and what isn't read is given up, see [`crate::sys::patience`].

use std::fmt::Arguments;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::sys::patience;

/// How long the program's own printing is waited for: it comes to an end at once, or not at all.
const LOCK: Duration = Duration::from_secs(1);
/// What a thread may take that nobody keeps waiting.
const GRACE: Duration = Duration::from_secs(1);

/// Says one line.
pub(crate) fn say(line: Arguments<'_>) {
    print(format_args!("tokio-statemap: {line}\n"));
}

/// Prints `text` in one write, so that other threads' lines don't come between, nor it between theirs.
/// Unlike `eprint!` it doesn't panic where stderr is closed or full.
pub(crate) fn print(text: Arguments<'_>) {
    let text: Arc<str> = text.to_string().into();
    let is_begun = Arc::new(AtomicBool::new(false));
    let print_once = move || {
        let is_first = !is_begun.swap(true, Ordering::AcqRel);
        if is_first {
            write(text.as_bytes());
        }
        is_first
    };
    let other = print_once.clone();
    let printing = Printing::start(move || {
        let _lock = io::stderr().lock();
        other();
    });
    match printing {
        Some(printing) if printing.is_over_within(LOCK) => {}
        // Who has the lock keeps it.
        Some(_) if CAN_DO_WITHOUT_LOCK && print_once() => {}
        Some(printing) => printing.wait(),
        None => {
            print_once();
        }
    }
}

/// The same for what the harness of a test is to capture.
#[cfg(feature = "record")]
pub(crate) fn print_in_test(text: String) {
    let text: Arc<str> = text.into();
    let other = Arc::clone(&text);
    // The thread inherits from this one that it is captured.
    match Printing::start(move || eprint!("{other}")) {
        Some(printing) => printing.wait(),
        None => eprint!("{text}"),
    }
}

/// Whether a write can be given up.
const CAN_DO_WITHOUT_LOCK: bool = cfg!(all(unix, feature = "record"));

#[cfg(all(unix, feature = "record"))]
fn write(bytes: &[u8]) {
    crate::sys::signal::without_fatal_signals(|| {
        let _ = crate::sys::stderr::write_all(bytes);
    });
}

/// It may block: then the thread is left to itself.
#[cfg(not(all(unix, feature = "record")))]
fn write(bytes: &[u8]) {
    use std::io::Write;
    let _ = io::stderr().write_all(bytes);
}

/// A thread that prints. If it doesn't come to an end, it is left to itself.
struct Printing(Receiver<()>);

impl Printing {
    fn start(print: impl FnOnce() + Send + 'static) -> Option<Self> {
        let (is_over, over) = channel();
        let print = move || {
            // Dropped at the end of it, whichever way that comes.
            let _is_over = is_over;
            print();
        };
        let thread = thread::Builder::new().name("statemap-stderr".into()).spawn(print);
        thread.is_ok().then_some(Self(over))
    }

    /// Whether it is over, within that time and as long as there is patience.
    fn is_over_within(&self, time: Duration) -> bool {
        let received = patience::wait(|left| self.0.recv_timeout(left.min(time)));
        received == Some(Err(RecvTimeoutError::Disconnected))
    }

    fn wait(&self) {
        if !self.is_over_within(Duration::MAX) {
            let _ = self.0.recv_timeout(GRACE);
        }
    }
}
