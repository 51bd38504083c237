//! Tasks are found to wait where the programs themselves say so.
//!
//! Each function of these programs keeps a shadow of its frame by hand. The recorded tree must be the same, function by
//! function and line by line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod folded;
mod gaps;
mod holders;
mod hostile;
mod locals;
mod no_waker;
mod over;
mod random;
mod runtimes;
mod shadow;
#[rustfmt::skip]
mod shapes;
mod unprobed;
mod whose;
