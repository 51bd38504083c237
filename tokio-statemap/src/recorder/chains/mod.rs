//! Chains: the functions that a thread is in when a waker is cloned, which is where a task begins to wait.
//!
//! The future that a task waits for clones the waker that it is polled with. At that moment [`capture`] notes where the
//! thread is: by the stack ([`stack`], feature `stacks`) and by the instrumented functions that are being polled. Each
//! such chain of functions has a number ([`table`]), and recognising a known one ([`recent`], [`index`]) takes a few
//! ns per function. For tasks of the runtime, [`wakers`] sees each clone and each wake ([`seen`] tells whether it does), and
//! [`waking`] knows who wakes. [`locals`] are the tasks of `LocalSet`s, of which no hook tells.

pub(crate) mod capture;
mod chain;
mod index;
mod local_seen;
#[cfg_attr(not(has_wakes), path = "no_locals.rs")]
pub(crate) mod locals;
mod recent;
pub(crate) mod seen;
#[cfg_attr(not(has_stacks), path = "no_stack.rs")]
mod stack;
pub(crate) mod table;
#[cfg_attr(not(has_wakes), path = "no_wakers.rs")]
pub(crate) mod wakers;
pub(crate) mod waking;

pub(crate) use local_seen::LocalSeen;
#[cfg(tokio_unstable)]
pub(crate) use stack::StackEnd;

/// Prepares for recording, so that no poll has to do it.
pub(crate) fn prepare() {
    stack::prepare();
}
