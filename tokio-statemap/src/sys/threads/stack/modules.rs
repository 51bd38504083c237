//! The program and its libraries, as they are in memory.

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{read_memory, zeros};

/// The program, or a library of it.
#[derive(Clone, Debug)]
pub(crate) struct LoadedModule {
    /// The file; `None` for the system's own (the vDSO).
    pub(crate) path: Option<PathBuf>,
    /// `true` for the program itself.
    pub(crate) is_program: bool,
    /// The difference between its addresses in memory and in the file.
    pub(crate) base: u64,
    /// Its range of addresses in memory.
    pub(crate) range: Range<u64>,
    /// Its notes in memory.
    #[cfg(has_black_box)]
    pub(crate) notes: Vec<Range<u64>>,
    /// Its executable parts.
    pub(crate) code: Vec<Range<u64>>,
    /// The table that its unwind information is found by.
    pub(crate) eh_frame_hdr: Range<u64>,
    /// Its unwind information, to the end of the segment that it is in.
    pub(crate) eh_frame: Range<u64>,
}

#[cfg(all(has_black_box, feature = "read"))]
impl LoadedModule {
    /// Returns a module of another process, of which nothing is known but its file and its addresses.
    pub(crate) fn of_other(
        path: Option<PathBuf>,
        is_program: bool,
        base: u64,
        range: Range<u64>,
    ) -> Self {
        let (notes, code, eh_frame_hdr, eh_frame) = (Vec::new(), Vec::new(), 0..0, 0..0);
        Self { path, is_program, base, range, notes, code, eh_frame_hdr, eh_frame }
    }
}

/// Returns all modules that are loaded now. Takes the loader's lock, so it isn't for signal handlers.
pub(crate) fn loaded() -> Vec<LoadedModule> {
    let mut modules = Loaded { calls: 0, found: Vec::new() };
    // SAFETY: the callback gets the pointer that is passed here, which lives through the call. Test:
    // `sys::threads::stack::modules::tests::the_program_is_one_of_them`.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
    modules.found
}

/// Returns the numbers of modules that were loaded and unloaded so far. Takes the loader's lock, too.
pub(crate) fn changes() -> (u64, u64) {
    extern "C" fn count(info: *mut libc::dl_phdr_info, _: usize, into: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description, and the pointer from below. Test:
        // `sys::threads::stack::modules::tests::a_library_that_is_loaded_is_a_change`.
        unsafe { *into.cast() = ((*info).dlpi_adds, (*info).dlpi_subs) };
        1 // all say the same
    }
    let mut changes = (0_u64, 0_u64);
    // SAFETY: the callback gets the pointer that is passed here, which lives through the call. Test: as
    // above.
    unsafe { libc::dl_iterate_phdr(Some(count), (&raw mut changes).cast()) };
    changes
}

struct Loaded {
    calls: u64,
    found: Vec<LoadedModule>,
}

extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, modules: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description, and what `loaded` passed. Test: as above.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Loaded>()) };
    modules.calls += 1;
    if let Some(module) = describe(info) {
        // The first is the program itself, for which the loader knows no name.
        let is_program = modules.calls == 1;
        let path = if is_program { std::fs::read_link("/proc/self/exe").ok() } else { module.path };
        modules.found.push(LoadedModule { path, is_program, ..module });
    }
    0
}

fn describe(info: &libc::dl_phdr_info) -> Option<LoadedModule> {
    // SAFETY: the loader passes `dlpi_phnum` headers, and a name that ends with a zero. They live through its
    // call. Test: as above.
    let (headers, name) = unsafe {
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let name = (!info.dlpi_name.is_null()).then(|| CStr::from_ptr(info.dlpi_name));
        (headers, name.map(CStr::to_bytes).unwrap_or_default())
    };
    let base = info.dlpi_addr;
    let (mut first, mut end) = (u64::MAX, 0);
    let (mut segments, mut code, mut hdr) = (Vec::new(), Vec::new(), None);
    #[cfg(has_black_box)]
    let mut notes = Vec::new();
    for p in headers {
        let from = base.wrapping_add(p.p_vaddr);
        let part = from..from.saturating_add(p.p_memsz);
        if p.p_type == libc::PT_LOAD {
            (first, end) = (part.start.min(first), part.end.max(end));
            if p.p_flags & libc::PF_X != 0 {
                code.push(part.clone());
            }
            segments.push(part);
        } else if p.p_type == libc::PT_GNU_EH_FRAME && hdr.is_none() {
            hdr = Some(part);
        } else if p.p_type == libc::PT_NOTE {
            #[cfg(has_black_box)]
            notes.push(part);
        }
    }
    let hdr = hdr?;
    let address = eh_frame_address(&hdr)?;
    let segment = segments.iter().find(|segment| segment.contains(&address))?;
    // The unwinder never gets to the next part of the segment.
    let eh_frame = address..segment.end;
    let path = (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)));
    let path = path.filter(|path| path.is_absolute());
    Some(LoadedModule {
        path,
        is_program: false,
        base,
        range: first..end,
        #[cfg(has_black_box)]
        notes,
        code,
        eh_frame_hdr: hdr,
        eh_frame,
    })
}

/// Returns the address of the unwind information by the table's first bytes: a version, three encodings, and
/// the distance from there (Linux Standard Base, *Exception Frames*).
fn eh_frame_address(hdr: &Range<u64>) -> Option<u64> {
    /// A signed number of four bytes, relative to its own address.
    const RELATIVE: u8 = 0x1b;
    let first = copy(&(hdr.start..hdr.end.min(hdr.start.saturating_add(8))));
    let [1, RELATIVE, _, _, distance @ ..] = &first[..] else { return None };
    let distance = i32::from_ne_bytes(distance.try_into().ok()?);
    Some(hdr.start.wrapping_add(4).wrapping_add_signed(i64::from(distance)))
}

/// Copies the memory of `range`, as far as it is there: a library may be unloaded at any time. Returns
/// nothing if there is no memory left.
pub(crate) fn copy(range: &Range<u64>) -> Vec<u8> {
    const MOST: u64 = 256 << 20;
    let len = (range.end - range.start).min(MOST);
    let mut bytes = zeros(usize::try_from(len).unwrap_or(0)).unwrap_or_default();
    let mut copied = 0;
    while copied < bytes.len() {
        match read_memory(range.start + copied as u64, &mut bytes[copied..]) {
            0 => break,
            more => copied += more,
        }
    }
    bytes.truncate(copied);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_one_of_them() {
        let modules = loaded();
        let here = (the_program_is_one_of_them as fn()) as usize as u64;
        let of_here = modules.iter().find(|module| module.range.contains(&here)).unwrap();
        assert_eq!(of_here.path, std::env::current_exe().ok());
        assert!(of_here.code.iter().any(|code| code.contains(&here)));
        assert!(!copy(&of_here.eh_frame).is_empty() && !copy(&of_here.eh_frame_hdr).is_empty());
        let libc = libc::getpid as *const () as u64;
        assert!(modules.iter().any(|module| module.range.contains(&libc)));
    }

    #[test]
    fn a_library_that_is_loaded_is_a_change() {
        let before = changes();
        assert!(before.0 > 0);
        // SAFETY: a library of the C library's, which does nothing when it is loaded.
        let library = unsafe { libc::dlopen(c"libnss_compat.so.2".as_ptr(), libc::RTLD_NOW) };
        assert!(library.is_null() || changes().0 > before.0);
    }
}
