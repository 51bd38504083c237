//! Instrumented async functions: which of them a thread polls, and what their calls took.
//!
//! [`instrumented`] wraps the future of a call. While it is polled, [`call_stack`] has it. [`points`] is
//! where the steps of a call can be told to others. [`fields`] finds the arguments of a call that goes on.

#[allow(dead_code, reason = "for probes of where tasks wait")]
pub(crate) mod call_stack;
#[allow(dead_code, reason = "for probes of where tasks wait")]
mod fields;
mod function;
mod instrumented;
mod named;
mod points;
mod times;

#[allow(unused_imports, reason = "for probes of where tasks wait")]
pub(crate) use fields::fields_of;
pub use function::Function;
pub use instrumented::{Instrumented, instrumented, instrumented_with};
pub use named::Instrument;

#[cfg(test)]
mod tests;
