//! The futures that `block_on` drives: Tokio gives them no id.

use std::panic::Location;
use std::sync::Mutex;

use crate::util::sync::lock;

/// The root futures of one runtime. One that starts once another has ended gets its number, so
/// that there is only more than `main` where several threads are in `block_on` at once.
#[derive(Debug, Default)]
pub(crate) struct Roots(Mutex<Vec<Root>>);

#[derive(Clone, Copy, Debug)]
struct Root {
    location: &'static Location<'static>,
    in_use: bool,
}

impl Roots {
    /// A number for the root future at `location`.
    pub(crate) fn enter(&self, location: &'static Location<'static>) -> u32 {
        let mut roots = lock(&self.0);
        let root = Root { location, in_use: true };
        let number = roots.iter().position(|root| !root.in_use);
        match number {
            Some(number) => roots[number] = root,
            None => roots.push(root),
        }
        number.unwrap_or(roots.len() - 1) as u32
    }

    /// Gives the number back.
    pub(crate) fn leave(&self, number: u32) {
        if let Some(root) = lock(&self.0).get_mut(number as usize) {
            root.in_use = false;
        }
    }

    /// How many numbers were ever given.
    pub(crate) fn count(&self) -> u32 {
        lock(&self.0).len() as u32
    }

    /// Where the root future that has or last had that number stands.
    pub(crate) fn location(&self, number: u32) -> Option<&'static Location<'static>> {
        lock(&self.0).get(number as usize).map(|root| root.location)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_given_again_once_it_is_free() {
        let roots = Roots::default();
        let here = Location::caller();
        assert_eq!((roots.enter(here), roots.enter(here)), (0, 1));
        roots.leave(0);
        assert_eq!((roots.enter(here), roots.enter(here)), (0, 2));
    }
}
