//! Instrumented async functions: which of them a thread polls, and what their calls took.
//!
//! [`instrumented`] wraps the future of a call. While it is polled, [`call_stack`] has it. [`points`] is
//! where the steps of a call can be told to others. [`fields`] finds the arguments of a call that goes on.
//!
//! [`times`] counts what calls took, in the [`profile`] of the recorder that records the thread
//! ([`current`]).

#[allow(dead_code, reason = "for probes of where tasks wait")]
pub(crate) mod call_stack;
mod current;
#[allow(dead_code, reason = "for probes of where tasks wait")]
mod fields;
mod function;
mod histogram;
mod instrumented;
mod named;
mod points;
mod profile;
mod times;

pub(crate) use current::forget;
#[allow(unused_imports, reason = "for probes of where tasks wait")]
pub(crate) use fields::fields_of;
pub use function::Function;
pub(crate) use histogram::Times;
pub use instrumented::{Instrumented, instrumented, instrumented_with};
pub use named::Instrument;
pub(crate) use profile::{Counted, Profiles, ThreadProfile};

#[cfg(all(test, tokio_unstable))]
mod tests;
