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

use std::sync::Mutex;

use crate::util::sync::lock;
pub(crate) use address::{Address, file_of_address};
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

/// Has addresses looked up by another resolver from now on.
#[cfg(all(has_black_box, feature = "read"))]
pub(crate) fn set_resolver(resolver: Resolver) {
    *lock(&RESOLVER) = Some(resolver);
}

/// Calls `f` with the resolver of this process's addresses.
pub(crate) fn with_resolver<R>(f: impl FnOnce(&mut Resolver) -> R) -> R {
    let mut resolver = lock(&RESOLVER);
    let resolver = resolver.get_or_insert_default();
    resolver.begin();
    f(resolver)
}
