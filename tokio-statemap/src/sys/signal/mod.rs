//! Signals and the end of the process.
//!
//! A signal handler is restricted to async-signal-safe functions, so it records the signal and wakes a
//! thread, which does the rest. Waking needs no file descriptor, because a program may close descriptors that
//! it doesn't know. Meanwhile the program continues, as it may hold locks that the thread needs. But a thread
//! whose interrupted system call would fail stays in the handler, where the process dies.
//!
//! The handler only ever replaces the default action. An application that sets a handler of its own replaces
//! ours. One that chains to the previous handler (as signal-hook and so Tokio do) calls ours too, which then
//! finds that it is no longer installed, and leaves the signal to the application.

pub(crate) mod dump;
mod interrupted;
pub(crate) mod mask;
mod wake;

use std::ffi::{c_char, c_int, c_void};
use std::fmt::Arguments;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::sys::clocks::monotonic_ns;
use crate::sys::patience;
use wake::Wake;

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The signals whose default action ends the process and that users and supervisors send; and SIGABRT, the
/// last event of an abort, by a panic that can't unwind or by `process::abort`.
const SIGNALS: [(c_int, Handler); 4] = [
    (libc::SIGINT, on_signal),
    (libc::SIGTERM, on_signal),
    (libc::SIGHUP, on_signal),
    (libc::SIGABRT, on_abort),
];

/// Wakes the thread.
static WAKE: Wake = Wake::new();
/// Called before the process ends.
static LAST: OnceLock<fn()> = OnceLock::new();
/// The pending signals, as bits.
static PENDING: AtomicU32 = AtomicU32::new(0);
/// The number of signals sent, and the number that the thread has handled.
static SENT: AtomicU32 = AtomicU32::new(0);
static HANDLED: AtomicU32 = AtomicU32::new(0);
/// The process that the thread belongs to: a child of a fork has the handlers but not the thread.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// The thread, as returned by `pthread_self`.
static THREAD: AtomicUsize = AtomicUsize::new(0);
/// The signal that the thread is about to end the process with, or 0.
static DYING_OF: AtomicI32 = AtomicI32::new(0);
/// The time at which it began to, in ns of the system's clock.
static DYING_SINCE_NS: AtomicU64 = AtomicU64::new(0);
/// Set once the thread has handled an abort.
static ABORT_HANDLED: AtomicBool = AtomicBool::new(false);
/// The number of times that threads kept in the handler were released.
static RELEASED: AtomicU32 = AtomicU32::new(0);

/// Installs the handlers, starts the thread, and registers an exit function. `last` is called
/// before the process ends. Takes effect once per process, and once in a child of a fork that
/// records.
///
/// Calls `warn` with what couldn't be set up.
pub(crate) fn install(last: fn(), warn: fn(Arguments<'_>)) {
    static EXIT: std::sync::Once = std::sync::Once::new();
    let process = std::process::id();
    LAST.get_or_init(|| last);
    if PROCESS.swap(process, Ordering::AcqRel) == process {
        return;
    }
    EXIT.call_once(|| {
        // SAFETY: `at_exit` is a function that never unwinds, and as part of the program it is
        // there for as long as the process is. Test: `exit_paths::exit_anywhere`.
        if unsafe { libc::atexit(at_exit) } != 0 {
            warn(format_args!("the files are not written on std::process::exit: atexit failed"));
        }
    });
    if let Err(error) = listen() {
        warn(format_args!("the files are not written on a signal: {error}"));
    }
}

extern "C" fn at_exit() {
    // A child of a fork may find locks held forever, and a death that is its parent's.
    if PROCESS.load(Ordering::Acquire) != std::process::id() {
        return;
    }
    let _ = std::panic::catch_unwind(write_all);
    wait_if_dying();
}

/// Blocks while the process is about to die of a signal: ending it in another way would change its
/// exit status.
pub(crate) fn wait_if_dying() {
    const PATIENCE: Duration = Duration::from_secs(60);
    const STEP: Duration = Duration::from_millis(1);
    if PROCESS.load(Ordering::Acquire) != std::process::id() {
        return;
    }
    for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
        let is_handled = HANDLED.load(Ordering::Acquire) == SENT.load(Ordering::Acquire);
        if is_handled && DYING_OF.load(Ordering::Acquire) == 0 {
            return;
        }
        std::thread::sleep(STEP);
    }
}

fn listen() -> std::io::Result<()> {
    // A child of a fork inherits its parent's handlers.
    let is_free = |(signal, handler): &&(c_int, Handler)| {
        let action = action(*signal).sa_sigaction;
        [libc::SIG_DFL, *handler as libc::sighandler_t].contains(&action)
    };
    let ours: Vec<_> = SIGNALS.iter().filter(is_free).collect();
    if ours.is_empty() {
        return Ok(());
    }
    WAKE.prepare()?;
    HANDLED.store(SENT.load(Ordering::Acquire), Ordering::Release);
    DYING_OF.store(0, Ordering::Release);
    let run = || {
        // SAFETY: it has no precondition. Test: `exit_paths::own_handler`.
        THREAD.store(unsafe { libc::pthread_self() } as usize, Ordering::Relaxed);
        block_all();
        loop {
            WAKE.wait();
            let sent = SENT.load(Ordering::Acquire);
            let pending = PENDING.swap(0, Ordering::AcqRel);
            for (signal, handler) in SIGNALS {
                // Unless the application has set a handler of its own meanwhile.
                if pending & bit(signal) != 0 && is_set(signal, handler) {
                    on_delivery(signal);
                }
            }
            HANDLED.store(sent, Ordering::Release);
        }
    };
    crate::sys::start("statemap-signal", Box::new(run)).map_err(|error| {
        std::io::Error::new(error.kind(), format!("no thread can be started: {error}"))
    })?;
    for (signal, handler) in ours {
        set_action(*signal, *handler as libc::sighandler_t);
    }
    Ok(())
}

fn bit(signal: c_int) -> u32 {
    1 << (signal & 31)
}

/// The handler. Calls async-signal-safe functions only.
extern "C" fn on_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if !is_set(signal, on_signal) {
        return; // called by the application's handler
    }
    // SAFETY: `getpid`, `signal`, `raise`, `sigaction` and what `notify` and `keep` do are
    // async-signal-safe; `errno` is the thread's own, and put back for the code that was
    // interrupted. `info` and `context` are only looked at if it is the system that called, with
    // both. Tests: `exit_paths::sigint`, `exit_paths::forks`, `exit_paths::interrupted`.
    unsafe {
        let errno = errno_location();
        let errno_before = *errno;
        let is_ours = libc::getpid() as u32 == PROCESS.load(Ordering::Relaxed);
        if !is_ours || ends_at_once(signal) {
            // The process dies of the signal, as without this crate, also in a child of a fork. The signal is delivered
            // on return.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        } else if DYING_OF.load(Ordering::Acquire) != signal {
            let release_kept = RELEASED.load(Ordering::Acquire);
            let sent = notify(signal);
            // An application that restores this handler with `signal` drops SA_SIGINFO.
            let is_informed = action(signal).sa_flags & libc::SA_SIGINFO != 0;
            if is_informed && interrupted::is_observable(info, context) {
                keep(signal, sent, release_kept);
            }
        }
        *errno = errno_before;
    }
}

/// Returns `true` if the process is about to die of `signal`, and an equal one that arrives now is a second
/// request, from a sender that doesn't want to wait. (`timeout` sends one signal to its child, and then one
/// to the child's group.) Async-signal-safe.
fn ends_at_once(signal: c_int) -> bool {
    const SAME_WITHIN_NS: u64 = 200_000_000;
    let since_ns = || DYING_SINCE_NS.load(Ordering::Relaxed);
    DYING_OF.load(Ordering::Acquire) == signal
        && monotonic_ns().saturating_sub(since_ns()) >= SAME_WITHIN_NS
}

/// Keeps this thread in the handler until the process dies or turns out to survive. Async-signal-safe.
fn keep(signal: c_int, sent: u32, release_kept: u32) {
    let mut is_blocked = true;
    wait_until(|| {
        // Another signal ends the process at once from now on, and this may be the only thread that can take
        // it.
        if is_blocked && ends_at_once(signal) {
            drop_pending(signal);
            unblock(signal);
            is_blocked = false;
        }
        let is_handled = HANDLED.load(Ordering::Acquire).wrapping_sub(sent) as i32 >= 0;
        is_handled || RELEASED.load(Ordering::Acquire) != release_kept
    });
}

/// Releases the threads that are kept in the handler, as one of them may hold a lock that is waited for.
pub(crate) fn release_kept() {
    RELEASED.fetch_add(1, Ordering::AcqRel);
}

/// Waits in a handler for the thread: 10 s at most, besides the time for which the thread itself
/// waits for readers, as the program may be in any state. Async-signal-safe if `is_over` is.
fn wait_until(mut is_over: impl FnMut() -> bool) {
    static STEP: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 };
    const STEPS: u32 = 5_000;
    let mut steps = 0;
    while steps < STEPS && !is_over() {
        // SAFETY: it is async-signal-safe; `STEP` is valid, and the pointer for the remaining time may be
        // null. Test: `exit_paths::abort`.
        unsafe { libc::nanosleep(&raw const STEP, std::ptr::null_mut()) };
        steps += u32::from(!patience::is_waiting());
    }
}

/// The handler of an abort. The process ends as soon as it returns, so it waits for the thread.
extern "C" fn on_abort(signal: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    if !is_set(signal, on_abort) {
        return; // called by the application's handler, which may want to continue
    }
    // SAFETY: `getpid`, `pthread_self`, `signal`, `raise` and what `notify` and `wait_until` do are
    // async-signal-safe. The signal is delivered on return: it may also have been sent by `kill`.
    // Test: `exit_paths::abort`.
    unsafe {
        let is_ours = libc::getpid() as u32 == PROCESS.load(Ordering::Relaxed);
        let is_thread = libc::pthread_self() as usize == THREAD.load(Ordering::Relaxed);
        if is_ours && !is_thread {
            notify(signal);
            wait_until(|| ABORT_HANDLED.load(Ordering::Acquire));
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Returns `true` if `handler` is the installed one. Async-signal-safe.
fn is_set(signal: c_int, handler: Handler) -> bool {
    action(signal).sa_sigaction == handler as libc::sighandler_t
}

fn write_all() {
    if let Some(last) = LAST.get() {
        last();
    }
}

/// Notifies the thread of `signal`; returns how many were sent. Async-signal-safe.
fn notify(signal: c_int) -> u32 {
    PENDING.fetch_or(bit(signal), Ordering::AcqRel);
    let sent = SENT.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
    WAKE.wake();
    sent
}

/// Writes the files on the thread, then ends the process as the signal would have.
fn on_delivery(signal: c_int) {
    if signal == libc::SIGABRT {
        write_all();
        // The handler waits for this, then ends the process.
        return ABORT_HANDLED.store(true, Ordering::Release);
    }
    // A second signal while the files are written ends the process at once, unless it comes together with the first.
    DYING_SINCE_NS.store(monotonic_ns(), Ordering::Relaxed);
    DYING_OF.store(signal, Ordering::Release);
    write_all();
    set_action(signal, libc::SIG_DFL);
    unblock(signal);
    // SAFETY: it has no precondition. Test: `exit_paths::sigint`.
    unsafe { libc::raise(signal) };
    // Still here: process 1 of a container ignores signals without a handler, or the application
    // has set one meanwhile.
    DYING_OF.store(0, Ordering::Release);
}

/// Drops a `signal` that is pending, as POSIX has it where the action is to ignore it. Async-signal-safe.
fn drop_pending(signal: c_int) {
    if is_set(signal, on_signal) {
        set_action(signal, libc::SIG_IGN);
        set_action(signal, on_signal as Handler as libc::sighandler_t);
    }
}

/// Unblocks `signal` on this thread. Async-signal-safe.
fn unblock(signal: c_int) {
    // SAFETY: the set is initialised by `sigemptyset` before it is used; all of it is async-signal-safe.
    // Tests: `exit_paths::sigint`, `exit_paths::interrupted`.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// Blocks all signals on this thread: they are for the application's threads, and stay pending if
/// the application has blocked them.
pub(crate) fn block_all() {
    // SAFETY: the set is initialised by `sigfillset` before it is used.
    // Test: `exit_paths::own_handler`.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigfillset(&raw mut set);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
    }
}

/// Returns the current action for `signal`. Async-signal-safe.
#[inline(never)]
pub(crate) fn action(signal: c_int) -> libc::sigaction {
    // SAFETY: all zeroes are a valid `sigaction`, and with a null pointer for the new action the
    // call only reads the present one into it. Test: `exit_paths::own_handler`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action
    }
}

/// Sets the action for `signal`. Interrupted system calls are restarted.
fn set_action(signal: c_int, handler: libc::sighandler_t) {
    // SAFETY: all zeroes are a valid `sigaction` (an empty mask); `handler` is SIG_DFL or an
    // async-signal-safe function. Test: `exit_paths::sigint`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Calls `f` with the signals blocked that a write can raise: SIGXFSZ where a file exceeds a limit
/// (`ulimit -f`), SIGPIPE where a pipe has no reader and the program has set the default action.
/// Instead of ending the process, `write` then returns an error.
pub(crate) fn without_fatal_signals(f: impl FnOnce()) {
    // SAFETY: the sets are initialised by `sigemptyset`, `pthread_sigmask` or `sigpending` before
    // they are read. `sigwait` is only called for a signal that is blocked and pending, so that it
    // returns at once. Test: `hostile::file_size_limit`.
    unsafe {
        let mut fatal: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut pending_before: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut fatal);
        libc::sigaddset(&raw mut fatal, libc::SIGXFSZ);
        libc::sigaddset(&raw mut fatal, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const fatal, &raw mut before);
        libc::sigpending(&raw mut pending_before);
        f();
        let mut pending: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&raw mut pending);
        for signal in [libc::SIGXFSZ, libc::SIGPIPE] {
            let is_ours = libc::sigismember(&raw const pending_before, signal) == 0;
            if is_ours && libc::sigismember(&raw const pending, signal) == 1 {
                let mut one: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut one);
                libc::sigaddset(&raw mut one, signal);
                let mut taken = 0;
                libc::sigwait(&raw const one, &raw mut taken);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
}

/// Returns the host name.
pub(crate) fn host_name() -> Option<String> {
    let mut buffer = [0_u8; 256];
    // SAFETY: the pointer and the length are those of `buffer`. Test: `signal::tests::host_name`.
    let failed =
        unsafe { libc::gethostname(buffer.as_mut_ptr().cast::<c_char>(), buffer.len()) != 0 };
    // A truncated name may lack its terminator.
    let length = buffer.iter().position(|&byte| byte == 0).unwrap_or(buffer.len());
    (!failed).then(|| String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// Returns the address of this thread's `errno`.
///
/// # Safety
///
/// The pointer is valid on this thread only.
unsafe fn errno_location() -> *mut c_int {
    // SAFETY: these calls have no precondition. Test: `exit_paths::sigint`.
    unsafe {
        #[cfg(any(target_os = "linux", target_os = "emscripten", target_os = "hurd"))]
        return libc::__errno_location();
        #[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "dragonfly"))]
        return libc::__error();
        #[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
        return libc::__errno();
        #[cfg(any(target_os = "solaris", target_os = "illumos"))]
        return libc::___errno();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn host_name() {
        let name = super::host_name().expect("a host has a name");
        assert!(!name.contains('\0'));
    }
}
