//! What the integration tests share.

pub mod check;
#[cfg(unix)]
pub mod child;
pub mod page;
#[cfg(unix)]
pub mod programs;
