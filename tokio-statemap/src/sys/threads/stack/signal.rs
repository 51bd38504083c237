//! Copies of the stacks of running threads, which they make themselves in a signal handler.
//!
//! A timer on the thread's own CPU clock sends the signal, once. It expires at a tick of the kernel while the
//! thread is on a processor, so it never interrupts a system call that sleeps. A signal that is sent by
//! `tgkill` makes such a call fail with EINTR whenever the thread goes to sleep before the signal arrives.
//! The price is the wait for the tick, which comes every 1 to 10 ms (`CONFIG_HZ`).
//!
//! This holds from Linux 5.10 on, where timers of CPU clocks expire on the way back to the program
//! (`CONFIG_POSIX_CPU_TIMERS_TASK_WORK`). Before, a tick within the first instructions of a system call can
//! interrupt it.

mod asked;
mod handler;
mod moment;
mod slot;
mod timer;

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use super::{STACK_BYTES, StackCopy};
use moment::{Moment, tick_ns};
use slot::{ANSWERED, ASKED, Slot};
use timer::Timer;

use crate::sys::clocks::monotonic_ns;
use crate::sys::threads::{self, proc};

/// The reason why there is no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The program uses the signal itself.
    SignalTaken,
    /// The thread blocks the signal.
    SignalBlocked,
    /// The system provides no timer on the thread's CPU clock: the thread has ended, or a limit is reached.
    NoTimer,
    /// The thread handles a fault, or answers a request, or no more threads can be asked at once.
    Busy,
}

/// The CPU time after a tick within which a thread takes a signal, unless it is in a system call.
const SLACK_NS: u64 = 500_000;

/// A thread that is asked to copy its stack. It is left alone when this is dropped.
pub(crate) struct Request {
    // Deleted before the slot is left.
    _timer: Timer,
    slot: Taken,
    asked_at: Moment,
}

/// A slot of a request.
struct Taken(&'static Slot);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// The state of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// So far, the thread was on no processor at a tick.
    NotYet,
    /// The copy was made long after the tick. Either the tick was within a system call that slept afterwards,
    /// or the host of a virtual machine had taken the processor without reporting it.
    Late,
    Copied(RunningStack),
}

/// A stack that a thread copied while it was on a processor.
#[derive(Debug)]
pub(crate) struct RunningStack {
    pub(crate) stack: StackCopy,
    /// The time of the copy, by the requester's clock.
    pub(crate) time: u64,
}

impl Request {
    /// Asks the thread `id` for its stack, at the next tick at which it is on a processor. The handler calls `now`,
    /// which must be async-signal-safe.
    pub(crate) fn new(id: i32, now: fn() -> u64) -> Result<Self, Unavailable> {
        let blocked = proc::blocked_signals(id).unwrap_or_default();
        let is_blocked = |signal: c_int| blocked & 1 << (signal - 1) != 0;
        // The thread handles a fault, such as a stack overflow. Its alternate stack has hardly room for one handler
        // more.
        let handles_fault = is_blocked(libc::SIGSEGV) || is_blocked(libc::SIGBUS);
        if is_blocked(libc::SIGURG) {
            // A thread that blocks all signals handles no fault. Nobody blocks this one by itself.
            let is_busy = handles_fault && !is_blocked(libc::SIGWINCH)
                || asked::may_answer(id, threads::cpu_ns_of(id));
            return Err(if is_busy { Unavailable::Busy } else { Unavailable::SignalBlocked });
        }
        if handles_fault {
            return Err(Unavailable::Busy);
        }
        Self::unchecked(id, now)
    }

    /// Does the same without a look at the signals that the thread blocks, which takes longer than all else. The thread
    /// was looked at a short time ago: if it handles a fault since, that is as if it did so after the look.
    pub(crate) fn unchecked(id: i32, now: fn() -> u64) -> Result<Self, Unavailable> {
        let slot = Taken(Slot::take().ok_or(Unavailable::Busy)?);
        if !handler::install() {
            return Err(Unavailable::SignalTaken);
        }
        // SAFETY: it was taken, and isn't asked yet. Test:
        // `sys::threads::stack::signal::tests::two_that_ask_at_once_get_their_own_answers`.
        unsafe { (*slot.0.copy.get()).now = Some(now) };
        slot.0.thread.store(id, Ordering::Relaxed);
        slot.0.stage.store(ASKED, Ordering::Release);
        let asked_at = Moment { wall_ns: monotonic_ns(), cpu_ns: threads::cpu_ns_of(id) };
        asked::note(id, asked_at.cpu_ns);
        let timer = Timer::start(id).ok_or(Unavailable::NoTimer)?;
        Ok(Self { _timer: timer, slot, asked_at })
    }

    /// Returns `true` if the thread has answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.slot.0.stage.load(Ordering::Acquire) == ANSWERED
    }

    /// Returns the thread's answer.
    pub(crate) fn answer(&self) -> Answer {
        if !self.is_answered() {
            return Answer::NotYet;
        }
        // SAFETY: it is answered, and this request's until it is dropped. Test: as above.
        let copy = unsafe { &*self.slot.0.copy.get() };
        let is_late = match copy.is_behind_call {
            true => !self.asked_at.ran_until(copy.made_at),
            false => self.asked_at.cpu_ns_until(copy.made_at) > tick_ns() + SLACK_NS,
        };
        if is_late || copy.copied == 0 {
            return Answer::Late;
        }
        let bytes = copy.bytes[..copy.copied.min(STACK_BYTES)].to_vec();
        let stack = StackCopy { registers: copy.registers, bytes };
        Answer::Copied(RunningStack { stack, time: copy.time })
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("thread", &self.slot.0.thread).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::slot::{SLOTS, is_behind_call};
    use super::*;
    use crate::sys::threads::stack::copy_running;
    use crate::sys::threads::stack::range::own_stack;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32};
    use std::sync::mpsc;

    /// Ends running threads, even if what asks them panics: a scope waits for its threads.
    struct Stops<'a>(&'a AtomicBool);

    impl Drop for Stops<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Runs `ask` with the ids of `n` running threads.
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
            let _stops = Stops(&stop);
            let ids: Vec<_> = told.iter().take(n).collect();
            ask(&ids);
        });
    }

    /// Asks until there is an answer: the watchers of other tests ask, too.
    fn copy(id: i32) -> StackCopy {
        loop {
            match copy_running(id) {
                Ok(copy) => return copy,
                Err(error) => assert_eq!(error, Unavailable::Busy),
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
        static SEEN: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
        extern "C" fn note(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
            // SAFETY: the system passes the interrupted context to a handler with SA_SIGINFO.
            let is_behind = unsafe { is_behind_call(&*context.cast()) };
            SEEN[usize::from(is_behind)].fetch_add(1, Ordering::Relaxed);
        }
        super::slot::prepare();
        let signal = libc::SIGRTMIN() + 7;
        let send = |id: i32| {
            // SAFETY: nobody else uses the signal, and its handler only adds to a number.
            unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), id, signal) };
        };
        // SAFETY: all zeroes are a valid `sigaction`.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = note as extern "C" fn(_, _, _) as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
        let seen = || SEEN.each_ref().map(|of| of.load(Ordering::Relaxed));
        for n in 1..=100 {
            send(threads::id());
            assert_eq!(seen(), [0, n]);
        }
        let (id, stop) = (AtomicI32::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let own = threads::id();
                while !stop.load(Ordering::Relaxed) {
                    // It makes no more calls.
                    id.store(own, Ordering::Relaxed);
                    std::hint::spin_loop();
                }
            });
            let _stops = Stops(&stop);
            while id.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            for n in 1..=100 {
                send(id.load(Ordering::Relaxed));
                while seen() != [n, 100] {
                    assert_eq!(seen()[1], 100);
                }
            }
        });
    }

    #[test]
    fn one_that_has_ended_is_not_asked() {
        let id = std::thread::spawn(threads::id).join().unwrap();
        let is_gone = || loop {
            match Request::new(id, monotonic_ns) {
                // A thread can be joined shortly before it is gone.
                Ok(_) | Err(Unavailable::Busy) => std::thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert_eq!(is_gone(), Unavailable::NoTimer);
        with_running(1, |ids| drop(copy(ids[0])));
    }

    #[test]
    fn a_request_that_is_dropped_leaves_room_for_others() {
        with_running(1, |ids| {
            for _ in 0..100 * SLOTS {
                drop(Request::new(ids[0], monotonic_ns));
            }
            drop(copy(ids[0]));
        });
    }

    /// Rust's threads have an alternate stack of 8 KiB, and a signal's frame takes 3.6 KiB on a processor with AVX-512.
    /// So a second handler finds no room there.
    #[test]
    fn no_other_handler_runs_on_top_of_it() {
        extern "C" fn needs_some_stack(_: c_int) {
            std::hint::black_box([0_u8; 2048]);
        }
        let handler = needs_some_stack as extern "C" fn(c_int) as libc::sighandler_t;
        // SAFETY: the handler is async-signal-safe, and no other test uses this signal.
        unsafe { libc::signal(libc::SIGWINCH, handler) };
        with_running(1, |ids| {
            let (stop, process) = (AtomicBool::new(false), std::process::id());
            std::thread::scope(|scope| {
                let _stops = Stops(&stop);
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        // SAFETY: it passes numbers, of a thread that doesn't end before.
                        unsafe { libc::syscall(libc::SYS_tgkill, process, ids[0], libc::SIGWINCH) };
                    }
                });
                (0..100).for_each(|_| drop(copy(ids[0])));
            });
        });
        // If frames are smaller, there is room for both.
        let mask = crate::sys::signal::action(libc::SIGURG).sa_mask;
        // SAFETY: the set was returned by the system.
        let waits = |signal| unsafe { libc::sigismember(&raw const mask, signal) == 1 };
        assert!(waits(libc::SIGWINCH) && waits(libc::SIGINT) && !waits(libc::SIGSEGV));
    }

    #[test]
    fn a_copy_ends_with_the_stack() {
        let stop = AtomicBool::new(false);
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tell.send((threads::id(), own_stack())).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let _stops = Stops(&stop);
            let (id, stack) = told.recv().unwrap();
            let copy = copy(id);
            let last = copy.addresses().last().unwrap();
            assert!(stack.contains(&copy.registers.stack_pointer) && stack.end - last <= 8);
        });
    }

    /// A request that was made before a stack overflow must not be answered on the alternate stack.
    #[test]
    fn no_copy_is_made_in_the_handler_of_a_fault() {
        with_running(1, |ids| drop(copy(ids[0])));
        for fault in [libc::SIGSEGV, libc::SIGBUS] {
            let action = crate::sys::signal::action(fault);
            assert_ne!(action.sa_sigaction, libc::SIG_DFL, "the standard library has one");
            // SAFETY: the set was returned by the system.
            assert_eq!(unsafe { libc::sigismember(&raw const action.sa_mask, libc::SIGURG) }, 1);
        }
    }

    #[test]
    fn a_thread_that_sleeps_is_not_interrupted() {
        let (calls, id, stop) = (AtomicU32::new(0), AtomicI32::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let interrupted = scope.spawn(|| {
                id.store(threads::id(), Ordering::Relaxed);
                let (mut interrupted, pause) = (0, libc::timespec { tv_sec: 0, tv_nsec: 20_000 });
                while !stop.load(Ordering::Relaxed) {
                    (0..2000).for_each(|i| _ = std::hint::black_box(i));
                    // SAFETY: it waits for no descriptor, and reads the time.
                    let result = unsafe {
                        libc::ppoll(std::ptr::null_mut(), 0, &raw const pause, std::ptr::null())
                    };
                    interrupted += u32::from(result < 0);
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                interrupted
            });
            while calls.load(Ordering::Relaxed) < 5000 {
                let request = Request::new(id.load(Ordering::Relaxed), monotonic_ns);
                let asked = calls.load(Ordering::Relaxed);
                while calls.load(Ordering::Relaxed) < asked + 2 {
                    std::thread::yield_now();
                }
                drop(request);
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(interrupted.join().unwrap(), 0);
        });
    }
}
