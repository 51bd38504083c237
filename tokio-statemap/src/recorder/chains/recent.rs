//! The chains that a thread was in lately. Most likely it is in one of them again.
//!
//! They are compared before the [`index`] is searched. Its table is large, so its words are seldom in a processor's cache.
//!
//! A program that waits in more different chains than are kept would search in vain for most of its waits. So each search in
//! vain doubles the number of waits until the next one.

use std::cell::Cell;

use super::index::{self, Known, Position};
use super::table::{self, UNKNOWN};
use crate::sys::local;

/// The number of chains that a thread remembers.
const PLACES: usize = 16;
/// Stack pointers are multiples of this many bytes, and so are depths.
const ALIGNMENT: u32 = 16;

/// The most waits that are left out after a search in vain.
const MOST_LEFT_OUT: u32 = 31;

thread_local! {
    /// The depth and the calls of a chain give it its place.
    static RECENT: [Cell<Option<&'static Known>>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
    static SEARCHES: Searches = const { Searches { left_out: Cell::new(0), until_next: Cell::new(0) } };
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
        let found = match table::are_too_many() {
            false => index::find(position)?,
            true => SEARCHES.with(|searches| searches.find(&|| index::find(position)))?,
        };
        place.set(Some(found));
        Some(found)
    })
}

/// The searches of a thread since there are more chains than are kept.
struct Searches {
    /// The number of waits that were left out after the last search.
    left_out: Cell<u32>,
    /// The number of waits until the next search.
    until_next: Cell<u32>,
}

impl Searches {
    #[inline(never)]
    fn find(&self, search: &dyn Fn() -> Option<&'static Known>) -> Option<&'static Known> {
        let left = self.until_next.get();
        if left > 0 {
            self.until_next.set(left - 1);
            return None;
        }
        let found = search();
        // There are more chains than waits, so a chain may be of no use.
        let next = match found.is_some_and(|known| known.alone != UNKNOWN) {
            true => self.left_out.get() / 2,
            false => (2 * self.left_out.get() + 1).min(MOST_LEFT_OUT),
        };
        self.left_out.set(next);
        self.until_next.set(next);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_in_vain_get_rarer_and_come_back() {
        let searches = Searches { left_out: Cell::new(0), until_next: Cell::new(0) };
        let chain = Box::leak(Box::new(table::Chain::empty()));
        let known: &'static Known = Box::leak(Box::new(Known { chain, id: 0, alone: 1 }));
        let count = |waits: usize, found: Option<&'static Known>| {
            let searched = Cell::new(0);
            for _ in 0..waits {
                searches.find(&|| {
                    searched.set(searched.get() + 1);
                    found
                });
            }
            searched.get()
        };
        assert_eq!(count(100, Some(known)), 100, "all are known");
        assert_eq!(count(1 + 1 + 1 + 3 + 1 + 7, None), 3);
        assert_eq!(count(32_000, None), 1001, "with more chains than are kept");
        let found = count(200, Some(known));
        assert!((130..200).contains(&found), "{found}");
        assert_eq!(count(100, Some(known)), 100);
    }
}
