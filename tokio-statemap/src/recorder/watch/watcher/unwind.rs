//! From the copy of a stack to the addresses of its functions, by the program's unwind tables.

use framehop::{ExplicitModuleSectionInfo, MustNotAllocateDuringUnwind, Unwinder as _};

use crate::sys::threads::stack::modules::{LoadedModule, loaded};
use crate::sys::threads::stack::{Registers, StackCopy};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64, UnwinderAarch64 as OfArch};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as OfArch};

/// The most frames of a stack. A poll is some dozens deep.
const MAX_FRAMES: usize = 128;

/// How many words of a stack are tried for a frame pointer that isn't known.
const MAX_TRIES: usize = 64;

/// Stands for a frame pointer that isn't known. 0 would be the end of the stack.
const UNKNOWN: u64 = 8;

/// Unwinds the stacks of this process.
pub(super) struct Unwinder {
    modules: Vec<LoadedModule>,
    tables: OfArch<Vec<u8>, MustNotAllocateDuringUnwind>,
    cache: Cache<MustNotAllocateDuringUnwind>,
}

/// The functions that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    /// An address within each, the innermost first: of a caller, within its call.
    pub(super) addresses: Vec<u64>,
    /// Whether the outermost is where the thread began.
    pub(super) is_complete: bool,
}

impl Unwinder {
    pub(super) fn new() -> Self {
        let mut unwinder =
            Self { modules: Vec::new(), tables: OfArch::new(), cache: Cache::new_in() };
        unwinder.load();
        unwinder
    }

    fn load(&mut self) {
        self.modules = loaded();
        self.tables = OfArch::new();
        self.cache = Cache::new_in();
        for module in &self.modules {
            let section = |address: u64, bytes: &[u8]| {
                let from = address.wrapping_sub(module.base);
                Some(from..from.saturating_add(bytes.len() as u64))
            };
            let info = ExplicitModuleSectionInfo {
                eh_frame_svma: section(module.eh_frame.address, &module.eh_frame.bytes),
                eh_frame: Some(module.eh_frame.bytes.clone()),
                eh_frame_hdr_svma: section(module.eh_frame_hdr.address, &module.eh_frame_hdr.bytes),
                eh_frame_hdr: Some(module.eh_frame_hdr.bytes.clone()),
                ..Default::default()
            };
            self.tables.add_module(framehop::Module::new(
                String::new(),
                module.range.clone(),
                module.base,
                info,
            ));
        }
    }

    /// The functions of a stack.
    pub(super) fn frames(&mut self, stack: &StackCopy) -> Frames {
        // A library may have been loaded since.
        if !self.is_code(stack.registers.instruction_pointer) {
            self.load();
        }
        let first = self.walk(stack, stack.registers.frame_pointer.unwrap_or(UNKNOWN));
        if first.is_complete || stack.registers.frame_pointer.is_some() {
            return first;
        }
        // Some function keeps its frame by the pointer that isn't known: it points at a word of the
        // stack that is followed by the address that the function returns to.
        let mut best = first;
        let may_be_frame = |address: &u64| {
            stack.word(address.wrapping_add(8)).is_some_and(|returns_to| self.is_code(returns_to))
        };
        let candidates: Vec<_> = stack.addresses().filter(may_be_frame).take(MAX_TRIES).collect();
        for candidate in candidates {
            let frames = self.walk(stack, candidate);
            if frames.is_complete && frames.addresses.len() > best.addresses.len() {
                return frames;
            }
            if frames.addresses.len() > best.addresses.len() {
                best = frames;
            }
        }
        best
    }

    fn walk(&mut self, stack: &StackCopy, frame_pointer: u64) -> Frames {
        let registers = unwind_registers(&stack.registers, frame_pointer);
        let mut word = |address| stack.word(address).ok_or(());
        let pc = stack.registers.instruction_pointer;
        let mut frames = self.tables.iter_frames(pc, registers, &mut self.cache, &mut word);
        let mut addresses = Vec::new();
        while addresses.len() < MAX_FRAMES {
            match frames.next() {
                Ok(Some(frame)) => addresses.push(frame.address_for_lookup()),
                Ok(None) => return Frames { addresses, is_complete: true },
                Err(_) => break,
            }
        }
        Frames { addresses, is_complete: false }
    }

    fn is_code(&self, address: u64) -> bool {
        self.modules.iter().any(|module| module.code.iter().any(|code| code.contains(&address)))
    }
}

#[cfg(target_arch = "x86_64")]
fn unwind_registers(registers: &Registers, frame_pointer: u64) -> UnwindRegsX86_64 {
    UnwindRegsX86_64::new(registers.instruction_pointer, registers.stack_pointer, frame_pointer)
}

#[cfg(target_arch = "aarch64")]
fn unwind_registers(registers: &Registers, frame_pointer: u64) -> UnwindRegsAarch64 {
    UnwindRegsAarch64::new(registers.link, registers.stack_pointer, frame_pointer)
}
