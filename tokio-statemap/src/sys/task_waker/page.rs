//! A page of memory that is writable for a moment.

use std::ops::Range;

/// The pages of a part of memory, while they are writable.
pub(super) struct Page {
    pages: Range<usize>,
    /// The protection to restore; `None` if it was writable before.
    before: Option<i32>,
}

impl Page {
    /// Makes the pages of `len` bytes at `address` writable, unless they already are. Returns `None` if that isn't
    /// possible, or if they have code in them.
    pub(super) fn make_writable(address: usize, len: usize) -> Option<Self> {
        let pages = pages(address, len)?;
        let protection = known_protection(&pages)?;
        if protection & libc::PROT_WRITE != 0 {
            return Some(Self { pages, before: None });
        }
        let is_data = protection == libc::PROT_READ;
        (is_data && protect(&pages, libc::PROT_READ | libc::PROT_WRITE))
            .then_some(Self { pages, before: Some(protection) })
    }

    /// Restores the protection that the pages had.
    pub(super) fn restore(self) {
        if let Some(before) = self.before {
            // If the system refuses, they stay writable, which does no harm.
            protect(&self.pages, before);
        }
    }
}

fn protect(pages: &Range<usize>, protection: i32) -> bool {
    let address = std::ptr::without_provenance_mut(pages.start);
    // SAFETY: the pages stay readable, so only those who write to them notice. Test: as above.
    unsafe { libc::mprotect(address, pages.len(), protection) == 0 }
}

/// Returns whether all these addresses are memory of a program or library that can be read and isn't code.
pub(super) fn is_data(address: usize, len: usize) -> bool {
    let Some(pages) = pages(address, len) else { return false };
    known_protection(&pages).unwrap_or(0) & (libc::PROT_READ | libc::PROT_EXEC) == libc::PROT_READ
}

/// Returns the pages of `len` bytes at `address`.
fn pages(address: usize, len: usize) -> Option<Range<usize>> {
    // SAFETY: it has no preconditions. Test: `sys::task_waker::page::tests::a_page_is_as_it_was`.
    let size = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    Some(address / size * size..address.checked_add(len)?.checked_next_multiple_of(size)?)
}

/// Returns the protection of these pages. `None` if nothing tells it.
fn known_protection(pages: &Range<usize>) -> Option<i32> {
    protection(pages).or_else(|| by_headers(pages))
}

/// Returns the protection of these pages, as the system says. `None` if it doesn't, or if they differ.
fn protection(pages: &Range<usize>) -> Option<i32> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| in_line(line, pages))
}

/// Returns the protection in a line of `/proc/self/maps`, if these pages are in its range: `from-to rwxp …`.
fn in_line(line: &str, pages: &Range<usize>) -> Option<i32> {
    let mut fields = line.split(' ');
    let (from, to) = fields.next()?.split_once('-')?;
    let number = |hex| usize::from_str_radix(hex, 16).ok();
    let range = number(from)?..number(to)?;
    if pages.start < range.start || pages.end > range.end {
        return None;
    }
    let bits = [(b'r', libc::PROT_READ), (b'w', libc::PROT_WRITE), (b'x', libc::PROT_EXEC)];
    let mut protection = 0;
    for (&letter, (wanted, bit)) in fields.next()?.as_bytes().iter().zip(bits) {
        protection |= if letter == wanted { bit } else { 0 };
    }
    Some(protection)
}

/// Returns the protection of these pages by the headers of the program or library that they are in.
fn by_headers(pages: &Range<usize>) -> Option<i32> {
    let mut found = Found { pages: pages.clone(), protection: None };
    // SAFETY: the callback gets the pointer that is passed here, which lives through the call. Test:
    // `sys::task_waker::page::tests::the_headers_say_the_same`.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found.protection
}

struct Found {
    pages: Range<usize>,
    protection: Option<i32>,
}

extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _: usize,
    found: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader passes a valid description, and what `by_headers` passed. Test: as above.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Found>()) };
    // SAFETY: the loader passes that many headers. Test: as above.
    let headers =
        unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let (from, to) = (found.pages.start, found.pages.end);
    // A part that begins or ends within a page has the whole page.
    let size = to - from;
    let base = info.dlpi_addr as usize;
    let range = |header: &libc::Elf64_Phdr| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.wrapping_add(header.p_memsz as usize)
    };
    for header in headers {
        let range = range(header);
        let pages = range.start / size * size..range.end.next_multiple_of(size);
        match header.p_type {
            libc::PT_LOAD if pages.contains(&from) && to <= pages.end => {
                let flags = [
                    (libc::PF_R, libc::PROT_READ),
                    (libc::PF_W, libc::PROT_WRITE),
                    (libc::PF_X, libc::PROT_EXEC),
                ];
                let bits = flags.iter().filter(|(flag, _)| header.p_flags & flag != 0);
                found.protection = Some(bits.fold(0, |all, (_, bit)| all | bit));
            }
            // The loader has written to this part, and has made its whole pages read-only since.
            libc::PT_GNU_RELRO if pages.contains(&from) && to <= range.end => {
                found.protection = Some(libc::PROT_READ);
                return 1;
            }
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size() -> usize {
        // SAFETY: it has no preconditions.
        usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap()
    }

    fn pages_of<T: ?Sized>(of: &T) -> Range<usize> {
        let at = std::ptr::from_ref(of).cast::<()>().addr() / size() * size();
        at..at + size()
    }

    // These are read-only after relocation, read-only, and writable.
    static RELOCATED: [&str; 600] = ["a"; 600];
    static PLAIN: [u8; 9000] = [1; 9000];
    /// A test makes a page of this writable while others run.
    static CHANGED: [u8; 9000] = [2; 9000];
    static WRITTEN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);

    #[test]
    fn the_headers_say_the_same() {
        for pages in [pages_of(&RELOCATED[300]), pages_of(&PLAIN[4500]), pages_of(&WRITTEN)] {
            let said = protection(&pages);
            assert!(said.is_some());
            assert_eq!(by_headers(&pages), said, "{pages:x?}");
        }
        assert_eq!(by_headers(&(0..size())), None);
    }

    #[test]
    fn a_page_is_as_it_was() {
        let pages = pages_of(&CHANGED[4500]);
        assert_eq!(protection(&pages), Some(libc::PROT_READ));
        let page = Page::make_writable(std::ptr::from_ref(&CHANGED[4500]).addr(), 8).unwrap();
        assert_eq!(protection(&pages), Some(libc::PROT_READ | libc::PROT_WRITE));
        page.restore();
        assert_eq!(protection(&pages), Some(libc::PROT_READ));
        let code = size as *const () as usize;
        assert!(Page::make_writable(code, 8).is_none(), "code");
    }

    #[test]
    fn a_line_of_the_system_is_read() {
        let line = "7f00a000-7f00c000 r--p 00001000 fe:00 12 /lib/x.so";
        assert_eq!(in_line(line, &(0x7f00_a000..0x7f00_c000)), Some(libc::PROT_READ));
        assert_eq!(in_line(line, &(0x7f00_b000..0x7f00_d000)), None);
        assert_eq!(in_line("7f00a000-7f00b000 rwxp", &(0x7f00_a000..0x7f00_b000)), Some(7));
        assert_eq!(in_line("what", &(0..1)), None);
    }
}
