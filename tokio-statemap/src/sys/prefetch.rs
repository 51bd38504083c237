//! Memory that is asked for before it is needed.

#[cfg(all(target_os = "linux", not(miri)))]
use std::sync::atomic::{AtomicBool, Ordering};

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

/// Has the system put memory behind so many bytes of addresses at once, if it can. What they hold
/// stays as it is.
///
/// To be interrupted for each page when it is first written to takes longer, above all with several
/// threads, which wait for one another then.
pub(super) fn for_writing(address: usize, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes > 0 && !CAN_NOT.load(Ordering::Relaxed) {
        // SAFETY: it only asks for a number. Test: as below.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Ok(page) = usize::try_from(page) else { return };
        let before = address % page;
        // SAFETY: no address is wrong, and what is mapped there isn't changed: the system does what it
        // would if a byte of each page was read, and written again. Test:
        // `sys::prefetch::tests::memory_for_writing_stays_as_it_is`.
        let failed = unsafe {
            let start = std::ptr::without_provenance_mut(address - before);
            libc::madvise(start, bytes + before, libc::MADV_POPULATE_WRITE)
        };
        if failed != 0 {
            CAN_NOT.store(true, Ordering::Relaxed);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (address, bytes);
}

/// Whether the system knows nothing of it (Linux before 5.14), or has no memory: it needn't be asked
/// again.
#[cfg(all(target_os = "linux", not(miri)))]
static CAN_NOT: AtomicBool = AtomicBool::new(false);

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

    #[test]
    fn memory_for_writing_stays_as_it_is() {
        let bytes = vec![7_u8; 3 * 65_536];
        let address = bytes.as_ptr().addr();
        for (from, len) in [(0, 0), (1, 1), (4095, 2), (0, bytes.len()), (65_537, 65_536)] {
            for_writing(address + from, len);
        }
        assert!(bytes.iter().all(|&byte| byte == 7));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn memory_for_writing_is_there_at_once() {
        // SAFETY: it is zeroed before it is read.
        let faults = || unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_minflt
        };
        const BYTES: usize = 8 << 20;
        let mut memory = Vec::<u8>::with_capacity(BYTES);
        for_writing(memory.as_ptr().addr(), BYTES);
        if CAN_NOT.load(Ordering::Relaxed) {
            return; // an old Linux: nothing is claimed of it
        }
        let before = faults();
        memory.resize(BYTES, 1);
        assert!(faults() - before < 50, "{} pages came one by one", faults() - before);
    }
}
