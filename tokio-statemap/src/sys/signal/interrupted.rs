//! What a signal has interrupted, as far as the program can see it.

use std::ffi::c_void;

/// Whether a program whose thread goes on from here would see that there was a signal: a system call fails
/// with EINTR (`pause`, `poll`, `nanosleep` and others do so in spite of SA_RESTART), or has itself sent the
/// signal.
///
/// In a call that fails with EINTR a thread is in no function of an allocator or of ours that others wait
/// for. Anywhere else it may be, and has to go on. (Where a call comes to 0 and another thread of this process
/// has sent the signal it may be, too, as in `munmap`: it is not kept for ever.)
///
/// # Safety
///
/// They are what the system has called a handler with that was set with SA_SIGINFO.
pub(super) unsafe fn is_to_be_seen(info: *const libc::siginfo_t, context: *const c_void) -> bool {
    // SAFETY: as this function's own. Test: `exit_paths::interrupted`.
    unsafe {
        match system::result_of_call(context) {
            Some(result) if result == -(libc::EINTR as isize) => true,
            Some(0) => system::is_sent_by_this_process(info),
            _ => false,
        }
    }
}

/// Linux sets the result that a call comes to before it calls the handler, and the thread stands behind the
/// instruction of the call. (Where it is to make the call anew, it stands before it.)
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

    /// What the call returns that was interrupted, or had just ended. `None` if it was none.
    ///
    /// # Safety
    ///
    /// It is what the system has called a handler with.
    pub(super) unsafe fn result_of_call(context: *const c_void) -> Option<isize> {
        const LEAST_PAGE: usize = 4096;
        // SAFETY: as this function's own. What is before an instruction in its page can be read as it can.
        // Test: `exit_paths::interrupted`.
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
            if next % LEAST_PAGE < size_of::<Instruction>() {
                return None;
            }
            let last = with_exposed_provenance::<Instruction>(next - size_of::<Instruction>());
            (last.read_unaligned() == CALL).then_some(result as isize)
        }
    }

    /// Whether it was `raise`, `pthread_kill` or `kill`, called in this process.
    ///
    /// # Safety
    ///
    /// It is what the system has called a handler with that was set with SA_SIGINFO.
    pub(super) unsafe fn is_sent_by_this_process(info: *const libc::siginfo_t) -> bool {
        // SI_USER and SI_TKILL, which not every `libc` has that Tokio may be locked to.
        const SENT: [libc::c_int; 2] = [0, -6];
        // SAFETY: as this function's own; such a signal has a sender. Test: `exit_paths::interrupted`.
        unsafe { SENT.contains(&(*info).si_code) && (*info).si_pid() == libc::getpid() }
    }
}

/// Nobody knows.
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
