//! Facts about a thread from files in `/proc`.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read;

/// Returns the time for which the calling thread was ready so far but did not run, in ns: other threads ran,
/// or a limit of its control group was reached.
///
/// It is the second number of `schedstat` (Linux, `Documentation/scheduler/sched-stats.rst`).
pub(crate) fn run_delay_ns() -> Option<u64> {
    const PATH: &CStr = c"/proc/thread-self/schedstat";
    let mut buffer = [0; 96];
    let text = std::str::from_utf8(read_with_little_stack(PATH, &mut buffer)?).ok()?;
    nth_number(text, 1)
}

/// Returns the time that the host of a virtual machine took from its processors so far, in sum, in ns, in
/// steps of 10 ms; or `None` if the system doesn't report it.
///
/// It is the eighth number of `/proc/stat` (`proc(5)`).
pub(crate) fn stolen_ns() -> Option<u64> {
    let mut buffer = [0; 512];
    let text = read("/proc/stat", &mut buffer)?;
    let ticks = nth_number(text.split_once('\n')?.0, 8)?;
    // SAFETY: it only asks for a number. Test: `sys::threads::proc::tests::what_is_stolen_never_goes_back`.
    let a_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    ticks.checked_mul(1_000_000_000u64.checked_div(a_second)?)
}

/// Returns the `nth` word of a text, from 0 on, if it is a number.
fn nth_number(text: &str, nth: usize) -> Option<u64> {
    text.split_ascii_whitespace().nth(nth)?.parse().ok()
}

/// Reads the beginning of a file, as much as the buffer holds. The standard library would take 600 bytes of
/// stack, which a hook doesn't have.
fn read_with_little_stack<'a>(path: &CStr, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    // SAFETY: the path ends with a zero, and the buffer has that size; the descriptor is owned by this
    // function. Test: `sys::threads::proc::tests::the_run_delay_never_goes_back`.
    let read = unsafe {
        let file = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let read = libc::read(file, buffer.as_mut_ptr().cast(), buffer.len());
        libc::close(file);
        read
    };
    buffer.get(..usize::try_from(read).ok()?)
}

/// The scheduling state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// It runs or waits for a processor.
    Runnable,
    /// It is blocked.
    Blocked,
    /// It has ended, or the system doesn't report its state.
    Unknown,
}

/// Returns the ids of the threads of this process.
pub(crate) fn threads() -> Vec<i32> {
    let mut ids = Vec::new();
    let Ok(entries) = std::fs::read_dir("/proc/self/task") else { return ids };
    for entry in entries.flatten() {
        ids.extend(entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    ids
}

/// Returns the state of the thread `id` of this process.
pub(crate) fn state(id: i32) -> ThreadState {
    let mut buffer = [0; 512];
    let path = format!("/proc/self/task/{id}/stat");
    let bytes = read_bytes(&path, &mut buffer).unwrap_or_default();
    // Its name, which may hold any bytes, is in brackets.
    for at in (0..bytes.len()).rev() {
        match &bytes[at..] {
            [b')', b' ', b'R', ..] => return ThreadState::Runnable,
            [b')', b' ', b'S' | b'D', ..] => return ThreadState::Blocked,
            [b')', b' ', ..] => break,
            _ => {}
        }
    }
    ThreadState::Unknown
}

/// Returns a number that grows whenever the thread `id` of this process gets a processor or blocks, or `None`
/// if it has ended.
///
/// It is the third number of `schedstat`, which is read in a tenth of the time that the number of voluntary
/// switches takes. That is the fallback where the kernel was built without `CONFIG_SCHED_INFO`.
pub(crate) fn turns(id: i32) -> Option<u64> {
    let mut buffer = [0; 96];
    let text = read(&format!("/proc/self/task/{id}/schedstat"), &mut buffer);
    match text.and_then(|text| nth_number(text, 2)) {
        Some(turns) => Some(turns),
        None => status(id, "\nvoluntary_ctxt_switches:", 10),
    }
}

/// Returns the signals that the thread `id` of this process blocks: bit n is the signal n + 1. A handler
/// blocks its own signal, too.
pub(crate) fn blocked_signals(id: i32) -> Option<u64> {
    status(id, "\nSigBlk:", 16)
}

/// Returns the number of `key` in the status of the thread `id` of this process.
fn status(id: i32, key: &str, radix: u32) -> Option<u64> {
    // A set of processors is in it, which may be long.
    let mut buffer = [0; 8192];
    let text = read(&format!("/proc/self/task/{id}/status"), &mut buffer)?;
    let (_, rest) = text.split_once(key)?;
    let (number, _) = rest.split_once('\n')?;
    u64::from_str_radix(number.trim(), radix).ok()
}

/// The system call that a thread is blocked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemCall {
    /// Its number; [`PAGE_FAULT`] if it is in none.
    pub(crate) number: i64,
    /// Its first argument: often a descriptor.
    pub(crate) first: u64,
    /// The thread's stack pointer.
    pub(crate) stack_pointer: u64,
    /// The address at which the thread continues.
    pub(crate) instruction_pointer: u64,
}

/// Stands for the number of a system call of a thread that is blocked by a page fault: the page is yet to be
/// read, from a disk or by a handler of that memory's faults (`userfaultfd`).
pub(crate) const PAGE_FAULT: i64 = -1;

/// Stands for the number of an unknown system call.
pub(crate) const UNKNOWN_CALL: i64 = -2;

/// Returns the call that the thread `id` of this process is blocked in, or `None` if it isn't blocked.
pub(crate) fn system_call(id: i32) -> Option<SystemCall> {
    let mut buffer = [0; 256];
    SystemCall::parse(read(&format!("/proc/self/task/{id}/syscall"), &mut buffer)?)
}

/// Returns `true` if this process may read the calls that its threads are blocked in.
pub(crate) fn tells_calls() -> bool {
    read("/proc/thread-self/syscall", &mut [0; 8]).is_some()
}

impl SystemCall {
    /// Parses the file: the call's number, six arguments, the stack pointer and the instruction pointer; or
    /// `-1` and the pointers; or `running`.
    fn parse(text: &str) -> Option<Self> {
        let mut words = Vec::new();
        for word in text.split_ascii_whitespace() {
            words.push(word);
        }
        let (number, first, [stack_pointer, instruction_pointer]) = match words[..] {
            [number, first, _, _, _, _, _, sp, ip] => {
                let number: u64 = number.parse().ok()?;
                (i64::try_from(number).ok()?, first, [sp, ip])
            }
            ["-1", sp, ip] => (PAGE_FAULT, "0x0", [sp, ip]),
            _ => return None,
        };
        let hexadecimal = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        Some(Self {
            number,
            // Descriptors are 32 bits wide, whatever else is in the register.
            first: hexadecimal(first)? & u64::from(u32::MAX),
            stack_pointer: hexadecimal(stack_pointer)?,
            instruction_pointer: hexadecimal(instruction_pointer)?,
        })
    }
}

/// Returns the target of the descriptor `fd` of this process: a path, or a word such as `socket:[7]`.
pub(crate) fn descriptor(fd: u64) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

/// Reads the beginning of a text file, as much as the buffer holds.
fn read<'a>(path: &str, buffer: &'a mut [u8]) -> Option<&'a str> {
    std::str::from_utf8(read_bytes(path, buffer)?).ok()
}

fn read_bytes<'a>(path: &str, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    let read = File::open(path).ok()?.read(buffer).ok()?;
    buffer.get(..read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::threads;
    use std::sync::mpsc;

    #[test]
    fn a_blocked_thread_has_its_call() {
        let (tell, told) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            tell.send(threads::id()).unwrap();
            wait.recv().ok();
        });
        let id = told.recv().unwrap();
        while state(id) != ThreadState::Blocked {
            std::thread::yield_now();
        }
        let call = system_call(id).unwrap();
        assert_eq!(call.number, libc::SYS_futex);
        assert!(call.stack_pointer != 0 && call.instruction_pointer != 0);
        drop(go_on);
        other.join().unwrap();
        wait_until_gone(id);
        assert_eq!(system_call(id), None);
        assert_eq!(state(threads::id()), ThreadState::Runnable);
        assert!(tells_calls());
    }

    #[test]
    fn a_thread_may_be_blocked_in_no_call() {
        let call = SystemCall::parse("0 0xffffffff00000007 0x1 0x2 0x0 0x0 0x0 0x7ffc10 0x55aa\n");
        let (stack_pointer, instruction_pointer) = (0x7ffc10, 0x55aa);
        let read = SystemCall { number: 0, first: 7, stack_pointer, instruction_pointer };
        assert_eq!(call, Some(read));
        let fault = SystemCall::parse("-1 0x7ffc10 0x55aa\n");
        assert_eq!(fault, Some(SystemCall { number: PAGE_FAULT, first: 0, ..read }));
        for text in ["running\n", "", "7 0x1 0x2\n", "-1 0x7ffc10\n", "-1 7 8\n"] {
            assert_eq!(SystemCall::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_sleep_is_a_block() {
        let before = turns(threads::id()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(turns(threads::id()).unwrap() > before);
        let ended = std::thread::spawn(threads::id).join().unwrap();
        wait_until_gone(ended);
        assert_eq!(turns(ended), None);
    }

    /// Waits until a joined thread is gone, which takes a moment.
    fn wait_until_gone(id: i32) {
        while state(id) != ThreadState::Unknown {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_thread_that_blocks_a_signal_is_known() {
        let blocks = || blocked_signals(threads::id()).unwrap() & 1 << (libc::SIGSEGV - 1) != 0;
        assert!(!blocks());
        // SAFETY: a set of this function's own is filled in and used for this thread, which is blocked for
        // no longer than the call within.
        let is_blocked = unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, libc::SIGSEGV);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            let is_blocked = blocks();
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            is_blocked
        };
        assert!(is_blocked);
    }

    #[test]
    fn the_run_delay_never_goes_back() {
        let before = run_delay_ns().unwrap();
        std::thread::yield_now();
        assert!(run_delay_ns().unwrap() >= before);
    }

    #[test]
    fn what_is_stolen_never_goes_back() {
        let before = stolen_ns().unwrap();
        assert!(stolen_ns().unwrap() >= before);
        assert_eq!(before % 1_000_000, 0);
    }

    #[test]
    fn a_descriptor_has_its_path() {
        use std::os::fd::AsRawFd;
        let file = File::open("/dev/null").unwrap();
        let fd = u64::try_from(file.as_raw_fd()).unwrap();
        assert_eq!(descriptor(fd).as_deref(), Some("/dev/null"));
        assert_eq!(descriptor(u64::MAX), None);
    }
}
