//! Looks up the functions and lines of addresses, but only of those that are to be shown.

pub(crate) mod address;
#[cfg(any(feature = "cli", all(test, feature = "symbols")))]
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "it is only tested"))]
mod coroutine_name;
#[cfg(feature = "cli")]
pub(crate) mod coroutines;
mod frame;
#[cfg(has_stacks)]
mod lookup;
#[cfg(not(has_stacks))]
#[path = "no_lookup.rs"]
mod lookup;
#[cfg(feature = "symbols")]
#[cfg_attr(
    not(any(feature = "read", has_stacks)),
    allow(dead_code, reason = "nothing has addresses")
)]
mod object_file;

#[cfg(all(has_black_box, feature = "read"))]
use std::cell::RefCell;
use std::sync::Mutex;

use crate::util::sync::lock;
pub(crate) use address::{Address, file_of_address};
pub(crate) use frame::without_async;
pub use frame::{FrameOrigin, StackFrame};
pub(crate) use lookup::{Resolver, system_call};
#[cfg(all(feature = "symbols", feature = "read"))]
pub(crate) use object_file::ObjectFile;
#[cfg(has_black_box)]
pub(crate) use object_file::in_hex;
#[cfg(feature = "cli")]
pub(crate) use object_file::package;

/// The name that stands for a system call if a thread waits for a page of memory.
pub(crate) const PAGE_FAULT: &str = "a page fault";

/// Files are read once, and only if there is something to look up.
static RESOLVER: Mutex<Option<Resolver>> = Mutex::new(None);

#[cfg(all(has_black_box, feature = "read"))]
thread_local! {
    /// The resolver of another process's addresses, while this thread builds a timeline of that process.
    static OF_OTHER: RefCell<Option<Resolver>> = const { RefCell::new(None) };
}

/// Calls `f`, which looks up the addresses of another process on this thread. Other threads go on with those of this
/// process.
#[cfg(all(has_black_box, feature = "read"))]
pub(crate) fn during_other<R>(resolver: Resolver, f: impl FnOnce() -> R) -> R {
    OF_OTHER.set(Some(resolver));
    let result = f();
    OF_OTHER.set(None);
    result
}

/// Calls `f` with the resolver of this process's addresses.
pub(crate) fn with_resolver<R>(f: impl FnOnce(&mut Resolver) -> R) -> R {
    #[cfg(all(has_black_box, feature = "read"))]
    if let Some(mut resolver) = OF_OTHER.take() {
        resolver.begin();
        let result = f(&mut resolver);
        OF_OTHER.set(Some(resolver));
        return result;
    }
    let mut resolver = lock(&RESOLVER);
    let resolver = resolver.get_or_insert_default();
    resolver.begin();
    f(resolver)
}
