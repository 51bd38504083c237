//! The chains that a thread was in lately, in one of which it most likely is again.
//!
//! They are compared before the [`index`] is searched, whose table is large: its words are seldom in a processor's cache.

use std::cell::Cell;

use super::index::{self, Known};
use super::stack::{Registers, StackEnd};
use crate::sys::local;

/// The number of chains that a thread remembers.
const PLACES: usize = 16;
/// Stack pointers are multiples of this many bytes, and so are depths.
const ALIGNMENT: u32 = 16;

thread_local! {
    /// Each chain is at the place of its depth.
    static RECENT: [Cell<Option<&'static Known>>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
}

/// Returns the chain of this depth and these calls that the thread is in, if it is known.
#[inline]
pub(super) fn find(
    here: &Registers,
    end: StackEnd,
    depth: u32,
    calls_hash: u64,
) -> Option<&'static Known> {
    local::with(&RECENT, |recent| {
        let place = &recent[(depth / ALIGNMENT) as usize % PLACES];
        if let Some(known) = place.get().filter(|known| known.is_at(here, end, depth, calls_hash)) {
            return Some(known);
        }
        let found = index::find(here, end, depth, calls_hash)?;
        place.set(Some(found));
        Some(found)
    })
}
