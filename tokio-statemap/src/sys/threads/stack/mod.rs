//! Copies of the stacks of other threads of this process, without debugger, privilege or frame
//! pointers.
//!
//! A thread that runs copies its own stack in a handler of SIGURG, which is ignored by default and
//! used in the same way by Go's runtime. A thread that is blocked is never signalled, as many a system
//! call would return EINTR: its stack is read from outside.

pub(crate) mod modules;
pub(crate) mod own;
pub(crate) mod range;
mod signal;
#[cfg(test)]
pub(crate) mod test_stacks;

use std::alloc::{Layout, alloc_zeroed};

use crate::sys::filter;
use crate::sys::threads::proc;

pub(crate) use signal::{Answer, Request, RunningStack, Unavailable};

/// The most bytes of a stack that are copied. Some hundred frames take 32 KiB, but a single frame may have an
/// array of 64 KiB or more (`miniz_oxide::deflate`).
pub(crate) const STACK_BYTES: usize = 256 << 10;

/// The registers that unwinding begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(crate) instruction_pointer: u64,
    pub(crate) stack_pointer: u64,
    /// `None` if unknown, as for a blocked thread.
    pub(crate) frame_pointer: Option<u64>,
    /// The return address, on processors that keep it in a register.
    pub(crate) link: u64,
}

/// A thread's stack at one moment, from its stack pointer on.
#[derive(Debug)]
pub(crate) struct StackCopy {
    pub(crate) registers: Registers,
    bytes: Vec<u8>,
}

impl StackCopy {
    /// Returns the word at `address` of the thread's stack, if it was copied.
    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        word_at(&self.bytes, address.checked_sub(self.registers.stack_pointer)?)
    }

    /// Returns the addresses of the words that were copied.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> + use<> {
        let from = self.registers.stack_pointer;
        (from.next_multiple_of(8)..from + self.bytes.len() as u64).step_by(8)
    }
}

/// Returns the stack of a thread that is blocked in `call`.
pub(crate) fn copy_blocked(call: &proc::SystemCall) -> Option<StackCopy> {
    let mut bytes = zeros(STACK_BYTES)?;
    let copied = read_memory(call.stack_pointer, &mut bytes);
    bytes.truncate(copied);
    let registers = Registers {
        instruction_pointer: call.instruction_pointer,
        stack_pointer: call.stack_pointer,
        frame_pointer: None,
        // Unknown; 0 would be the end of the stack.
        link: 8,
    };
    (copied > 0).then_some(StackCopy { registers, bytes })
}

/// Returns the word at an offset of a copy, if it is there.
fn word_at(bytes: &[u8], offset: u64) -> Option<u64> {
    let offset = usize::try_from(offset).ok()?;
    let bytes = bytes.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// Returns `len` zeros, or `None` if there is no memory left, which must not end the program.
fn zeros(len: usize) -> Option<Vec<u8>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let layout = Layout::array::<u8>(len).ok()?;
    // SAFETY: the size is over 0; the memory, if there is any, is all there for this vector, and zeros are
    // bytes. The memory is the system's own zeros, which `Vec` can't get with an allocation that may fail.
    // Test: `sys::threads::stack::tests::a_copy_too_large_is_refused`.
    unsafe {
        let memory = alloc_zeroed(layout);
        (!memory.is_null()).then(|| Vec::from_raw_parts(memory, len, len))
    }
}

/// The possibility to make copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Readable,
    /// It isn't tried, because a filter may end the program for it.
    Filtered,
    /// The system refuses the call by which this process reads memory.
    Denied,
    /// There is no memory left for a copy.
    Exhausted,
}

impl Memory {
    pub(crate) fn now() -> Self {
        if !filter::allows_all() {
            return Self::Filtered;
        }
        let here = [0_u8; 8];
        if read_memory(here.as_ptr().addr() as u64, &mut [0; 8]) < here.len() {
            return Self::Denied;
        }
        zeros(STACK_BYTES).map_or(Self::Exhausted, |_| Self::Readable)
    }
}

/// Copies memory of this process from `address` on. The copy ends where there is no memory, without a fault.
/// Async-signal-safe.
#[inline(never)]
pub(crate) fn read_memory(address: u64, into: &mut [u8]) -> usize {
    const PAGE: usize = 4096;
    const PARTS: usize = STACK_BYTES / PAGE + 1;
    if !filter::allows_all() {
        return 0;
    }
    let Ok(address) = usize::try_from(address) else { return 0 };
    // The system copies whole parts, so that none must reach into a page that isn't there.
    let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PARTS];
    let (mut from, mut rest, mut n) = (address, into.len().min(STACK_BYTES), 0);
    while rest > 0 {
        let len = (PAGE - from % PAGE).min(rest);
        parts[n] = libc::iovec { iov_base: std::ptr::without_provenance_mut(from), iov_len: len };
        let Some(next) = from.checked_add(len) else { break };
        (from, rest, n) = (next, rest - len, n + 1);
    }
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: the system writes at most the length of `into` to it, and reads memory without a fault. Another
    // thread may write to the memory meanwhile: the copy is bytes, of which nothing is assumed. Test:
    // `sys::threads::stack::tests::memory_that_is_not_there_ends_a_copy`.
    let read = unsafe {
        libc::process_vm_readv(libc::getpid(), &raw const local, 1, parts.as_ptr(), n as u64, 0)
    };
    usize::try_from(read).unwrap_or(0)
}

/// Waits for the stack of the thread `id`, which runs.
#[cfg(test)]
pub(crate) fn copy_running(id: i32) -> Result<StackCopy, Unavailable> {
    let request = Request::new(id, || 0)?;
    for _ in 0..200 {
        std::thread::sleep(std::time::Duration::from_micros(500));
        match request.answer() {
            Answer::Copied(RunningStack { stack, .. }) => return Ok(stack),
            Answer::Late => break,
            Answer::NotYet => {}
        }
    }
    Err(Unavailable::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_ends_a_copy() {
        let mut into = vec![0; 9000];
        let from: Vec<u8> = (0..9000_u32).map(|i| i as u8).collect();
        assert_eq!(read_memory(from.as_ptr().addr() as u64, &mut into), 9000);
        assert_eq!(into, from);
        for address in [0, 8, u64::MAX, u64::MAX - 4096] {
            assert_eq!(read_memory(address, &mut into), 0, "{address}");
        }
        // SAFETY: new memory of this test alone; its second page is taken away before it is read.
        unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
            let kind = kind | libc::MAP_ANONYMOUS;
            let memory = libc::mmap(std::ptr::null_mut(), 8192, access, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            libc::mprotect(memory.byte_add(4096), 4096, libc::PROT_NONE);
            assert_eq!(read_memory(memory.addr() as u64 + 96, &mut into), 4000);
            libc::munmap(memory, 8192);
        }
    }

    #[test]
    fn a_copy_too_large_is_refused() {
        assert_eq!(zeros(0), Some(Vec::new()));
        assert_eq!(zeros(100), Some(vec![0; 100]));
        for len in [1 << 60, usize::MAX] {
            assert_eq!(zeros(len), None);
        }
        assert_eq!(Memory::now(), Memory::Readable);
    }

    #[test]
    fn words_are_of_the_copy_alone() {
        let registers = Registers { stack_pointer: 1000, ..Registers::default() };
        let bytes = (0..20).collect();
        let copy = StackCopy { registers, bytes };
        assert_eq!(copy.word(1008), Some(u64::from_ne_bytes([8, 9, 10, 11, 12, 13, 14, 15])));
        for address in [0, 992, 999, 1013, u64::MAX] {
            assert_eq!(copy.word(address), None, "{address}");
        }
        assert_eq!(copy.addresses().collect::<Vec<_>>(), [1000, 1008, 1016]);
    }
}
