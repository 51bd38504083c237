//! Sorting with hardly any stack, for hooks: the standard library's sorts put dozens of elements, or whole
//! kilobytes there.

/// Sorts in place; equal elements may end up in any order. Usually they are sorted already.
pub(crate) fn heapsort<T, K: Ord>(all: &mut [T], key: impl Fn(&T) -> K) {
    if all.is_sorted_by_key(&key) {
        return;
    }
    // The root is the last in order.
    for parent in (0..all.len() / 2).rev() {
        sift_down(all, parent, &key);
    }
    for end in (1..all.len()).rev() {
        all.swap(0, end);
        sift_down(&mut all[..end], 0, &key);
    }
}

/// Moves an element down the heap until no child is later in order.
fn sift_down<T, K: Ord>(heap: &mut [T], mut parent: usize, key: &impl Fn(&T) -> K) {
    loop {
        let mut child = 2 * parent + 1;
        if child + 1 < heap.len() && key(&heap[child]) < key(&heap[child + 1]) {
            child += 1;
        }
        if child >= heap.len() || key(&heap[parent]) >= key(&heap[child]) {
            return;
        }
        heap.swap(parent, child);
        parent = child;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        for n in 0..100_u64 {
            let mut all: Vec<_> = (0..n).map(|i| i * 7919 % 97).collect();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            heapsort(&mut all, |i| *i);
            assert_eq!(all, sorted);
        }
    }
}
