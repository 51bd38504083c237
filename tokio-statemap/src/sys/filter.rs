//! Checks which system calls are safe to make: a seccomp filter may end the process for a call that the
//! program wouldn't make without this crate.
//!
//! A container has a filter from its start, which usually only refuses calls. So the first time that a call
//! is about to be made, and if a filter is in force, a child process tries the calls. A filter that is
//! installed later, such as the program's own, isn't tried: from then on none of these calls is made.

#[cfg(all(target_os = "linux", not(miri)))]
mod trial;

use std::sync::atomic::{AtomicU32, Ordering};

/// The result so far: one of the following.
static FOUND: AtomicU32 = AtomicU32::new(NOTHING);

const NOTHING: u32 = 0;
const DEADLY: u32 = 1;
/// No filter was in force when this was checked.
const FREE: u32 = 2;
/// The filters don't end the process. Their number is added.
const HARMLESS: u32 = 3;

/// Returns `true` if the calling thread may make such calls. Async-signal-safe after the first call outside
/// of a handler.
///
/// It makes a system call itself, `prctl`, which the runtime makes too, to name its threads.
#[inline(never)]
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

/// Checks whether filters were added since the start. Reads a file.
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

/// Returns `true` if a filter is in force for the calling thread. Async-signal-safe.
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

/// Returns the number of filters in force, if the system reports it (Linux 5.9).
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
