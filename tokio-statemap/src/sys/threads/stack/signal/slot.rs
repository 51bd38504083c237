//! A request to a thread, and the copy that the thread makes in the handler.

use std::cell::UnsafeCell;
use std::ffi::c_void;
#[cfg(target_arch = "x86_64")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use super::moment::Moment;
use crate::sys::clocks::monotonic_ns;
use crate::sys::threads;
use crate::sys::threads::stack::range::bytes_to_end;
use crate::sys::threads::stack::{Registers, STACK_BYTES, read_memory};

/// The number of threads that can be asked at once. Each may need the memory for a whole copy.
pub(super) const SLOTS: usize = 4;

pub(super) static ALL: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

/// A request to one thread.
pub(super) struct Slot {
    /// The process that asked last.
    pub(super) process: AtomicU32,
    /// The thread that is asked.
    pub(super) thread: AtomicI32,
    pub(super) stage: AtomicU32,
    /// Owned by the handler from `ASKED` to `ANSWERED`, and by the requester otherwise.
    pub(super) copy: UnsafeCell<OwnCopy>,
}

pub(super) struct OwnCopy {
    /// The requester's clock.
    pub(super) now: Option<fn() -> u64>,
    /// The time at which the copy was made, by that clock.
    pub(super) time: u64,
    pub(super) made_at: Moment,
    pub(super) registers: Registers,
    /// `true` if the thread has just returned from a system call. A long call that computes takes signals at its end.
    pub(super) is_behind_call: bool,
    pub(super) copied: usize,
    pub(super) bytes: [u8; STACK_BYTES],
}

// The stages of a slot.
const IDLE: u32 = 0;
pub(super) const TAKEN: u32 = 1;
pub(super) const ASKED: u32 = 2;
const ANSWERING: u32 = 3;
pub(super) const ANSWERED: u32 = 4;
/// The requester no longer waits for the handler that is `ANSWERING`.
const ABANDONED: u32 = 5;

// SAFETY: `stage` decides who may access `copy`: the thread that moves it from `ASKED` to `ANSWERING`, until
// it stores `ANSWERED` or `IDLE`; otherwise the thread that moved it from `IDLE` to `TAKEN`. Test:
// `sys::threads::stack::signal::tests::two_that_ask_at_once_get_their_own_answers`.
unsafe impl Sync for Slot {}

impl Slot {
    const fn new() -> Self {
        let registers =
            Registers { instruction_pointer: 0, stack_pointer: 0, frame_pointer: None, link: 0 };
        let made_at = Moment { wall_ns: 0, cpu_ns: None };
        let bytes = [0; STACK_BYTES];
        let (is_behind_call, copied) = (false, 0);
        let copy =
            OwnCopy { now: None, time: 0, made_at, registers, is_behind_call, copied, bytes };
        Self {
            process: AtomicU32::new(0),
            thread: AtomicI32::new(0),
            stage: AtomicU32::new(IDLE),
            copy: UnsafeCell::new(copy),
        }
    }

    /// Takes a free slot.
    pub(super) fn take() -> Option<&'static Self> {
        let process = std::process::id();
        ALL.iter().find(|slot| {
            let last = slot.process.swap(process, Ordering::AcqRel);
            if last != 0 && last != process {
                // The fork cut the parent's request off: the thread that was asked doesn't exist here.
                slot.stage.store(IDLE, Ordering::Release);
            }
            slot.has_moved(IDLE, TAKEN)
        })
    }

    fn has_moved(&self, from: u32, to: u32) -> bool {
        self.stage.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives the slot back. An answer is no longer waited for.
    #[inline(never)]
    pub(super) fn leave(&self) {
        // The handler may go on from one stage to the next meanwhile.
        for (from, to) in [(TAKEN, IDLE), (ASKED, IDLE), (ANSWERING, ABANDONED), (ANSWERED, IDLE)] {
            if self.has_moved(from, to) {
                return;
            }
        }
    }

    /// Copies the stack of the calling thread, which was interrupted in `context`, if it is asked. Async-signal-safe.
    ///
    /// # Safety
    ///
    /// `context` is the one that the system passed to a handler with `SA_SIGINFO`.
    pub(super) unsafe fn answer(&self, id: i32, context: *mut c_void) {
        if self.thread.load(Ordering::Relaxed) != id || !self.has_moved(ASKED, ANSWERING) {
            return;
        }
        // SAFETY: `context` is valid by this function's contract; the copy is this thread's until `ANSWERED`.
        // Test: as above.
        unsafe {
            let copy = &mut *self.copy.get();
            copy.made_at = Moment { wall_ns: monotonic_ns(), cpu_ns: threads::cpu_ns() };
            copy.time = copy.now.map_or(0, |now| now());
            let context = &*context.cast::<libc::ucontext_t>();
            copy.registers = registers(context);
            copy.is_behind_call = is_behind_call(context);
            copy.copied = match bytes_to_end(copy.registers.stack_pointer) {
                Some(bytes) => copy_of_own(copy.registers.stack_pointer, bytes, &mut copy.bytes),
                None => read_memory(copy.registers.stack_pointer, &mut copy.bytes),
            };
        }
        if !self.has_moved(ANSWERING, ANSWERED) {
            self.stage.store(IDLE, Ordering::Release); // it was abandoned
        }
    }
}

/// Returns whether the instruction before the one at which the thread goes on is a system call. Async-signal-safe.
pub(super) fn is_behind_call(context: &libc::ucontext_t) -> bool {
    #[cfg(target_arch = "x86_64")]
    const CALL: [u8; 2] = [0x0f, 0x05]; // syscall
    #[cfg(target_arch = "aarch64")]
    const CALL: [u8; 4] = 0xd400_0001_u32.to_le_bytes(); // svc #0
    let goes_on_at = registers(context).instruction_pointer;
    #[cfg(target_arch = "x86_64")]
    if SAVES_RETURN.load(Ordering::Relaxed) {
        return context.uc_mcontext.gregs[libc::REG_RCX as usize] as u64 == goes_on_at;
    }
    let mut before = [0; CALL.len()];
    // The thread may be in code that can be executed but not read.
    read_memory(goes_on_at.wrapping_sub(CALL.len() as u64), &mut before) == CALL.len()
        && before == CALL
}

/// `true` if a system call leaves the address of the next instruction in RCX. Processors with FRED need not do that.
#[cfg(target_arch = "x86_64")]
static SAVES_RETURN: AtomicBool = AtomicBool::new(false);

/// Finds out how system calls can be recognised. It is called before any thread is asked.
pub(super) fn prepare() {
    #[cfg(target_arch = "x86_64")]
    {
        let saved: u64;
        // SAFETY: the call only returns a number; what the instruction overwrites is declared. Test:
        // `sys::threads::stack::signal::tests::one_that_comes_from_a_call_is_told_from_one_that_does_not`.
        unsafe {
            std::arch::asm!(
                "syscall",
                inlateout("rax") libc::SYS_getpid => _, inlateout("rcx") 1_u64 => saved, lateout("r11") _,
                options(nostack, nomem),
            );
        }
        SAVES_RETURN.store(saved != 1, Ordering::Relaxed);
    }
}

/// Copies the stack of the calling thread from `address` on. It ends `bytes` further on. Returns the number of bytes that were
/// copied. Async-signal-safe.
///
/// # Safety
///
/// The bytes are on the calling thread's stack, at addresses above its stack pointer.
unsafe fn copy_of_own(address: u64, bytes: usize, into: &mut [u8; STACK_BYTES]) -> usize {
    let bytes = bytes.min(into.len());
    // Instructions are needed: the bytes are in the frames of other functions, which the compiler assumes to be private.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: by this function's contract they can be read, and there is room for them. Test: as above.
    unsafe {
        std::arch::asm!(
            "rep movsb",
            inout("rcx") bytes => _, inout("rsi") address => _, inout("rdi") into.as_mut_ptr() => _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    for (nth, word) in into[..bytes / 8 * 8].chunks_exact_mut(8).enumerate() {
        let found: u64;
        // SAFETY: the same.
        unsafe {
            std::arch::asm!(
                "ldr {}, [{}]", out(reg) found, in(reg) address + 8 * nth as u64,
                options(readonly, nostack, preserves_flags),
            );
        }
        word.copy_from_slice(&found.to_ne_bytes());
    }
    bytes / 8 * 8
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let of = |register: i32| context.uc_mcontext.gregs[register as usize] as u64;
    Registers {
        instruction_pointer: of(libc::REG_RIP),
        stack_pointer: of(libc::REG_RSP),
        frame_pointer: Some(of(libc::REG_RBP)),
        link: 0,
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    Registers {
        instruction_pointer: machine.pc,
        stack_pointer: machine.sp,
        frame_pointer: Some(machine.regs[29]),
        link: machine.regs[30],
    }
}
