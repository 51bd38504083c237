//! What Rust has no safe way to say: the process's signals and rights, folders that are open, writes
//! that don't block, the processor's time stamp counter, and memory that is appended to while it is
//! read, or asked for before it is needed.
//!
//! All `unsafe` of this crate is in here, and each block names the test that holds it.

#![allow(unsafe_code)]

pub(crate) mod chunk;
#[cfg(unix)]
pub(crate) mod folder;
#[cfg(test)]
pub(crate) mod paint;
mod prefetch;
#[cfg(unix)]
pub(crate) mod secure;
#[cfg(unix)]
pub(crate) mod signal;
#[cfg(unix)]
pub(crate) mod stderr;
pub(crate) mod tsc;
