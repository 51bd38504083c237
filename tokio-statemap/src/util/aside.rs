//! Prints messages on stderr while the program goes on, without waiting for them.
//!
//! stderr may never be read, and its lock may be held forever. So at most one thread prints such messages,
//! and that thread may block forever; until it ends, further messages are dropped and their senders are
//! notified. This thread doesn't use the budget of [`patience`](crate::sys::patience), which is for writes
//! that delay the program's end.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::sys::patience;

/// The process in which a message is being printed, if any. Not a flag: a child of a fork lacks the
/// thread.
static PRINTS: AtomicU32 = AtomicU32::new(0);

/// Returns `true` if a message is being printed, so that another one would be dropped.
pub(crate) fn is_busy() -> bool {
    PRINTS.load(Ordering::Acquire) == std::process::id()
}

/// Returns what is to be printed, if anything.
type Text = dyn FnOnce() -> Option<String> + Send;

/// Waits until no message is being printed, for at most `at_most` and within the budget of the program's end.
/// Returns `true` if none is being printed.
pub(crate) fn wait(at_most: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(1);
    patience::wait(|left| {
        for _ in 0..at_most.min(left).as_millis() {
            if !is_busy() {
                return;
            }
            thread::sleep(STEP);
        }
    });
    !is_busy()
}

/// Prints what `text` returns, in one write if stderr takes that. `text` is called once stderr accepts
/// data, and `end` with whether all of it was written. Returns `false`, without calling either, if
/// another message is being printed, or no thread can be started.
pub(crate) fn print(
    text: impl FnOnce() -> Option<String> + Send + 'static,
    end: impl FnOnce(bool) + Send + 'static,
) -> bool {
    print_boxed(Box::new(text), Box::new(end))
}

fn print_boxed(text: Box<Text>, end: Box<dyn FnOnce(bool) + Send>) -> bool {
    let this = std::process::id();
    if PRINTS.swap(this, Ordering::AcqRel) == this {
        return false;
    }
    let printing = Printing;
    let print = move || {
        let _printing = printing;
        #[cfg(unix)]
        crate::sys::signal::block_all();
        end(write(text).is_ok());
    };
    let thread = crate::sys::start("statemap-stderr", Box::new(print));
    // On failure the closure was dropped, and with it the mark that a message is being printed.
    thread.is_ok()
}

/// The mark that a message is being printed. Ends when dropped.
struct Printing;

impl Drop for Printing {
    fn drop(&mut self) {
        PRINTS.store(0, Ordering::Release);
    }
}

#[cfg(unix)]
fn write(text: Box<Text>) -> io::Result<()> {
    use crate::sys::stderr::Unhurried;
    /// stderr may be reported as ready although it has too little room.
    const STEP: Duration = Duration::from_millis(10);
    let mut stderr = Unhurried::open()?;
    let (mut ask, mut text, mut written) = (Some(text), String::new(), 0);
    loop {
        // Without the lock, which the program may want meanwhile.
        stderr.wait();
        let before = written;
        {
            let _lock = io::stderr().lock();
            if let Some(ask) = ask.take_if(|_| stderr.is_ready()) {
                let Some(asked) = ask() else { return Ok(()) };
                text = asked;
            }
            if ask.is_none() {
                written += stderr.write(&text.as_bytes()[written..])?;
            }
        }
        if ask.is_none() && written == text.len() {
            return Ok(());
        }
        if written == before {
            thread::sleep(STEP);
        }
    }
}

#[cfg(not(unix))]
fn write(text: Box<Text>) -> io::Result<()> {
    use std::io::Write;
    let mut stderr = io::stderr().lock();
    text().map_or(Ok(()), |text| stderr.write_all(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn there_is_one_at_a_time() {
        let (go_on, wait_for) = channel::<()>();
        let (tell, told) = channel();
        let first = move || {
            wait_for.recv().ok();
            None
        };
        assert!(print(first, move |is_done| tell.send(is_done).unwrap()));
        for _ in 0..3 {
            assert!(is_busy() && !wait(Duration::from_millis(1)));
            assert!(!print(|| panic!("it is asked"), |_| panic!("it is told")));
        }
        drop(go_on);
        assert!(told.recv().unwrap());
        while is_busy() {
            thread::yield_now();
        }
    }
}
