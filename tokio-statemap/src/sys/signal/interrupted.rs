//! Tells whether the program can observe that a signal interrupted it.

use std::ffi::c_void;

/// Returns `true` if the program would observe the signal if this thread continued from here: a system call
/// fails with EINTR (`pause`, `poll`, `nanosleep` and others do so in spite of SA_RESTART), or has itself
/// sent the signal.
///
/// A thread in a call that fails with EINTR is in no function of an allocator, or of this crate, that other
/// threads wait for. Anywhere else it may be in one, and has to continue. (It also may be in one if the call
/// returns 0 and another thread of this process sent the signal, as in `munmap`: so a thread is not kept
/// forever.)
///
/// # Safety
///
/// The arguments are those of an SA_SIGINFO handler that the system called.
pub(super) unsafe fn is_observable(info: *const libc::siginfo_t, context: *const c_void) -> bool {
    // SAFETY: as this function's own. Test: `exit_paths::interrupted`.
    unsafe {
        match system::result_of_call(context) {
            Some(result) if result == -(libc::EINTR as isize) => true,
            Some(0) => system::is_sent_by_this_process(info),
            _ => false,
        }
    }
}

/// On Linux the result of an interrupted call is set before the handler is called, and the thread's
/// instruction pointer is after the call. (If the call is restarted, it is before it.)
#[cfg(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod system {
    use std::ffi::c_void;
    use std::ptr::with_exposed_provenance;

    #[cfg(target_arch = "x86_64")]
    type Instruction = [u8; 2];
    #[cfg(target_arch = "x86_64")]
    const CALL: Instruction = [0x0f, 0x05]; // syscall

    #[cfg(target_arch = "aarch64")]
    type Instruction = [u8; 4];
    #[cfg(target_arch = "aarch64")]
    const CALL: Instruction = 0xd400_0001_u32.to_le_bytes(); // svc #0

    /// Returns the result of the system call that was interrupted, or had just ended. `None` if there was
    /// none.
    ///
    /// # Safety
    ///
    /// The argument is the one that the system called a handler with.
    pub(super) unsafe fn result_of_call(context: *const c_void) -> Option<isize> {
        const MIN_PAGE: usize = 4096;
        // SAFETY: as for this function. The bytes before an instruction in its page are as readable as the
        // instruction. Test: `exit_paths::interrupted`.
        unsafe {
            let context = &*context.cast::<libc::ucontext_t>();
            #[cfg(target_arch = "x86_64")]
            let (next, result) = {
                let registers = &context.uc_mcontext.gregs;
                (registers[libc::REG_RIP as usize], registers[libc::REG_RAX as usize])
            };
            #[cfg(target_arch = "aarch64")]
            let (next, result) = (context.uc_mcontext.pc, context.uc_mcontext.regs[0]);
            let next = next as usize;
            if next % MIN_PAGE < size_of::<Instruction>() {
                return None;
            }
            let last = with_exposed_provenance::<Instruction>(next - size_of::<Instruction>());
            (last.read_unaligned() == CALL).then_some(result as isize)
        }
    }

    /// Returns `true` if the signal was sent by `raise`, `pthread_kill` or `kill` in this process.
    ///
    /// # Safety
    ///
    /// The argument is that of an SA_SIGINFO handler that the system called.
    pub(super) unsafe fn is_sent_by_this_process(info: *const libc::siginfo_t) -> bool {
        // SI_USER and SI_TKILL, which some versions of `libc` that Tokio accepts don't define.
        const SENT: [libc::c_int; 2] = [0, -6];
        // SAFETY: as this function's own; such a signal has a sender. Test: `exit_paths::interrupted`.
        unsafe { SENT.contains(&(*info).si_code) && (*info).si_pid() == libc::getpid() }
    }
}

/// Unknown.
#[cfg(not(all(
    target_os = "linux",
    any(target_env = "gnu", target_env = "musl"),
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod system {
    use std::ffi::c_void;

    pub(super) unsafe fn result_of_call(_: *const c_void) -> Option<isize> {
        None
    }

    pub(super) unsafe fn is_sent_by_this_process(_: *const libc::siginfo_t) -> bool {
        false
    }
}
