//! From the copy of a stack to the addresses of its functions, by the program's unwind tables.

mod calls;

use std::cell::Cell;
use std::ops::Range;

use framehop::{ExplicitModuleSectionInfo, MustNotAllocateDuringUnwind, Unwinder as _};

use calls::{Found, Functions, doubts, found_at};

use crate::sys::threads::stack::modules::{LoadedModule, changes, copy, loaded};
use crate::sys::threads::stack::{Registers, StackCopy};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64, UnwinderAarch64 as OfArch};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as OfArch};

/// The most frames of a stack. A poll is some dozens deep.
const MAX_FRAMES: usize = 128;

/// How many words of a stack are tried for a frame pointer that isn't known.
const MAX_TRIES: usize = 64;

/// How many frames a walk may be shorter than another to be preferred for a doubt less.
const FRAMES_A_DOUBT: usize = 4;

/// Stands for a frame pointer that isn't known. 0 would be the end of the stack.
const UNKNOWN: u64 = 8;

/// Unwinds the stacks of this process.
pub(super) struct Unwinder {
    modules: Vec<LoadedModule>,
    /// How many were loaded and unloaded before these were found.
    changes: (u64, u64),
    tables: OfArch<Vec<u8>, MustNotAllocateDuringUnwind>,
    cache: Cache<MustNotAllocateDuringUnwind>,
    functions: Vec<Functions>,
}

/// The functions that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frames {
    /// An address within each, the innermost first: of a caller, within its call.
    pub(super) addresses: Vec<u64>,
    /// Whether the outermost is where the thread began.
    pub(super) is_complete: bool,
}

/// One reading of a stack.
struct Walk {
    frames: Frames,
    /// What is found where the last function is called that is known for sure.
    found: Found,
    doubts: usize,
}

impl Walk {
    /// The less, the likelier it is the true one. The longest has so many frames.
    fn cost(&self, longest: usize) -> (bool, usize) {
        let frames = self.frames.addresses.len();
        match self.frames.is_complete {
            true => (false, self.doubts * FRAMES_A_DOUBT + longest.saturating_sub(frames)),
            // Of those that don't get to the end, the one that gets farthest.
            false => (true, MAX_FRAMES.saturating_sub(frames)),
        }
    }
}

impl Unwinder {
    pub(super) fn new() -> Self {
        let mut unwinder = Self {
            modules: Vec::new(),
            changes: (0, 0),
            tables: OfArch::new(),
            cache: Cache::new_in(),
            functions: Vec::new(),
        };
        unwinder.load();
        unwinder
    }

    fn load(&mut self) {
        self.changes = changes();
        self.modules = loaded();
        self.tables = OfArch::new();
        self.cache = Cache::new_in();
        self.functions.clear();
        for module in &self.modules {
            let in_file = |section: &Range<u64>| {
                section.start.wrapping_sub(module.base)..section.end.wrapping_sub(module.base)
            };
            let eh_frame_hdr = copy(&module.eh_frame_hdr);
            self.functions.push(Functions::of(module, &eh_frame_hdr));
            let info = ExplicitModuleSectionInfo {
                eh_frame_svma: Some(in_file(&module.eh_frame)),
                eh_frame: Some(copy(&module.eh_frame)),
                eh_frame_hdr_svma: Some(in_file(&module.eh_frame_hdr)),
                eh_frame_hdr: Some(eh_frame_hdr),
                ..Default::default()
            };
            let range = module.range.clone();
            self.tables.add_module(framehop::Module::new(String::new(), range, module.base, info));
        }
    }

    /// The functions of a stack.
    pub(super) fn frames(&mut self, stack: &StackCopy) -> Frames {
        // Code of no module, such as a JIT's, is no reason: it would be read anew for each stack.
        if changes() != self.changes {
            self.load();
        }
        if let Some(frame_pointer) = stack.registers.frame_pointer {
            return self.walk(stack, frame_pointer);
        }
        let known = self.walk(stack, UNKNOWN);
        let [.., callee] = known.addresses[..] else { return known };
        if known.is_complete {
            return known;
        }
        // The last function keeps its frame by the pointer that isn't known: it points at a word of the
        // stack that is followed by the address that the function returns to. Old frames have such words,
        // too, so it is above all the call of that function that is looked for.
        let may_be_frame = |address: &u64| {
            stack.word(address.wrapping_add(8)).is_some_and(|returns_to| self.is_code(returns_to))
        };
        let candidates: Vec<_> = stack.addresses().filter(may_be_frame).take(MAX_TRIES).collect();
        let mut walks = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let frames = self.walk(stack, candidate);
            let Some(&call) = frames.addresses.get(known.addresses.len()) else { continue };
            let found = found_at(call, callee, &self.functions);
            let doubts = doubts(&frames.addresses, &self.functions);
            if frames.is_complete && found == Found::TheCall && doubts == 0 {
                return frames;
            }
            walks.push(Walk { frames, found, doubts });
        }
        // A wrong one takes an old return address for a frame, which a call of another function shows; or
        // leaves out the functions up to one that calls by a pointer, which only its length shows.
        let complete = walks.iter().filter(|walk| walk.frames.is_complete);
        let longest = complete.map(|walk| walk.frames.addresses.len()).max().unwrap_or(0);
        let best = walks.into_iter().min_by_key(|walk| walk.cost(longest)); // of equals the first
        let Some(Walk { frames, found, .. }) = best else { return known };
        // Where some library has no tables, it is not known what else is wrong.
        Frames { is_complete: frames.is_complete && found > Found::Nothing, ..frames }
    }

    fn walk(&mut self, stack: &StackCopy, frame_pointer: u64) -> Frames {
        let registers = unwind_registers(&stack.registers, frame_pointer);
        // Where a thread begins the tables say so. Elsewhere a return address of 0 is no end: it was read
        // from a part of the stack that isn't a frame.
        let has_read = Cell::new(false);
        let mut word = |address| {
            has_read.set(true);
            stack.word(address).ok_or(())
        };
        let pc = stack.registers.instruction_pointer;
        let mut frames = self.tables.iter_frames(pc, registers, &mut self.cache, &mut word);
        let mut addresses = Vec::new();
        while addresses.len() < MAX_FRAMES {
            has_read.set(false);
            match frames.next() {
                Ok(Some(frame)) => addresses.push(frame.address_for_lookup()),
                Ok(None) => return Frames { addresses, is_complete: !has_read.get() },
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
