//! One sort for all code that isn't hot.
//!
//! The standard library's sorts are compiled for each type and each comparison, ten kilobytes of machine code each time. The
//! one that is compiled here sorts indices, and calls the comparison by a pointer.

use std::cmp::Ordering;

/// Sorts items that have an order; equal ones keep theirs.
pub(crate) fn sort<T: Ord>(items: &mut [T]) {
    by(items, T::cmp);
}

/// Sorts items by their keys; those of equal keys keep their order.
pub(crate) fn by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    by(items, |a, b| key(a).cmp(&key(b)));
}

/// The same for keys that take long to compute: of each item it is computed once.
pub(crate) fn by_cached_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let keys: Vec<K> = items.iter().map(key).collect();
    let order = sorted(items.len(), &|a, b| keys[a].cmp(&keys[b]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// Sorts items as `compare` says; equal ones keep their order.
pub(crate) fn by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let order = sorted(items.len(), &|a, b| compare(&items[a], &items[b]));
    arrange(order, &mut |a, b| items.swap(a, b));
}

/// The numbers below `n` in the order of `compare`.
#[inline(never)]
fn sorted(n: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    // Stable, and fast where much is in order already.
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Puts at each place what is at the place that `order` has there.
#[inline(never)]
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..order.len() {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == first {
                break;
            }
            swap(at, from);
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
            by_cached_key(&mut items, |item| std::cmp::Reverse(item.1));
            expected.sort_by_key(|item| std::cmp::Reverse(item.1));
            assert_eq!(items, expected);
            sort(&mut items);
            expected.sort();
            assert_eq!(items, expected);
        }
    }
}
