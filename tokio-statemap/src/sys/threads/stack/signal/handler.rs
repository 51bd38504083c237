//! The handler of SIGURG, unless the program has one.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::slot::{ALL, prepare};
use crate::sys::signal::action;
use crate::sys::threads;

/// The signals that an instruction of the thread itself raises: blocked, they end the program.
const OF_INSTRUCTIONS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

/// The faults for which the standard library has a handler on an alternate stack: it tells a stack overflow.
const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Lets SIGURG wait until the handler of a fault has returned, if that runs on an alternate stack. The frames of two
/// signals, and what a handler needs, may be more than 8 KiB: then the system ends the program with SIGSEGV instead of
/// SIGABRT. A request that was made before the fault would come at any moment of it. (A handler that the program
/// installs later is left as it is.)
fn keep_out_of(fault: c_int) {
    let present = action(fault);
    let has = |flag: c_int| present.sa_flags & flag != 0;
    // A handler that may be interrupted by its own signal may also be left by a jump, and SIGURG would stay blocked.
    if present.sa_sigaction == libc::SIG_DFL || !has(libc::SA_ONSTACK) || has(libc::SA_NODEFER) {
        return;
    }
    let mut masked = present;
    // SAFETY: the mask and the handler are those that the system has returned, with one signal more, and the calls
    // read and write the structures. Test:
    // `sys::threads::stack::signal::tests::no_copy_is_made_in_the_handler_of_a_fault`.
    unsafe {
        libc::sigaddset(&raw mut masked.sa_mask, libc::SIGURG);
        let mut replaced: libc::sigaction = std::mem::zeroed();
        let is_set = libc::sigaction(fault, &raw const masked, &raw mut replaced) == 0;
        let is_it = |one: &libc::sigaction| {
            (one.sa_sigaction, one.sa_flags) == (present.sa_sigaction, present.sa_flags)
        };
        if is_set && !is_it(&replaced) {
            // The program has installed another one meanwhile.
            libc::sigaction(fault, &raw const replaced, std::ptr::null_mut());
        }
    }
}

/// Installs the handler if the program leaves SIGURG at its default. Returns `true` if the handler is
/// installed.
pub(super) fn install() -> bool {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    let present = action(libc::SIGURG);
    if is_ours(&present) {
        return true;
    }
    if present.sa_sigaction != libc::SIG_DFL || INSTALLED.swap(true, Ordering::Relaxed) {
        return false; // the program's own, from the start or since
    }
    prepare();
    FAULTS.into_iter().for_each(keep_out_of);
    // SAFETY: all zeroes are a valid `sigaction`, and `copy_stack` is async-signal-safe. Interrupted calls
    // are restarted, and the thread's alternate stack is used if it has one. Test:
    // `sys::threads::stack::signal::tests::a_running_thread_copies_its_stack`.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
        // An alternate stack has hardly room for a second handler, so other signals wait until this handler has
        // returned. (It can't be known whether the thread is in a handler of the program on that stack.)
        libc::sigfillset(&raw mut action.sa_mask);
        for of_an_instruction in OF_INSTRUCTIONS {
            libc::sigdelset(&raw mut action.sa_mask, of_an_instruction);
        }
        libc::sigaction(libc::SIGURG, &raw const action, std::ptr::null_mut()) == 0
    }
}

fn handler() -> libc::sighandler_t {
    copy_stack as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as libc::sighandler_t
}

fn is_ours(action: &libc::sigaction) -> bool {
    action.sa_sigaction == handler()
}

/// The handler. It only compares numbers, reads clocks, and has the system copy memory.
extern "C" fn copy_stack(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes the interrupted context to a handler with SA_SIGINFO. `errno` is this thread's own, and
    // is put back. Test: `sys::threads::stack::signal::tests::a_running_thread_copies_its_stack`.
    unsafe {
        let errno = *libc::__errno_location();
        let id = threads::id();
        ALL.iter().for_each(|slot| slot.answer(id, context));
        *libc::__errno_location() = errno;
    }
}
