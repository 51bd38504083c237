//! Files mapped into memory, of which the system reads only the parts that are used.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Maps `file` for the rest of the process. This is meant for the program's own file and its libraries, each
/// of which is mapped once.
///
/// The system refuses writes to a running program, and shortening the file of a library would crash its users
/// anyway. Linkers and package managers replace such files by new ones.
pub(crate) fn map(file: &File) -> io::Result<&'static [u8]> {
    let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: the memory is new, only ever read, never unmapped, and as long as the file. For why the file
    // doesn't change, see above. Test: `sys::mapped::tests::it_is_the_file`.
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
