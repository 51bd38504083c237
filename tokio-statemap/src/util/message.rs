//! Prints this crate's own messages on stderr.
//!
//! stderr may not be read by anyone, and the holder of the lock of `std::io::stderr` may be blocked
//! forever. So the lock is taken on a separate thread, and what isn't read in time is discarded,
//! see [`crate::sys::patience`].

use std::fmt::Arguments;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::sys::patience;
use crate::util::latch::{Over, latch};

/// The time to wait for the program's own printing, which ends at once or never.
const LOCK: Duration = Duration::from_secs(1);
/// The time that a printing thread gets when nothing waits for it.
const GRACE: Duration = Duration::from_secs(1);

/// Prints one line that begins with the crate's name.
#[inline(never)]
pub(crate) fn warn(line: Arguments<'_>) {
    print(format_args!("tokio-statemap: {line}\n"));
}

/// Prints `text` in one write, so that lines of other threads are not interleaved with it. Unlike
/// `eprint!` it doesn't panic if stderr is closed or full.
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
    let printing = Printing::start(Box::new(move || {
        let _lock = io::stderr().lock();
        other();
    }));
    match printing {
        Some(printing) if printing.is_over_within(LOCK) => {}
        // The lock is still held.
        Some(_) if CAN_DO_WITHOUT_LOCK && print_once() => {}
        Some(printing) => printing.wait(),
        None => {
            print_once();
        }
    }
}

/// Prints text that a test harness captures.
#[cfg(feature = "record")]
pub(crate) fn print_in_test(text: String) {
    let text: Arc<str> = text.into();
    let other = Arc::clone(&text);
    // The thread inherits the capture from this one.
    match Printing::start(Box::new(move || eprint!("{other}"))) {
        Some(printing) => printing.wait(),
        None => eprint!("{text}"),
    }
}

/// `true` where a blocked write can be given up.
const CAN_DO_WITHOUT_LOCK: bool = cfg!(all(unix, feature = "record"));

#[cfg(all(unix, feature = "record"))]
fn write(bytes: &[u8]) {
    crate::sys::signal::without_fatal_signals(|| {
        let _ = crate::sys::stderr::write_all(bytes);
    });
}

/// This may block: then the thread is abandoned.
#[cfg(not(all(unix, feature = "record")))]
fn write(bytes: &[u8]) {
    use std::io::Write;
    let _ = io::stderr().write_all(bytes);
}

/// A thread that prints. It is abandoned if it doesn't end.
struct Printing(Over);

impl Printing {
    fn start(print: Box<dyn FnOnce() + Send>) -> Option<Self> {
        let (ongoing, over) = latch();
        let print = move || {
            // It is dropped at the end of the closure, also on unwinding.
            let _ongoing = ongoing;
            print();
        };
        crate::sys::start("statemap-stderr", Box::new(print)).is_ok().then_some(Self(over))
    }

    /// Returns `true` if the thread ends within `time`, and within the budget of [`patience`].
    fn is_over_within(&self, time: Duration) -> bool {
        patience::wait(|left| self.0.wait_for(left.min(time))).unwrap_or(false)
    }

    fn wait(&self) {
        if !self.is_over_within(Duration::MAX) {
            self.0.wait_for(GRACE);
        }
    }
}
