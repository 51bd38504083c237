//! Where tasks wait is where the programs themselves say that they do: each function of these keeps a shadow
//! of its frame by hand, and the tree that is found must be the same, function by function and line by
//! line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod holders;
mod hostile;
mod random;
mod runtimes;
mod shadow;
#[rustfmt::skip]
mod shapes;
mod unprobed;
