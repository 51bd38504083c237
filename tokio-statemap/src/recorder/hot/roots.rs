//! The futures passed to `block_on`, which have no task id.

use std::panic::Location;
use std::sync::Mutex;

use crate::util::sync::lock;

/// The root futures of one runtime. A number is reused once its future has ended, so there is more than `main` only if
/// several threads are in `block_on` at the same time.
#[derive(Debug, Default)]
pub(crate) struct Roots(Mutex<Vec<RootSlot>>);

#[derive(Clone, Copy, Debug)]
struct RootSlot {
    location: &'static Location<'static>,
    in_use: bool,
}

impl Roots {
    /// Allocates a number for the root future at `location`.
    pub(crate) fn acquire(&self, location: &'static Location<'static>) -> u32 {
        let mut roots = lock(&self.0);
        let root = RootSlot { location, in_use: true };
        let number = roots.iter().position(|root| !root.in_use);
        match number {
            Some(number) => roots[number] = root,
            None => roots.push(root),
        }
        number.unwrap_or(roots.len() - 1) as u32
    }

    /// Frees the number.
    pub(crate) fn release(&self, number: u32) {
        if let Some(root) = lock(&self.0).get_mut(number as usize) {
            root.in_use = false;
        }
    }

    /// Returns, for each number, the location of the root future that has it or had it last.
    pub(crate) fn locations(&self) -> Vec<Option<&'static Location<'static>>> {
        let mut locations = Vec::new();
        for root in lock(&self.0).iter() {
            locations.push(Some(root.location));
        }
        locations
    }

    /// Returns the location of the root future that has this number or had it last.
    pub(crate) fn location(&self, number: u32) -> Option<&'static Location<'static>> {
        lock(&self.0).get(number as usize).map(|root| root.location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_reused_once_it_is_free() {
        let roots = Roots::default();
        let here = Location::caller();
        assert_eq!((roots.acquire(here), roots.acquire(here)), (0, 1));
        roots.release(0);
        assert_eq!((roots.acquire(here), roots.acquire(here)), (0, 2));
    }
}
