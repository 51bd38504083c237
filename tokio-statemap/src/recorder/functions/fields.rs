//! The arguments of calls in progress, for the description of where a task waits.
//!
//! They are formatted only then, on the thread that asks. At its first poll, a call with arguments stores them where
//! they can be found: in an `Arc`, as they may be written while the call ends on another thread.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, Weak};

use crate::recorder::calls::Function;
use crate::util::sync::lock;

type Write = dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync;

type Shard = HashMap<Key, Weak<Write>>;

/// The identity of a call: the address of its function, and when it was first polled.
type Key = (usize, u64);

/// The arguments of all calls that have some, in a few maps with a lock each.
static ALL: LazyLock<[Mutex<Shard>; SHARDS]> = LazyLock::new(Default::default);
const SHARDS: usize = 16;
/// The most calls in each map. Further calls are shown without their arguments.
const MOST: usize = 4096;

fn shard((_, entered_ticks): Key) -> &'static Mutex<Shard> {
    // The lowest bits of a counter may all be the same.
    let mixed = entered_ticks.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    &ALL[mixed as usize % SHARDS]
}

/// Registers the arguments of a call at its first poll.
pub trait Registers: sealed::Sealed {
    #[doc(hidden)]
    fn register(&mut self, function: &'static Function, entered_ticks: u64);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::NoFields {}
    impl<D> Sealed for super::Fields<D> {}
}

/// A call without arguments.
#[derive(Clone, Copy, Debug)]
pub struct NoFields;

impl Registers for NoFields {
    #[inline(always)]
    fn register(&mut self, _: &'static Function, _: u64) {}
}

/// The arguments of a call.
pub struct Fields<D>(State<D>);

enum State<D> {
    Unpolled(D),
    /// The arguments, and the key under which they are found.
    Polled(Arc<D>, Key),
    /// Between the other two states, and after a panic there.
    None,
}

impl<D> Fields<D> {
    pub(super) fn new(write: D) -> Self {
        Self(State::Unpolled(write))
    }
}

impl<D> Registers for Fields<D>
where
    D: Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync + 'static,
{
    #[inline]
    fn register(&mut self, function: &'static Function, entered_ticks: u64) {
        if let State::Unpolled(_) = self.0 {
            self.register_now((function.address(), entered_ticks));
        }
    }
}

impl<D> Fields<D>
where
    D: Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync + 'static,
{
    #[cold]
    #[inline(never)]
    fn register_now(&mut self, key: Key) {
        if let State::Unpolled(write) = std::mem::replace(&mut self.0, State::None) {
            let write = Arc::new(write);
            let weak: Weak<Write> = Arc::downgrade(&write) as Weak<Write>;
            let mut all = lock(shard(key));
            if all.len() < MOST {
                all.insert(key, weak);
            }
            self.0 = State::Polled(write, key);
        }
    }
}

impl<D> Drop for Fields<D> {
    fn drop(&mut self) {
        if let State::Polled(write, key) = &self.0 {
            if let Entry::Occupied(found) = lock(shard(*key)).entry(*key) {
                // Another call of the function may have begun in the same tick.
                if found.get().as_ptr().addr() == Arc::as_ptr(write).addr() {
                    found.remove();
                }
            }
        }
    }
}

impl<D> fmt::Debug for Fields<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fields")
    }
}

/// Returns the arguments of the call of `function` that was first polled at `entered_ticks`. `None` if it has
/// none, has ended, or if writing them fails or panics.
pub(crate) fn fields_of(function: &'static Function, entered_ticks: u64) -> Option<String> {
    let key = (function.address(), entered_ticks);
    let write = lock(shard(key)).get(&key)?.upgrade()?;
    // Whoever has the arguments last drops them, which may panic, too.
    let written = catch_unwind(AssertUnwindSafe(move || {
        struct Shown<'a>(&'a Write);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (self.0)(f)
            }
        }
        let mut text = String::new();
        let is_written = fmt::write(&mut text, format_args!("{}", Shown(&*write))).is_ok();
        is_written.then_some(text)
    }));
    written.ok().flatten()
}
