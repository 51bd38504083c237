//! Arrays that are never on the stack.

/// An array of `value`s, made where it stays. (`Box::new([value; N])` makes it on the stack first, of
/// which the thread that a hook runs on may have little.)
pub(crate) fn boxed_array<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    match vec![value; N].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("it was made that long"),
    }
}
