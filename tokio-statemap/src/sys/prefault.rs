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
        // `sys::prefault::tests::any_address_will_do`.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(std::ptr::without_provenance(address)) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// Has the system put memory behind so many bytes of addresses at once, if it can: behind the first ones
/// where there are many. What they hold stays as it is.
///
/// To be interrupted for each page when it is first written to takes longer, above all with several
/// threads, which wait for one another then.
pub(super) fn for_writing(address: usize, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= WORTHWHILE && !CAN_NOT.load(Ordering::Relaxed) {
        // SAFETY: it only asks for a number. Test: as below.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let before = usize::try_from(page).ok().and_then(|page| address.checked_rem(page));
        let Some(before) = before else { return };
        // SAFETY: no address is wrong, and what is mapped there isn't changed: the system does what it
        // would if a byte of each page was read, and written again. Test:
        // `sys::prefault::tests::memory_for_writing_stays_as_it_is`.
        let failed = unsafe {
            let start = std::ptr::without_provenance_mut(address - before);
            libc::madvise(start, bytes.min(MOST) + before, libc::MADV_POPULATE_WRITE)
        };
        if failed != 0 {
            CAN_NOT.store(true, Ordering::Relaxed);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (address, bytes);
}

/// For less to ask the system isn't worth while: some pages.
#[cfg(all(target_os = "linux", not(miri)))]
const WORTHWHILE: usize = 16 << 10;

/// More would hold up who asks: some 0.1 ms.
#[cfg(all(target_os = "linux", not(miri)))]
const MOST: usize = 128 << 10;

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
        const BYTES: usize = 2 * MOST;
        // SAFETY: new memory, of this test alone, which nobody has a reference to.
        let resident = unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
            let kind = kind | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            libc::madvise(memory, BYTES, libc::MADV_NOHUGEPAGE);
            for_writing(memory.addr() + 16, BYTES - 16);
            let mut pages = vec![0_u8; BYTES / page];
            assert_eq!(libc::mincore(memory, BYTES, pages.as_mut_ptr()), 0);
            libc::munmap(memory, BYTES);
            page * pages.iter().filter(|&&page| page & 1 == 1).count()
        };
        // Linux has it from 5.14 on.
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers =
            release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
        let has_it = (numbers.next(), numbers.next()) >= (Some(5), Some(14));
        // The page of the first byte, and that behind the last one.
        let all = MOST..=MOST + 65_536;
        assert!(if has_it { all.contains(&resident) } else { resident == 0 }, "{resident} bytes");
    }
}
