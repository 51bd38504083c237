//! Whether system calls may be made that the program would not make without this crate: a seccomp filter may end the process
//! for each that it doesn't know.
//!
//! A container has a filter from its start, and mostly one that only refuses calls. So the first time that anybody asks, a
//! child tries the calls, if a filter is in force. One that comes later, as a program's own, isn't tried: from then on
//! none of these calls is made any more.

#[cfg(all(target_os = "linux", not(miri)))]
mod trial;

use std::sync::atomic::{AtomicU32, Ordering};

/// What is known: nothing, that such calls end the process, or one of the following plus how many filters there were.
static FOUND: AtomicU32 = AtomicU32::new(NOTHING);

const NOTHING: u32 = 0;
const DEADLY: u32 = 1;
/// There was no filter.
const FREE: u32 = 2;
/// There were so many more filters, which end no process.
const HARMLESS: u32 = 3;

/// Whether the calling thread may make such calls. Async-signal-safe, once it was asked outside of a handler.
///
/// It is a system call by itself, which the runtime makes to name its threads: `prctl`.
pub(crate) fn allows_all() -> bool {
    match FOUND.load(Ordering::Relaxed) {
        DEADLY => false,
        FREE if is_filtered() => {
            FOUND.store(DEADLY, Ordering::Relaxed);
            false
        }
        NOTHING => find_out(),
        _ => true,
    }
}

/// Looks whether another filter came to those that were there from the start. Reads a file.
pub(crate) fn look_again() {
    let found = FOUND.load(Ordering::Relaxed);
    let before = found.checked_sub(HARMLESS);
    if before.is_some_and(|before| filters().is_some_and(|now| now > before)) {
        FOUND.store(DEADLY, Ordering::Relaxed);
    }
}

#[cold]
fn find_out() -> bool {
    let found = if !is_filtered() {
        FREE
    } else if is_survived() {
        HARMLESS + filters().unwrap_or_default()
    } else {
        DEADLY
    };
    // Another thread may have found out meanwhile.
    let _ = FOUND.compare_exchange(NOTHING, found, Ordering::Relaxed, Ordering::Relaxed);
    FOUND.load(Ordering::Relaxed) != DEADLY
}

/// Whether a filter is in force for the calling thread. Async-signal-safe.
fn is_filtered() -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: it only asks for a number. Test:
        // `sampled::a_filter_that_ends_the_program_for_a_call_ends_it_for_none_of_ours`.
        let mode = unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) };
        mode > 0
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    false
}

/// How many filters are in force, if the system says so (Linux 5.9).
fn filters() -> Option<u32> {
    if cfg!(not(target_os = "linux")) {
        return None;
    }
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()
}

fn is_survived() -> bool {
    #[cfg(all(target_os = "linux", not(miri)))]
    return trial::is_survived();
    #[cfg(not(all(target_os = "linux", not(miri))))]
    true
}
