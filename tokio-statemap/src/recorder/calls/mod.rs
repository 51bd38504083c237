//! Calls of instrumented functions: which of them a thread polls, and what they took.
//!
//! [`call_stack`] has the calls that a thread polls right now. [`profile`] counts what calls took, by function and
//! thread.

#[allow(dead_code, reason = "for probes of where tasks wait")]
pub(crate) mod call_stack;
mod function;
mod histogram;
pub(crate) mod profile;

pub use function::Function;
pub(crate) use histogram::Times;
