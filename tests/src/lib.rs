//! Shared code of the integration tests.

pub mod allocations;
pub mod alone;
pub mod awaits;
pub mod browser;
pub mod build;
pub mod cases;
pub mod check;
#[cfg(unix)]
pub mod child;
#[cfg(all(tokio_unstable, target_os = "linux"))]
pub mod emitted;
pub mod files;
pub mod first_issue;
#[cfg(unix)]
pub mod full;
pub mod left_out;
pub mod load;
pub mod mutate;
pub mod page;
pub mod pftrace;
pub mod planted;
#[cfg(unix)]
pub mod programs;
pub mod python;
#[cfg(target_os = "linux")]
pub mod quota;
pub mod real;
pub mod runtime;
