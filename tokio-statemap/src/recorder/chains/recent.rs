//! The chains that a thread was in lately. Most likely it is in one of them again.
//!
//! They are compared before the [`index`] is searched. Its table is large, so its words are seldom in a processor's cache.

use std::cell::Cell;

use super::index::{self, Known, Position};
use crate::sys::local;

/// The number of chains that a thread remembers.
const PLACES: usize = 16;
/// Stack pointers are multiples of this many bytes, and so are depths.
const ALIGNMENT: u32 = 16;

thread_local! {
    /// The depth and the calls of a chain give it its place.
    static RECENT: [Cell<Option<&'static Known>>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
}

/// Returns the chain that this thread is in, if it is known.
#[inline]
pub(super) fn find(position: Position<'_>) -> Option<&'static Known> {
    local::with(&RECENT, |recent| {
        let of = (position.depth / ALIGNMENT) as usize ^ position.calls_hash as usize;
        let place = &recent[of % PLACES];
        if let Some(known) = place.get().filter(|known| known.is_at(position)) {
            return Some(known);
        }
        let found = index::find(position)?;
        place.set(Some(found));
        Some(found)
    })
}
