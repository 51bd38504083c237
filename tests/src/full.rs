//! Streams that are full because nobody reads them.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Stdio;

/// Writes to a non-blocking stream until it is full.
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

/// Sets the flag of the open file, which a program that gets the stream shares.
fn set_nonblocking(file: &File, is_nonblocking: bool) {
    let flags = if is_nonblocking { libc::O_NONBLOCK } else { 0 };
    // SAFETY: The call has no precondition; these streams have no other flag.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) }, 0);
}

/// Returns the reader and the writing end of a full pipe.
///
/// # Panics
///
/// If the system has no pipe left.
pub fn full_pipe() -> (File, Stdio) {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for both descriptors, which nobody else owns.
    let [reader, writer] = unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        ends.map(|end| File::from(OwnedFd::from_raw_fd(end)))
    };
    set_nonblocking(&writer, true);
    fill(&writer);
    set_nonblocking(&writer, false);
    (reader, Stdio::from(writer))
}
