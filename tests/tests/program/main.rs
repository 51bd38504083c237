//! The program comes first: however it ends and whatever is done to it, it does what it would do without this
//! crate, and complete files are left.

mod exit_paths;
mod hostile;
mod live;
#[cfg(not(tokio_unstable))]
mod no_flag;
mod sampled;
mod small_stack;
