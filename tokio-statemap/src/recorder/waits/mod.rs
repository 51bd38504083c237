//! Where tasks wait: the functions that they are in when they begin to wait, down to the innermost.
//!
//! A task that is spawned through this crate, and a root future, is a [`probe::Probe`]. The future that a task waits
//! for clones the waker that it is polled with. At that moment [`capture`] notes where the thread is: by
//! the stack ([`stack`], feature `stacks`) and by the instrumented functions that are being polled. Each
//! such chain of functions has a number ([`table`]), and a thread that knows it already ([`known`]) needs a
//! few ns a function to recognise it. A poll that ends in waiting notes the number among its thread's
//! records. [`cell`] keeps, for each task that waits, what a record can't: since when it waits, and the
//! task's name. The instrumented calls of a task without a probe tell where it waits ([`unprobed`]).

pub(crate) mod capture;
pub(crate) mod cell;
mod known;
pub(crate) mod names;
pub(crate) mod probe;
#[cfg_attr(not(has_stacks), path = "no_stack.rs")]
mod stack;
pub(crate) mod table;
pub(crate) mod unprobed;

/// Prepares for recording, so that no poll has to.
pub(crate) fn prepare() {
    stack::prepare();
}
