//! Writes to stderr without blocking.
//!
//! A write blocks or not by a property of the open file description, which the program shares with
//! its parent and its children, so it must not be changed. Instead the file is opened again where
//! possible; where it isn't, it is polled before each write.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use crate::sys::patience;
#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::sys::secure::is_set_uid;

const FD: RawFd = libc::STDERR_FILENO;

/// The number of bytes that a ready pipe accepts: PIPE_BUF on Linux, and the minimum that POSIX guarantees
/// elsewhere.
const READY_BYTES: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Writes all of `bytes`, in one write unless that is refused, or gives up.
///
/// Takes no lock: a thread that holds the lock of `std::io::stderr` may be blocked forever.
pub(crate) fn write_all(bytes: &[u8]) -> io::Result<()> {
    Stderr::open()?.write_all(bytes)
}

/// Waits until `fd` accepts data or fails, but no longer than `at_most`. May return early.
pub(crate) fn wait_until_ready(fd: RawFd, at_most: Duration) {
    poll(fd, i32::try_from(at_most.as_millis()).unwrap_or(i32::MAX));
}

/// Returns `true` if a write to `fd` makes progress within `ms` milliseconds.
fn poll(fd: RawFd, ms: i32) -> bool {
    let mut polled = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: it is one entry, which lives through the call; `fd` may be none. Test: `exit_paths::unread`.
    unsafe { libc::poll(&raw mut polled, 1, ms) > 0 }
}

/// stderr for a thread that nothing waits for: it waits for a reader as long as necessary.
pub(crate) struct Unhurried(Stderr);

impl Unhurried {
    pub(crate) fn open() -> io::Result<Self> {
        Stderr::open().map(Self)
    }

    /// Waits until it accepts data or fails.
    pub(crate) fn wait(&self) {
        while !self.is_ready() {
            wait_until_ready(self.0.fd(), Duration::MAX);
        }
    }

    /// Returns `true` if stderr accepts data, or a write fails.
    pub(crate) fn is_ready(&self) -> bool {
        poll(self.0.fd(), 0)
    }

    /// Writes what it accepts at once, which may be nothing.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write_at_once(bytes) {
            Ok(0) if !bytes.is_empty() => Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            done => done,
        }
    }
}

enum Stderr {
    /// Opened again: a pipe or a terminal.
    Own(File),
    /// The program's own descriptor.
    Shared(FileKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    /// A write never waits for a reader.
    File,
    Socket,
    Terminal,
    Other,
}

impl Stderr {
    fn open() -> io::Result<Self> {
        let kind = kind()?;
        Ok(open_again(kind).map_or(Self::Shared(kind), Self::Own))
    }

    fn fd(&self) -> RawFd {
        match self {
            Self::Own(file) => file.as_raw_fd(),
            Self::Shared(_) => FD,
        }
    }

    fn write_at_once(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = match self {
            Self::Own(file) => return file.write(bytes),
            Self::Shared(FileKind::Socket) => return send(bytes),
            Self::Shared(FileKind::File) => bytes.len(),
            // A larger write may block although the descriptor is ready.
            Self::Shared(_) => match poll(FD, 0) {
                true => bytes.len().min(READY_BYTES),
                false => return Err(io::ErrorKind::WouldBlock.into()),
            },
        };
        // SAFETY: `length` is at most that of `bytes`. Test: `hostile::environment::stderr_is_full`.
        counted(unsafe { libc::write(FD, bytes.as_ptr().cast(), length) })
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fd = self.fd();
        patience::until_ready(|| self.write_at_once(bytes), |at_most| wait_until_ready(fd, at_most))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn kind() -> io::Result<FileKind> {
    // SAFETY: all zeroes are a valid `stat`, and the calls have no other precondition.
    // Test: `exit_paths::unread`.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        if libc::fstat(FD, &raw mut stat) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(match stat.st_mode & libc::S_IFMT {
            libc::S_IFREG => FileKind::File,
            libc::S_IFSOCK => FileKind::Socket,
            libc::S_IFCHR if libc::isatty(FD) == 1 => FileKind::Terminal,
            _ => FileKind::Other,
        })
    }
}

/// Opens the same pipe or terminal again, as an open file description of its own. This needs Linux,
/// and may not be permitted; other systems return the shared one for such a path, if they have it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_again(kind: FileKind) -> Option<File> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
    const PATH: &str = "/proc/self/fd/2";
    let found = std::fs::metadata(PATH).ok()?;
    let is_meant = match kind {
        // Opening `/dev/ptmx` creates a new terminal, so it is excluded.
        FileKind::Terminal => found.rdev() != libc::makedev(5, 2),
        FileKind::Other => found.file_type().is_fifo(),
        FileKind::File | FileKind::Socket => false,
    };
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let open = || File::options().write(true).custom_flags(flags).open(PATH).ok();
    // A set-uid program isn't recorded, but prints a line that says so. Its caller may lack the right to open the file.
    // A descriptor that is for reading stays so.
    (is_meant && !is_set_uid() && is_writable()).then(open).flatten()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_writable() -> bool {
    // SAFETY: it has no precondition. Test: `exit_paths::unread`.
    let flags = unsafe { libc::fcntl(FD, libc::F_GETFL) };
    flags != -1 && matches!(flags & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_again(_: FileKind) -> Option<File> {
    None
}

fn send(bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of `bytes`. Test: `exit_paths::unread`.
    counted(unsafe { libc::send(FD, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT) })
}

fn counted(written: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}
