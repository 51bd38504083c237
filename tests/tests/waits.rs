//! Where tasks wait is where the programs themselves say that they do: each function of these keeps a shadow
//! of its frame by hand, and the tree that is found must be the same, function by function and line by
//! line.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

#[path = "waits/holders.rs"]
mod holders;
#[path = "waits/hostile.rs"]
mod hostile;
#[path = "waits/random.rs"]
mod random;
#[path = "waits/runtimes.rs"]
mod runtimes;
#[path = "waits/shadow.rs"]
mod shadow;
#[path = "waits/shapes.rs"]
#[rustfmt::skip]
mod shapes;
#[path = "waits/unprobed.rs"]
mod unprobed;
