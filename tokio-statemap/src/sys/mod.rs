//! All `unsafe` code of this crate: signals, privileges, open folders, non-blocking writes, clocks, the
//! time stamp counter, wakers, memory that is read while it is appended to, prefaulting, files in memory, how
//! soon a thread runs, and what the system says of threads. Beside it, what the system says of control groups, and the bugs
//! that are planted in it.
//!
//! Each block names the test that covers it.

#![allow(unsafe_code)]

#[cfg(feature = "record")]
pub(crate) mod cgroup;
#[cfg(feature = "record")]
pub(crate) mod chunk;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod clocks;
#[cfg(feature = "record")]
pub(crate) mod filter;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod folder;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
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
#[cfg(all(unix, feature = "record"))]
pub(crate) mod stderr;
#[cfg(feature = "record")]
pub(crate) mod sync;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod threads;
#[cfg(feature = "record")]
#[cfg_attr(not(all(feature = "sdt", target_os = "linux")), path = "no_trace_points.rs")]
#[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "some are for hooks of tasks"))]
pub(crate) mod trace_points;
#[cfg(feature = "record")]
pub(crate) mod tsc;
#[cfg(feature = "record")]
pub(crate) mod waker;
