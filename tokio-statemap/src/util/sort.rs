//! One sort for all code that isn't hot.
//!
//! The standard library's sorts are compiled for each type and each comparison, ten kilobytes of machine code each
//! time. This one sorts indices, and calls the comparison through a pointer, so it is compiled once.

use std::cmp::Ordering;

/// Sorts items that have an order. Equal items keep theirs.
pub(crate) fn sort<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// Sorts items by their keys. Items with equal keys keep their order.
pub(crate) fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_all(&mut Keyed(items, key));
}

/// Sorts items by `compare`. Equal items keep their order.
pub(crate) fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    sort_all(&mut Items(items, compare));
}

/// The items to sort. With two closures instead, twice as many functions would be compiled for each type.
trait Sorted {
    fn len(&self) -> usize;
    fn compare(&self, a: usize, b: usize) -> Ordering;
    fn swap(&mut self, a: usize, b: usize);
}

/// Items, and their comparison.
struct Items<'a, T, F>(&'a mut [T], F);

impl<T, F: Fn(&T, &T) -> Ordering> Sorted for Items<'_, T, F> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        (self.1)(&self.0[a], &self.0[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.0.swap(a, b);
    }
}

/// Items, and their keys.
struct Keyed<'a, T, F>(&'a mut [T], F);

impl<T, K: Ord, F: Fn(&T) -> K> Sorted for Keyed<'_, T, F> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        (self.1)(&self.0[a]).cmp(&(self.1)(&self.0[b]))
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.0.swap(a, b);
    }
}

/// Returns the indices of the keys in sorted order. Equal keys keep their order. In a debug build it takes a tenth of
/// the time of the other sorts. It needs the memory of two more lists.
#[cfg_attr(not(feature = "symbols"), allow(dead_code, reason = "symbols are ordered"))]
pub(crate) fn order_of(keys: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    let mut next = order.clone();
    let most = keys.iter().fold(0, |most, key| most | key);
    // Sorts by one byte after another, from the lowest.
    for shift in (0..u64::BITS).step_by(8).take_while(|shift| most >> shift > 0) {
        let byte = |key: u64| usize::from((key >> shift) as u8);
        let mut starts = [0; 257];
        for &key in keys {
            starts[byte(key) + 1] += 1;
        }
        for byte in 1..starts.len() {
            starts[byte] += starts[byte - 1];
        }
        for &at in &order {
            let start = &mut starts[byte(keys[at])];
            next[*start] = at;
            *start += 1;
        }
        std::mem::swap(&mut order, &mut next);
    }
    order
}

#[inline(never)]
fn sort_all(items: &mut dyn Sorted) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    // This sort is stable, and fast if much is in order already.
    order.sort_by(|&a, &b| items.compare(a, b));
    arrange(order, items);
}

/// Moves to each place the item whose place is in `order` there.
#[inline(never)]
fn arrange(mut order: Vec<usize>, items: &mut dyn Sorted) {
    for first in 0..order.len() {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == first {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::util::random::Random;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        let mut random = Random(7);
        for n in 0..200_u64 {
            let keys = (0..n).map(|_| random.below(n / 2 + 1));
            let mut items: Vec<(u64, u64)> = keys.zip(0..n).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            by_key(&mut items, |item| item.0);
            assert_eq!(items, expected);
            by_key(&mut items, |item| std::cmp::Reverse(item.1));
            expected.sort_by_key(|item| std::cmp::Reverse(item.1));
            assert_eq!(items, expected);
            sort(&mut items);
            expected.sort();
            assert_eq!(items, expected);
            let keys: Vec<u64> = (0..n).map(|_| random.below(n / 2 + 1) << (n % 60)).collect();
            let mut expected: Vec<usize> = (0..keys.len()).collect();
            expected.sort_by_key(|&at| keys[at]);
            assert_eq!(order_of(&keys), expected);
        }
    }
}
