//! The program comes first: whatever happens to it, it behaves and ends as it would without this crate, and complete
//! files are left.

mod by_hand;
mod dumps;
mod exit_paths;
mod hostile;
mod killed;
mod live;
#[cfg(not(tokio_unstable))]
mod no_flag;
mod sampled;
mod small_stack;
mod twins;
