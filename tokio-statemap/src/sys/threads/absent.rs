//! Memory that isn't there yet.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

/// A page at which a thread that reads it is blocked until [`Self::provide`].
#[derive(Debug)]
pub(crate) struct AbsentPage {
    faults: File,
    address: usize,
}

impl AbsentPage {
    const BYTES: usize = 4096;

    /// `None` where the system doesn't permit it.
    pub(crate) fn new() -> Option<Self> {
        /// From Linux, `include/uapi/linux/userfaultfd.h`.
        const USER_MODE_ONLY: i32 = 1;
        const API: u64 = 0xaa;
        const IOCTL_API: u64 = 0xc018_aa3f;
        const IOCTL_REGISTER: u64 = 0xc020_aa00;
        const MISSING: u64 = 1;
        // SAFETY: the descriptor and the page are new and owned by this value; the structures have the
        // lengths that the calls expect, and live through them. Test: `recorder::background::watcher::tests`.
        unsafe {
            let fd = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | USER_MODE_ONLY);
            let faults = File::from_raw_fd(i32::try_from(fd).ok().filter(|fd| *fd >= 0)?);
            let mut api = [API, 0, 0];
            if libc::ioctl(faults.as_raw_fd(), IOCTL_API as _, api.as_mut_ptr()) != 0 {
                return None;
            }
            let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let page = libc::mmap(std::ptr::null_mut(), Self::BYTES, access, kind, -1, 0);
            assert_ne!(page, libc::MAP_FAILED);
            let address = page.expose_provenance();
            let mut register = [address as u64, Self::BYTES as u64, MISSING, 0];
            let registered =
                libc::ioctl(faults.as_raw_fd(), IOCTL_REGISTER as _, register.as_mut_ptr());
            (registered == 0).then_some(Self { faults, address })
        }
    }

    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Reads the page at `address`.
    #[inline(never)]
    pub(crate) fn read(address: usize) -> u8 {
        // SAFETY: the page stays mapped for as long as the process lives.
        unsafe { std::ptr::with_exposed_provenance::<u8>(address).read_volatile() }
    }

    /// Lets the threads that read it continue.
    pub(crate) fn provide(self) {
        drop(self.faults);
    }
}
