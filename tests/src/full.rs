//! Streams that are full, as nobody reads them.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Stdio;

/// Writes until the stream, which must not block, is full.
///
/// # Panics
///
/// If it fails.
pub fn fill(mut stream: impl Write) {
    let lines = [b'.'; 4096];
    for size in [lines.len(), 1] {
        loop {
            match stream.write(&lines[..size]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Restored, as it is a flag that a program would share.
fn set_nonblocking(file: &File, is_nonblocking: bool) {
    let flags = if is_nonblocking { libc::O_NONBLOCK } else { 0 };
    // SAFETY: it has no precondition; no other flag can be set of these streams.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) }, 0);
}

/// A full pipe: its reader, and the other end.
///
/// # Panics
///
/// If there can be none.
pub fn full_pipe() -> (File, Stdio) {
    let mut ends = [0; 2];
    // SAFETY: there is room for both ends, which are nobody else's.
    let [reader, writer] = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        ends.map(|end| File::from(OwnedFd::from_raw_fd(end)))
    };
    set_nonblocking(&writer, true);
    fill(&writer);
    set_nonblocking(&writer, false);
    (reader, Stdio::from(writer))
}
