//! Sorts with hardly any stack, for hooks: the standard library's sorts put dozens of elements, or whole kilobytes, on
//! it. The code is compiled once for all types.

/// A heap: no element is before its parent.
struct Heap<'a, T> {
    all: &'a mut [T],
    is_before: &'a dyn Fn(&T, &T) -> bool,
}

/// The elements of a heap, by their places.
trait Places {
    fn is_before(&self, a: usize, b: usize) -> bool;
    fn swap(&mut self, a: usize, b: usize);
}

impl<T> Places for Heap<'_, T> {
    fn is_before(&self, a: usize, b: usize) -> bool {
        (self.is_before)(&self.all[a], &self.all[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.all.swap(a, b);
    }
}

/// Sorts in place. Equal elements may end up in any order. Usually the elements are sorted already.
pub(crate) fn heapsort<T>(all: &mut [T], is_before: &dyn Fn(&T, &T) -> bool) {
    let len = all.len();
    // The root is the last element of the order.
    sort(&mut Heap { all, is_before: &|a, b| is_before(b, a) }, len);
}

/// Makes a heap whose root is before all others.
pub(crate) fn heapify<T>(all: &mut [T], is_before: &dyn Fn(&T, &T) -> bool) {
    let len = all.len();
    build(&mut Heap { all, is_before }, len);
}

/// Restores the heap after its root was replaced.
pub(crate) fn sift_root<T>(all: &mut [T], is_before: &dyn Fn(&T, &T) -> bool) {
    let len = all.len();
    sift_down(&mut Heap { all, is_before }, 0, len);
}

fn sort(heap: &mut dyn Places, len: usize) {
    let mut place = 1;
    while place < len && !heap.is_before(place - 1, place) {
        place += 1;
    }
    if place >= len {
        return;
    }
    build(heap, len);
    let mut end = len;
    while end > 1 {
        end -= 1;
        heap.swap(0, end);
        sift_down(heap, 0, end);
    }
}

fn build(heap: &mut dyn Places, len: usize) {
    let mut parent = len / 2;
    while parent > 0 {
        parent -= 1;
        sift_down(heap, parent, len);
    }
}

/// Moves an element of a heap with `len` elements down until no child is before it.
fn sift_down(heap: &mut dyn Places, mut parent: usize, len: usize) {
    loop {
        let mut child = 2 * parent + 1;
        if child + 1 < len && heap.is_before(child + 1, child) {
            child += 1;
        }
        if child >= len || !heap.is_before(child, parent) {
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
            let mut heap = all.clone();
            heapsort(&mut all, &|a, b| a < b);
            assert_eq!(all, sorted);
            heapify(&mut heap, &|a, b| a < b);
            for least in sorted {
                assert_eq!(heap[0], least);
                heap.swap_remove(0);
                sift_root(&mut heap, &|a, b| a < b);
            }
        }
    }
}
