//! What the integration tests share.

pub mod check;
#[cfg(unix)]
pub mod child;
#[cfg(unix)]
pub mod programs;
