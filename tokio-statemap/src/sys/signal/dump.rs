//! Signals on which something is shown while the program goes on.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::wake::Wake;
use super::{action, block_all, is_set, set_action};

static WAKE: Wake = Wake::new();
/// The process that the thread belongs to.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// A signal that can be used, and what is done about it.
struct Answered {
    name: &'static str,
    signal: c_int,
    /// Set if it was received and not answered yet.
    is_pending: AtomicBool,
    /// The functions that answer, by [`Purpose`]. Each is called with the name of the signal.
    answers: [OnceLock<fn(&'static str)>; 2],
}

/// A purpose of a signal. One signal may have several.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// It takes no time to ask for a page, so that comes first.
    #[cfg(feature = "html")]
    Page,
    /// The trees may wait for the reader of stderr.
    Trees,
}

static SIGNALS: [Answered; 4] = [
    Answered::new("SIGUSR1", libc::SIGUSR1),
    Answered::new("SIGUSR2", libc::SIGUSR2),
    Answered::new("SIGQUIT", libc::SIGQUIT),
    Answered::new("SIGIO", libc::SIGIO),
];

impl Answered {
    const fn new(name: &'static str, signal: c_int) -> Self {
        let answers = [OnceLock::new(), OnceLock::new()];
        Self { name, signal, is_pending: AtomicBool::new(false), answers }
    }

    fn answer_if_pending(&self) {
        if self.is_pending.swap(false, Ordering::AcqRel) {
            for answer in self.answers.iter().filter_map(OnceLock::get) {
                // A panic of this crate must not become the program's.
                let _ = std::panic::catch_unwind(|| answer(self.name));
            }
        }
    }
}

/// Calls `answer` on a separate thread for each signal of this name, or once for several that arrive meanwhile. There is
/// one function for each signal and purpose, the first that is given.
///
/// # Errors
///
/// The reason for a failure, such as a handler of the program's own for that signal.
pub(crate) fn install(name: &str, purpose: Purpose, answer: fn(&'static str)) -> io::Result<()> {
    let found = SIGNALS.iter().find(|answered| answered.name == name);
    let Some(answered) = found else { return Err(io::Error::other("it isn't known here")) };
    let present = action(answered.signal).sa_sigaction;
    let own = on_signal as *const () as libc::sighandler_t;
    if ![libc::SIG_DFL, own].contains(&present) {
        return Err(io::Error::other("the program handles it"));
    }
    answered.answers[purpose as usize].get_or_init(|| answer);
    start_thread()?;
    set_action(answered.signal, own);
    Ok(())
}

/// Starts the thread that answers, once in each process that asks for it.
fn start_thread() -> io::Result<()> {
    let process = std::process::id();
    if PROCESS.load(Ordering::Acquire) == process {
        return Ok(());
    }
    for answered in &SIGNALS {
        answered.is_pending.store(false, Ordering::Relaxed);
    }
    WAKE.prepare()?;
    let run = || {
        block_all();
        loop {
            WAKE.wait();
            SIGNALS.iter().for_each(Answered::answer_if_pending);
        }
    };
    crate::sys::start("statemap-dump", Box::new(run))?;
    PROCESS.store(process, Ordering::Release);
    Ok(())
}

/// The handler. Calls async-signal-safe functions only.
extern "C" fn on_signal(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    if !is_set(signal, on_signal) {
        return; // called by the application's handler
    }
    // SAFETY: `getpid`, `signal`, `raise` and what `wake` does are async-signal-safe; `errno` is the
    // thread's own, and put back for the code that was interrupted. Tests: `trees::a_signal_prints_trees`,
    // `trees::a_child_of_a_fork_prints_none`.
    unsafe {
        let errno = super::errno_location();
        let errno_before = *errno;
        if libc::getpid() as u32 == PROCESS.load(Ordering::Relaxed) {
            // Signals that are received before the answer count as one.
            let answered = SIGNALS.iter().find(|answered| answered.signal == signal);
            if answered.is_some_and(|answered| !answered.is_pending.swap(true, Ordering::AcqRel)) {
                WAKE.wake();
            }
        } else {
            // In a child of a fork, the signal does what it does without this crate. It is delivered on return.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        *errno = errno_before;
    }
}
