//! A file in memory, of which the system reads only what is looked at.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The bytes of `file`, for good: it is meant for the program's own file and those of its libraries,
/// each of which is asked for once.
///
/// The system refuses to write to a program that runs, and to shorten the file of a library kills
/// whoever runs its code, too. Linkers and package managers put a new file in the place of the old.
pub(crate) fn map(file: &File) -> io::Result<&'static [u8]> {
    let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: new memory that nobody else has the address of, only ever read, and never unmapped; it is
    // as long as the file. That the file stays as it is, see above. Test:
    // `sys::mapped::tests::it_is_the_file`.
    unsafe {
        let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE);
        let memory = libc::mmap(std::ptr::null_mut(), len, access, kind, file.as_raw_fd(), 0);
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(std::slice::from_raw_parts(memory.cast(), len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_file() {
        let path = std::env::current_exe().unwrap();
        let mapped = map(&File::open(&path).unwrap()).unwrap();
        assert_eq!(&mapped[..4], b"\x7fELF");
        assert_eq!(mapped.len() as u64, std::fs::metadata(path).unwrap().len());
        assert!(map(&File::open("/dev/null").unwrap()).unwrap().is_empty());
    }
}
