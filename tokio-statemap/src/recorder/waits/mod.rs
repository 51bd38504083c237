//! Finds where tasks wait: the functions that they are in when they begin to wait, down to the innermost.
//!
//! For a task of the runtime, the [chains](crate::recorder::chains) are captured as its waker is cloned. If a poll ends
//! in waiting, the number of the wait is among its thread's records. A task that is spawned through this crate, and a
//! root future, is a [`probe::Probe`], which does the same where wakers aren't seen, and knows the task's name. For
//! each of these that waits, [`cell`] keeps what a record can't: since when it waits, and its name. The instrumented
//! calls of any other task tell where it waits ([`unprobed`]).

pub(crate) mod cell;
pub(crate) mod names;
pub(crate) mod probe;
pub(crate) mod unprobed;
