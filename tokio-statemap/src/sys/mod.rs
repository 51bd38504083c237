//! What Rust has no safe way to say: the process's signals and rights, folders that are open, writes
//! that don't block, the processor's time stamp counter, and memory that is appended to while it is
//! read, or asked for before it is needed.
//!
//! All `unsafe` of this crate is in here, and each block names the test that holds it.

#![allow(unsafe_code)]

#[cfg(feature = "record")]
pub(crate) mod chunk;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod folder;
#[cfg(all(test, feature = "record"))]
pub(crate) mod paint;
#[cfg_attr(
    not(all(unix, feature = "record")),
    allow(dead_code, reason = "some of it is for writes that don't block, and for signals")
)]
pub(crate) mod patience;
#[cfg(feature = "record")]
mod prefault;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod secure;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod signal;
#[cfg(all(unix, feature = "record"))]
pub(crate) mod stderr;
#[cfg(feature = "record")]
pub(crate) mod tsc;
