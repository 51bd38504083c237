//! Heap arrays that are built in place.

/// Returns a boxed array filled with `value`. It is allocated directly on the heap: `Box::new([value; N])`
/// may build the array on the stack first, and a thread that runs a hook can have a small stack.
pub(crate) fn boxed_array<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    match vec![value; N].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it was made that long"),
    }
}
