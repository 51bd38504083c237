//! What Rust has no safe way to say: the process's signals, and the processor's time stamp counter.
//! All `unsafe` of this crate is in here, and each block names the test that holds it.

#![allow(unsafe_code)]

#[cfg(unix)]
pub(crate) mod signal;
pub(crate) mod tsc;
