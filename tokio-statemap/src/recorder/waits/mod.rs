//! Where tasks wait: the functions that they are in when they begin to wait, down to the innermost.
//!
//! Of a task of the runtime the [chains](crate::recorder::chains) are captured as its waker is cloned, and a poll that
//! ends in waiting has the number among its thread's records. A task that is spawned through this crate, and a root
//! future, is a [`probe::Probe`], which does the same where wakers aren't seen, and knows its name. [`cell`] keeps, for
//! each of these that waits, what a record can't: since when it waits, and the task's name. The instrumented calls of any
//! other task tell where it waits ([`unprobed`]).

pub(crate) mod cell;
pub(crate) mod names;
pub(crate) mod probe;
pub(crate) mod unprobed;
