//! Prefaults memory, and gives it back.

#[cfg(all(target_os = "linux", not(miri)))]
use crate::sys::filter;
#[cfg(all(target_os = "linux", not(miri)))]
use std::sync::atomic::{AtomicBool, Ordering};

/// Maps pages of memory for the given addresses at once, if the system can: at most `MAX_BYTES`.
/// The contents are unchanged.
///
/// A page fault on the first write to each page takes longer, in particular with several threads,
/// which wait for each other in the kernel. `benches/RESULTS.md` has the cost of a poll in fresh
/// memory, and in memory that was used before (`cargo run --release` in `benches/peers`).
pub(super) fn for_writing(address: usize, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= MIN_BYTES && !UNSUPPORTED.load(Ordering::Relaxed) && filter::allows_all() {
        // SAFETY: it only asks for a number. Test: as below.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let before = usize::try_from(page).ok().and_then(|page| address.checked_rem(page));
        let Some(before) = before else { return };
        // SAFETY: any address is valid, and the content doesn't change: the effect is that of reading and
        // rewriting a byte of each page. Test: `sys::prefault::tests::memory_for_writing_stays_as_it_is`.
        let failed = unsafe {
            let start = std::ptr::without_provenance_mut(address - before);
            libc::madvise(start, bytes.min(MAX_BYTES) + before, libc::MADV_POPULATE_WRITE)
        };
        if failed != 0 {
            UNSUPPORTED.store(true, Ordering::Relaxed);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (address, bytes);
}

/// Returns whole pages within these addresses to the system. They read as zeros afterwards, so their content
/// must no longer be needed.
pub(super) fn release(address: usize, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // SAFETY: it only asks for a number. Test: as below.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
            return;
        };
        let (from, to) = (address.next_multiple_of(page), (address + bytes) & !(page - 1));
        if from < to && filter::allows_all() {
            // SAFETY: these pages hold nothing but the caller's memory, which has nothing that is read any more: plain
            // numbers that are written anew first. Test: `sys::prefault::tests::only_whole_pages_are_released`.
            unsafe {
                let start = std::ptr::without_provenance_mut(from);
                libc::madvise(start, to - from, libc::MADV_DONTNEED);
            }
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (address, bytes);
}

/// Below this, some pages, a system call isn't worth it.
#[cfg(all(target_os = "linux", not(miri)))]
const MIN_BYTES: usize = 16 << 10;

/// The limit per call, which takes about 0.1 ms for this many bytes.
#[cfg(all(target_os = "linux", not(miri)))]
const MAX_BYTES: usize = 128 << 10;

/// Set if the system doesn't support it (Linux before 5.14) or is out of memory. Then it isn't tried again.
#[cfg(all(target_os = "linux", not(miri)))]
static UNSUPPORTED: AtomicBool = AtomicBool::new(false);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn only_whole_pages_are_released() {
        let mut bytes = vec![7_u8; 5 * 65_536];
        let (address, within) = (bytes.as_mut_ptr().addr(), 100..4 * 65_536);
        release(address + within.start, within.len());
        let zeros = bytes.iter().filter(|&&byte| byte == 0).count();
        let outside = bytes[..within.start].iter().chain(&bytes[within.end..]);
        assert!(outside.copied().all(|byte| byte == 7));
        assert!(bytes.iter().all(|&byte| byte == 7 || byte == 0));
        assert!(zeros + 2 * 65_536 >= within.len(), "{zeros}");
        // Less than a page.
        let mut few = [7_u8; 64];
        release(few.as_mut_ptr().addr(), few.len());
        assert_eq!(few, [7; 64]);
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
    fn memory_for_writing_is_mapped_at_once() {
        const BYTES: usize = 2 * MAX_BYTES;
        // SAFETY: new memory, of this test alone, to which there is no reference.
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
        // Supported since Linux 5.14.
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers =
            release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or(0));
        let has_it = (numbers.next(), numbers.next()) >= (Some(5), Some(14));
        // The pages of the first byte and after the last may be included.
        let all = MAX_BYTES..=MAX_BYTES + 65_536;
        assert!(if has_it { all.contains(&resident) } else { resident == 0 }, "{resident} bytes");
    }
}
