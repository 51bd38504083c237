//! Where tasks wait: the functions that they are in when they begin to, down to what they wait for.
//!
//! A task that is spawned through this crate, and a root future, is a [`probe::Probe`]. What a task waits
//! for clones the waker that it is polled with; at that moment [`capture`] notes where the thread is: by
//! the stack ([`stack`], feature `stacks`) and by the instrumented functions that are being polled. Each
//! such chain of functions has a number ([`table`]), and a thread that knows it already ([`known`]) needs a
//! few ns a function to recognise it. A poll that ends in waiting notes the number among its thread's
//! records. [`cell`] keeps, for each task that waits, what a record can't: since when it does, and the
//! task's name. Of a task without a probe its instrumented calls tell where they wait ([`unprobed`]).

pub(crate) mod capture;
pub(crate) mod cell;
mod known;
pub(crate) mod names;
pub(crate) mod probe;
#[cfg_attr(
    not(all(
        feature = "stacks",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    path = "no_stack.rs"
)]
mod stack;
pub(crate) mod table;
pub(crate) mod unprobed;

/// Prepares for what is about to be recorded, so that no poll has to.
pub(crate) fn prepare() {
    stack::prepare();
}
