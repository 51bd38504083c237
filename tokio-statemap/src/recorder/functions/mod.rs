//! Instrumented async functions: the futures around their calls.
//!
//! [`instrumented`] wraps the future of a call. While it is polled, it is on the thread's [call
//! stack](crate::recorder::calls::call_stack). [`points`] is where the steps of a call can be told to others.
//! [`fields`] finds the arguments of a call in progress. [`times`] measures what calls took, for the
//! [profile](crate::recorder::calls::profile) of the recorder that records the thread.

#[allow(dead_code, reason = "for probes of where tasks wait")]
mod fields;
mod instrumented;
mod named;
mod points;
mod times;

#[allow(unused_imports, reason = "for probes of where tasks wait")]
pub(crate) use fields::fields_of;
pub use instrumented::{Instrumented, instrumented, instrumented_with};
pub use named::Instrument;

pub use crate::recorder::calls::Function;
pub(crate) use crate::recorder::calls::Times;
pub(crate) use crate::recorder::calls::profile::Counted;

#[cfg(all(test, tokio_unstable))]
mod tests;
