//! The stack of a thread that runs, copied by itself in a signal handler.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{Registers, STACK_BYTES, StackCopy, read_memory};
use crate::sys::threads;

/// How long a thread is waited for. It runs, so it takes the signal within microseconds, unless the
/// system gives the processor to another.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why there is no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The program uses the signal itself.
    SignalTaken,
    /// The thread has ended, or didn't run in time.
    NoAnswer,
}

/// What one thread is asked for. There is a single watcher, so a single request.
static REQUEST: Request = Request {
    thread: AtomicI32::new(0),
    stage: AtomicU32::new(IDLE),
    answer: UnsafeCell::new(Answer {
        registers: Registers {
            instruction_pointer: 0,
            stack_pointer: 0,
            frame_pointer: None,
            link: 0,
        },
        thread: 0,
        copied: 0,
        bytes: [0; STACK_BYTES],
    }),
};

struct Request {
    /// The thread that is asked.
    thread: AtomicI32,
    stage: AtomicU32,
    /// The handler's from `ASKED` to `ANSWERED`, the watcher's otherwise.
    answer: UnsafeCell<Answer>,
}

struct Answer {
    registers: Registers,
    /// Whose it is: one that took the signal late may answer for another.
    thread: i32,
    copied: usize,
    bytes: [u8; STACK_BYTES],
}

// The stages of a request.
const IDLE: u32 = 0;
const ASKED: u32 = 1;
const ANSWERING: u32 = 2;
const ANSWERED: u32 = 3;

// SAFETY: `stage` says who may access `answer`: who takes it from `ASKED` to `ANSWERING` until that one
// stores `ANSWERED`, and the watcher at other times. Test: `sys::threads::stack::signal::tests`.
unsafe impl Sync for Request {}

/// Takes SIGURG, if the program leaves it at its default. Returns whether it is ours.
fn install() -> bool {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    let present = action();
    if is_ours(&present) {
        return true;
    }
    if present.sa_sigaction != libc::SIG_DFL || INSTALLED.swap(true, Ordering::Relaxed) {
        return false; // the program's own, from the start or since
    }
    // SAFETY: all zeroes are a valid `sigaction`, and `copy_stack` only does what is async-signal-safe.
    // Interrupted calls are restarted, and an alternate stack is used where the thread has one. Test:
    // `sys::threads::stack::signal::tests::a_running_thread_copies_its_stack`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut()) == 0
    }
}

fn handler() -> libc::sighandler_t {
    copy_stack as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as libc::sighandler_t
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handler()
}

/// The present action for SIGURG.
fn action() -> libc::sigaction {
    // SAFETY: all zeroes are a valid `sigaction`; without a new one the call only reads the present
    // one. Test: `sys::threads::stack::signal::tests::the_programs_own_handler_stays`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGURG, std::ptr::null(), &raw mut action);
        action
    }
}

/// The stack of the thread `id`, which must be one that runs: a blocked one would see EINTR.
///
/// Only called by one thread at a time.
pub(crate) fn copy_running(id: i32) -> Result<StackCopy, Unavailable> {
    if !install() {
        return Err(Unavailable::SignalTaken);
    }
    // An answer that came too late, or a request that a fork cut off.
    let stage = REQUEST.stage.load(Ordering::Acquire);
    if stage == ANSWERING {
        return Err(Unavailable::NoAnswer); // an earlier one is still in its handler
    }
    REQUEST.thread.store(id, Ordering::Relaxed);
    REQUEST.stage.store(ASKED, Ordering::Release);
    // SAFETY: a number of a thread of this process, or of none. The signal is ours, and our handler
    // does nothing on any other thread. Test: as above.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, libc::SIGURG) } == 0;
    let began = Instant::now();
    loop {
        match REQUEST.stage.load(Ordering::Acquire) {
            ANSWERED => break,
            ASKED if !sent || began.elapsed() >= PATIENCE => {
                let given_up = REQUEST.stage.compare_exchange(
                    ASKED,
                    IDLE,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                if given_up.is_ok() {
                    return Err(Unavailable::NoAnswer);
                }
            }
            // The handler was interrupted: no other is asked until it is done.
            ANSWERING if began.elapsed() >= 10 * PATIENCE => return Err(Unavailable::NoAnswer),
            _ => std::thread::sleep(Duration::from_micros(20)),
        }
    }
    // SAFETY: it is answered, and nobody else asks. Test: as above.
    let copy = unsafe {
        let answer = &*REQUEST.answer.get();
        let bytes = answer.bytes[..answer.copied.min(STACK_BYTES)].to_vec();
        (answer.thread == id).then_some(StackCopy { registers: answer.registers, bytes })
    };
    REQUEST.stage.store(IDLE, Ordering::Release);
    copy.ok_or(Unavailable::NoAnswer)
}

/// The handler. It only compares numbers, and has the system copy memory.
extern "C" fn copy_stack(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if REQUEST.thread.load(Ordering::Relaxed) != threads::id() {
        return;
    }
    let is_asked =
        REQUEST.stage.compare_exchange(ASKED, ANSWERING, Ordering::AcqRel, Ordering::Relaxed);
    if is_asked.is_err() {
        return;
    }
    // SAFETY: the system passes the interrupted context to a handler with SA_SIGINFO; the answer is
    // ours until `ANSWERED`. `errno` is this thread's own, and is put back. Test: as above.
    unsafe {
        let errno = *libc::__errno_location();
        let answer = &mut *REQUEST.answer.get();
        answer.thread = threads::id();
        answer.registers = registers(&*context.cast::<libc::ucontext_t>());
        answer.copied = read_memory(answer.registers.stack_pointer, &mut answer.bytes);
        *libc::__errno_location() = errno;
    }
    REQUEST.stage.store(ANSWERED, Ordering::Release);
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
