//! Memory that is asked for before it is needed.

/// Has the memory at that address brought near, if there is any, and goes on.
#[inline]
pub(crate) fn for_reading(address: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: every processor of this architecture has the instruction, which is a hint: it
        // reads nothing that the program would see, and no address is wrong. Test:
        // `sys::prefetch::tests::any_address_will_do`.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_will_do() {
        let here = 7_u64;
        for address in [(&raw const here).addr(), 0, usize::MAX] {
            for_reading(address);
        }
        assert_eq!(here, 7);
    }
}
