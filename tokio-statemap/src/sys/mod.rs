//! All `unsafe` code of this crate: signals, privileges, open folders, thread-local values, non-blocking writes, clocks,
//! the time stamp counter, wakers, memory that is read while it is appended to, prefaulting, mapped files, scheduling,
//! and threads. Beside it, the limits of control groups, and planted bugs.
//!
//! Each block names the test that covers it.

#![allow(unsafe_code)]

#[cfg(feature = "record")]
pub(crate) mod cgroup;
#[cfg(feature = "record")]
pub(crate) mod chunk;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod clocks;
#[cfg(has_black_box)]
pub(crate) mod file_lock;
#[cfg(feature = "record")]
pub(crate) mod filter;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod folder;
#[cfg(feature = "record")]
pub(crate) mod local;
#[cfg(has_stacks)]
pub(crate) mod mapped;
#[cfg(all(test, feature = "record"))]
pub(crate) mod paint;
#[cfg_attr(
    not(all(unix, feature = "record")),
    allow(dead_code, reason = "some of it is for writes that don't block, and for signals")
)]
pub(crate) mod patience;
#[cfg(feature = "record")]
pub(crate) mod planted;
#[cfg(feature = "record")]
mod prefault;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod secure;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod signal;
#[cfg(feature = "record")]
pub(crate) mod slice;
mod start;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod stderr;
#[cfg(feature = "record")]
pub(crate) mod sync;
#[cfg(feature = "record")]
pub(crate) mod task_waker;
#[cfg(has_stacks)]
pub(crate) mod threads;
#[cfg(feature = "record")]
#[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "some are for hooks of tasks"))]
pub(crate) mod trace_points;
#[cfg(feature = "record")]
pub(crate) mod tsc;
#[cfg(feature = "record")]
pub(crate) mod waker;

pub(crate) use start::start;
