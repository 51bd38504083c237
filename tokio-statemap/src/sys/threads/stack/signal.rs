//! The stack of a thread that runs, copied by itself in a signal handler.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{Registers, STACK_BYTES, StackCopy, read_memory};
use crate::sys::threads::{self, proc};

/// How long a thread is waited for. It runs, so it takes the signal within microseconds, unless the
/// system gives the processor to another.
const PATIENCE: Duration = Duration::from_millis(20);

/// Why there is no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The program uses the signal itself.
    SignalTaken,
    /// The thread blocks the signal.
    SignalBlocked,
    /// The thread has ended, or didn't run in time.
    NoAnswer,
    /// The system took the thread for one that runs, but it didn't: the host of a virtual machine had its
    /// processor, and doesn't tell.
    Stalled,
}

/// Up to which CPU time after it was sent a thread that runs has taken a signal, unless it is in a system
/// call.
const TAKES_IT_WITHIN_NS: u64 = 500_000;

/// What one thread is asked for. There is a single watcher, so a single request.
static REQUEST: Request = Request {
    process: AtomicU32::new(0),
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
        cpu_ns: None,
        copied: 0,
        bytes: [0; STACK_BYTES],
    }),
};

struct Request {
    /// The process that asked last.
    process: AtomicU32,
    /// The thread that is asked.
    thread: AtomicI32,
    stage: AtomicU32,
    /// The handler's from `ASKED` to `ANSWERED`, that of who asks otherwise.
    answer: UnsafeCell<Answer>,
}

struct Answer {
    registers: Registers,
    /// Whose it is: one that took the signal late may answer for another.
    thread: i32,
    /// Its CPU time.
    cpu_ns: Option<u64>,
    copied: usize,
    bytes: [u8; STACK_BYTES],
}

// The stages of a request.
const IDLE: u32 = 0;
const TAKEN: u32 = 1;
const ASKED: u32 = 2;
const ANSWERING: u32 = 3;
const ANSWERED: u32 = 4;
/// Nobody waits any more for the handler that is `ANSWERING`.
const ABANDONED: u32 = 5;

// SAFETY: `stage` says who may access `answer`: who takes it from `ASKED` to `ANSWERING` until that one
// stores `ANSWERED` or `IDLE`, and from then on who took it from `IDLE` to `TAKEN`. Test:
// `sys::threads::stack::signal::tests::two_that_ask_at_once_get_their_own_answers`.
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
    // one. Test: `sampled::a_handler_of_the_programs_own_stays`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGURG, std::ptr::null(), &raw mut action);
        action
    }
}

/// The stack of the thread `id`, which must be one that runs: a blocked one would see EINTR.
pub(crate) fn copy_running(id: i32) -> Result<StackCopy, Unavailable> {
    let blocked = proc::blocked_signals(id).unwrap_or_default();
    let is_blocked = |signal: c_int| blocked & 1 << (signal - 1) != 0;
    if is_blocked(libc::SIGURG) {
        return Err(Unavailable::SignalBlocked);
    }
    // It handles a fault: it has overflowed its stack, say. Its alternate stack has hardly room for one
    // handler more.
    if is_blocked(libc::SIGSEGV) || is_blocked(libc::SIGBUS) {
        return Err(Unavailable::NoAnswer);
    }
    let process = std::process::id();
    let last = REQUEST.process.swap(process, Ordering::AcqRel);
    if last != 0 && last != process {
        // The parent's, that the fork cut off: nobody is left to answer it.
        REQUEST.stage.store(IDLE, Ordering::Release);
    }
    // Another asks, or one that was asked before is still in its handler.
    if !has_moved(IDLE, TAKEN) {
        return Err(Unavailable::NoAnswer);
    }
    if !install() {
        REQUEST.stage.store(IDLE, Ordering::Release);
        return Err(Unavailable::SignalTaken);
    }
    REQUEST.thread.store(id, Ordering::Relaxed);
    REQUEST.stage.store(ASKED, Ordering::Release);
    let sent_ns = threads::cpu_ns_of(id);
    // SAFETY: a number of a thread of this process, or of none. The signal is ours, and our handler
    // does nothing on any other thread. Test:
    // `sys::threads::stack::signal::tests::a_running_thread_copies_its_stack`.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, libc::SIGURG) } == 0;
    if !is_answered(sent) {
        return Err(Unavailable::NoAnswer);
    }
    // SAFETY: it is answered, and this thread's until it is idle. Test: as above.
    let (copy, taken_ns) = unsafe {
        let answer = &*REQUEST.answer.get();
        let bytes = answer.bytes[..answer.copied.min(STACK_BYTES)].to_vec();
        let copy = StackCopy { registers: answer.registers, bytes };
        ((answer.thread == id).then_some(copy), answer.cpu_ns)
    };
    REQUEST.stage.store(IDLE, Ordering::Release);
    let copy = copy.ok_or(Unavailable::NoAnswer)?;
    let late_ns = sent_ns.zip(taken_ns).map_or(0, |(sent, taken)| taken.saturating_sub(sent));
    match late_ns > TAKES_IT_WITHIN_NS && !is_behind_call(&copy.registers) {
        true => Err(Unavailable::Stalled),
        false => Ok(copy),
    }
}

/// Waits for the answer. If there is none in time the request is given up.
fn is_answered(sent: bool) -> bool {
    const LONGEST_PAUSE: Duration = Duration::from_millis(1);
    let (began, mut pause) = (Instant::now(), Duration::from_micros(20));
    loop {
        let given_up = match REQUEST.stage.load(Ordering::Acquire) {
            ANSWERED => return true,
            ASKED if !sent || began.elapsed() >= PATIENCE => has_moved(ASKED, IDLE),
            // The handler was interrupted: no other is asked until it is done.
            ANSWERING if began.elapsed() >= 10 * PATIENCE => has_moved(ANSWERING, ABANDONED),
            _ => {
                // One that blocks the signal is not worth a loop that is busy all the time.
                std::thread::sleep(pause);
                pause = LONGEST_PAUSE.min(pause * 2);
                false
            }
        };
        if given_up {
            return false;
        }
    }
}

fn has_moved(from: u32, to: u32) -> bool {
    REQUEST.stage.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// The handler. It only compares numbers, and has the system copy memory.
extern "C" fn copy_stack(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    if REQUEST.thread.load(Ordering::Relaxed) != threads::id() {
        return;
    }
    if !has_moved(ASKED, ANSWERING) {
        return;
    }
    // SAFETY: the system passes the interrupted context to a handler with SA_SIGINFO; the answer is
    // ours until `ANSWERED`. `errno` is this thread's own, and is put back. Test: as above.
    unsafe {
        let errno = *libc::__errno_location();
        let answer = &mut *REQUEST.answer.get();
        answer.thread = threads::id();
        answer.cpu_ns = threads::cpu_ns();
        answer.registers = registers(&*context.cast::<libc::ucontext_t>());
        answer.copied = read_memory(answer.registers.stack_pointer, &mut answer.bytes);
        *libc::__errno_location() = errno;
    }
    if !has_moved(ANSWERING, ANSWERED) {
        REQUEST.stage.store(IDLE, Ordering::Release); // it was abandoned
    }
}

/// Whether a thread comes from a system call. A long one that computes takes signals at its end.
fn is_behind_call(registers: &Registers) -> bool {
    #[cfg(target_arch = "x86_64")]
    const CALL: [u8; 2] = [0x0f, 0x05]; // syscall
    #[cfg(target_arch = "aarch64")]
    const CALL: [u8; 4] = 0xd400_0001_u32.to_le_bytes(); // svc #0
    let mut before = [0; CALL.len()];
    let at = registers.instruction_pointer.wrapping_sub(CALL.len() as u64);
    read_memory(at, &mut before) == CALL.len() && before == CALL
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Runs `ask` with the ids of `n` threads that run.
    fn with_running(n: usize, ask: impl FnOnce(&[i32])) {
        let stop = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..n {
                scope.spawn(|| {
                    tell.send(threads::id()).unwrap();
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let ids: Vec<_> = told.iter().take(n).collect();
            ask(&ids);
            stop.store(true, Ordering::Relaxed);
        });
    }

    /// Asks until there is an answer: the watchers of other tests ask, too.
    fn copy(id: i32) -> StackCopy {
        loop {
            match copy_running(id) {
                Ok(copy) => return copy,
                Err(error) => assert_ne!(error, Unavailable::SignalTaken),
            }
        }
    }

    #[test]
    fn a_running_thread_copies_its_stack() {
        with_running(1, |ids| {
            let copy = copy(ids[0]);
            let own = std::ptr::from_ref(&copy).addr() as u64;
            assert_ne!(copy.registers.stack_pointer >> 16, own >> 16, "it is another's");
            assert!(copy.word(copy.registers.stack_pointer).is_some());
        });
    }

    #[test]
    fn two_that_ask_at_once_get_their_own_answers() {
        with_running(2, |ids| {
            let places: Vec<_> = ids.iter().map(|&id| copy(id).registers.stack_pointer).collect();
            std::thread::scope(|scope| {
                for (&id, &place) in ids.iter().zip(&places) {
                    scope.spawn(move || {
                        for _ in 0..100 {
                            let seen = copy(id).registers.stack_pointer;
                            assert!(seen.abs_diff(place) < 1 << 16, "{seen:x}, {place:x}");
                        }
                    });
                }
            });
        });
    }

    #[test]
    fn one_that_comes_from_a_call_is_told_from_one_that_does_not() {
        let id = std::thread::spawn(|| {
            std::thread::park();
        });
        let call = loop {
            let entries = std::fs::read_dir("/proc/self/task").unwrap();
            let ids = entries.filter_map(|task| task.unwrap().file_name().to_str()?.parse().ok());
            let others = ids.filter(|&other: &i32| other != threads::id());
            if let Some(call) = others.filter_map(proc::system_call).next() {
                break call;
            }
        };
        let at = |instruction_pointer| Registers { instruction_pointer, ..Registers::default() };
        assert!(is_behind_call(&at(call.instruction_pointer)));
        assert!(!is_behind_call(&at(call.instruction_pointer + 1)));
        assert!(!is_behind_call(&at(0)));
        id.thread().unpark();
        id.join().unwrap();
    }

    #[test]
    fn one_that_has_ended_does_not_answer() {
        let id = std::thread::spawn(threads::id).join().unwrap();
        assert_eq!(copy_running(id).err(), Some(Unavailable::NoAnswer));
        with_running(1, |ids| drop(copy(ids[0])));
    }
}
