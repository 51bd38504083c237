//! From a stack to its functions, by the program's unwind tables.
//!
//! [`copied`] follows the copies of other threads' stacks, of which not all registers are known. [`own`] follows the
//! stack of the calling thread.

mod calls;
mod copied;
mod own;

pub(crate) use copied::Unwinder;
pub(crate) use own::{Return, prepare, returns};

use std::ops::Range;
use std::time::Instant;

use framehop::{ExplicitModuleSectionInfo, MustNotAllocateDuringUnwind, Unwinder as _};

use crate::sys::threads::stack::Registers;
use crate::sys::threads::stack::modules::{LoadedModule, changes, copy, loaded};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64, UnwinderAarch64 as OfArch};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as OfArch};

/// The most frames of a stack that is copied. A poll is some dozens deep.
const MAX_FRAMES: usize = 128;
/// The most frames of any stack. Without optimisation, boxed async functions take five frames each.
const MAX_FRAMES_OF_OWN: usize = 1024;

/// The unwind tables of the program and its libraries.
struct Tables {
    modules: Vec<LoadedModule>,
    /// The numbers of modules that were loaded and unloaded before these tables were read.
    changes: (u64, u64),
    loaded_at: Instant,
    /// `true` if some tables are missing.
    is_short: bool,
    tables: OfArch<Vec<u8>, MustNotAllocateDuringUnwind>,
    cache: Cache<MustNotAllocateDuringUnwind>,
}

impl Tables {
    fn new() -> Self {
        let mut tables = Self {
            modules: Vec::new(),
            changes: (0, 0),
            loaded_at: Instant::now(),
            is_short: false,
            tables: OfArch::new(),
            cache: Cache::new_in(),
        };
        tables.load();
        tables
    }

    /// Reads the tables anew if libraries were loaded or unloaded. Returns whether that is so. Code outside of modules,
    /// such as a JIT's, is no reason: then the tables would be read anew for each stack.
    fn refresh(&mut self) -> bool {
        let is_stale = changes() != self.changes;
        if is_stale {
            self.load();
        }
        is_stale
    }

    fn load(&mut self) {
        self.changes = changes();
        self.loaded_at = Instant::now();
        self.modules = loaded();
        self.is_short = self.modules.is_empty();
        self.tables = OfArch::new();
        self.cache = Cache::new_in();
        for module in &self.modules {
            let in_file = |section: &Range<u64>| {
                section.start.wrapping_sub(module.base)..section.end.wrapping_sub(module.base)
            };
            let eh_frame = copy(&module.eh_frame);
            self.is_short |= eh_frame.is_empty();
            let info = ExplicitModuleSectionInfo {
                eh_frame_svma: Some(in_file(&module.eh_frame)),
                eh_frame: Some(eh_frame),
                eh_frame_hdr_svma: Some(in_file(&module.eh_frame_hdr)),
                eh_frame_hdr: Some(copy(&module.eh_frame_hdr)),
                ..Default::default()
            };
            let range = module.range.clone();
            self.tables.add_module(framehop::Module::new(String::new(), range, module.base, info));
        }
    }

    /// Calls `frame` with an address in each function that a thread with these registers is in, the
    /// innermost first, until it returns `false`. Returns whether the last one is where the thread began.
    fn walk(
        &mut self,
        registers: &Registers,
        frame_pointer: u64,
        word: &dyn Fn(u64) -> Option<u64>,
        frame: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        let of_arch = unwind_registers(registers, frame_pointer);
        // The tables mark where a thread begins. Elsewhere a return address of 0 is no end: it was read from a part of
        // the stack that isn't a frame.
        let has_read = std::cell::Cell::new(false);
        // This is called by a pointer. Otherwise all that follows stacks would be compiled for each caller.
        let mut word: &dyn Fn(u64) -> Result<u64, ()> = &|address| {
            has_read.set(true);
            word(address).ok_or(())
        };
        let pc = registers.instruction_pointer;
        let mut frames = self.tables.iter_frames(pc, of_arch, &mut self.cache, &mut word);
        for _ in 0..MAX_FRAMES_OF_OWN {
            has_read.set(false);
            match frames.next() {
                Ok(Some(next)) if frame(next.address_for_lookup()) => {}
                Ok(None) => return !has_read.get(),
                _ => return false,
            }
        }
        false
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
