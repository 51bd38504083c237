//! Sees the clones and the wakes of the wakers of Tokio's tasks.
//!
//! All tasks have wakers with the same table of functions, a static of Tokio. [`install`] puts functions of ours in
//! place of those that clone, wake and drop. Ours then call Tokio's. Rust regards that table as immutable:
//! `docs/decisions/0010-waits.md` says why it is written to all the same, and what can happen.

#[cfg(has_wakes)]
mod address;
#[cfg(has_wakes)]
mod called;
#[cfg(has_wakes)]
mod hook;
#[cfg(has_wakes)]
mod ids;
#[cfg(has_wakes)]
mod lock_of_all_versions;
#[cfg(has_wakes)]
mod page;
#[cfg(has_wakes)]
mod refs;
#[cfg(has_wakes)]
mod table;

#[cfg(has_wakes)]
pub(crate) use address::TaskAddress;
#[cfg(has_wakes)]
pub(crate) use called::CalledTask;
#[cfg(has_wakes)]
pub(crate) use hook::{Observer, Sees, install, installs, uninstall};

/// The reason why clones aren't seen.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none are asked for"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    /// They can't be seen on this system, or in this build.
    Here,
    /// A filter of system calls may end the process.
    Filtered,
    /// This Tokio has no such table, or one of another form.
    NoTable,
    /// The memory of the table can't be written to.
    ReadOnly,
    /// A clone of a waker of our own wasn't seen.
    OwnClone,
}
