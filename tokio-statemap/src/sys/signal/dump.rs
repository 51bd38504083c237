//! A signal on which something is printed while the program goes on.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use super::wake::Wake;
use super::{action, block_all, is_set, set_action};

static WAKE: Wake = Wake::new();
/// The function that prints.
static DUMP: OnceLock<fn()> = OnceLock::new();
/// The signal, or 0.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Set if a signal was received and not answered yet.
static IS_PENDING: AtomicBool = AtomicBool::new(false);
/// The process that the thread belongs to.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The signals that can be used, by name.
const SIGNALS: [(&str, c_int); 4] = [
    ("SIGUSR1", libc::SIGUSR1),
    ("SIGUSR2", libc::SIGUSR2),
    ("SIGQUIT", libc::SIGQUIT),
    ("SIGIO", libc::SIGIO),
];

/// Calls `dump` on a separate thread for each `signal`, or once for several that arrive meanwhile. Takes
/// effect once per process, for one signal.
///
/// # Errors
///
/// The reason for a failure, such as a handler of the program's own for that signal.
pub(crate) fn install(signal: &str, dump: fn()) -> io::Result<()> {
    let found = SIGNALS.iter().find(|(name, _)| *name == signal);
    let Some(&(_, signal)) = found else { return Err(io::Error::other("it isn't known here")) };
    let process = std::process::id();
    if PROCESS.load(Ordering::Acquire) == process {
        return match SIGNAL.load(Ordering::Relaxed) == signal {
            true => Ok(()),
            false => Err(io::Error::other("another one is set already")),
        };
    }
    let present = action(signal).sa_sigaction;
    if ![libc::SIG_DFL, on_signal as *const () as libc::sighandler_t].contains(&present) {
        return Err(io::Error::other("the program handles it"));
    }
    DUMP.get_or_init(|| dump);
    IS_PENDING.store(false, Ordering::Relaxed);
    WAKE.prepare()?;
    let run = || {
        block_all();
        loop {
            WAKE.wait();
            if IS_PENDING.swap(false, Ordering::AcqRel) {
                if let Some(dump) = DUMP.get() {
                    // A panic of this crate must not become the program's.
                    let _ = std::panic::catch_unwind(dump);
                }
            }
        }
    };
    crate::sys::start("statemap-dump", Box::new(run))?;
    SIGNAL.store(signal, Ordering::Relaxed);
    PROCESS.store(process, Ordering::Release);
    set_action(signal, on_signal as *const () as libc::sighandler_t);
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
            if !IS_PENDING.swap(true, Ordering::AcqRel) {
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
