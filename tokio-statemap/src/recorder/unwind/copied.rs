//! Finds the addresses of functions in the copy of a stack, by the program's unwind tables.

use std::time::Duration;

use super::calls::{Found, Functions, doubts, found_at};
use super::{MAX_FRAMES, Tables};
use crate::sys::threads::stack::StackCopy;
use crate::sys::threads::stack::modules::copy;

/// The number of words of a stack that are tried for a frame pointer that isn't known.
const MAX_TRIES: usize = 64;

/// The number of frames by which a walk may be shorter than another and be preferred for a doubt less.
const FRAMES_A_DOUBT: usize = 4;

/// Stands for a frame pointer that isn't known. 0 would be the end of the stack.
const UNKNOWN: u64 = 8;

/// The time after which tables that could not be read are tried again, which takes milliseconds.
const RETRY: Duration = Duration::from_secs(5);

/// Unwinds the stacks of this process.
pub(crate) struct Unwinder {
    tables: Tables,
    functions: Vec<Functions>,
}

/// The functions that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    /// An address within each, the innermost first: of a caller, within its call.
    pub(crate) addresses: Vec<u64>,
    /// `true` if the outermost is where the thread began.
    pub(crate) is_complete: bool,
}

/// One reading of a stack.
struct Walk {
    frames: Frames,
    /// The evidence where the last function is called that is known for sure.
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
    pub(crate) fn new() -> Self {
        let mut unwinder = Self { tables: Tables::new(), functions: Vec::new() };
        unwinder.find_functions();
        unwinder
    }

    fn find_functions(&mut self) {
        self.functions.clear();
        for module in &self.tables.modules {
            self.functions.push(Functions::from_module(module, &copy(&module.eh_frame_hdr)));
        }
    }

    /// Returns the functions of a stack.
    pub(crate) fn frames(&mut self, stack: &StackCopy) -> Frames {
        if self.tables.refresh() {
            self.find_functions();
        } else if self.lacks_tables() && self.tables.loaded_at.elapsed() > RETRY {
            // There may be memory for them now.
            self.tables.load();
            self.find_functions();
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
        let (mut walks, mut tries) = (Vec::new(), 0);
        for candidate in stack.addresses() {
            match stack.word(candidate.wrapping_add(8)) {
                Some(returns_to) if self.is_code(returns_to) => tries += 1,
                _ => continue,
            }
            if tries > MAX_TRIES {
                break;
            }
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
        let mut longest = 0;
        for Walk { frames, .. } in &walks {
            if frames.is_complete {
                longest = longest.max(frames.addresses.len());
            }
        }
        crate::util::sort::by_key(&mut walks, |walk| walk.cost(longest)); // of equals the first
        let Some(Walk { frames, found, .. }) = walks.into_iter().next() else { return known };
        // Where some library has no tables, it is not known what else is wrong.
        Frames { is_complete: frames.is_complete && found > Found::Nothing, ..frames }
    }

    fn walk(&mut self, stack: &StackCopy, frame_pointer: u64) -> Frames {
        let mut addresses = Vec::new();
        let word = |address| stack.word(address);
        let frame = &mut |address| {
            addresses.push(address);
            addresses.len() < MAX_FRAMES
        };
        let is_complete = self.tables.walk(&stack.registers, frame_pointer, &word, frame);
        Frames { addresses, is_complete }
    }

    /// Returns whether not all could be read that it takes to follow a stack.
    pub(crate) fn lacks_tables(&self) -> bool {
        self.tables.is_short
    }

    /// Returns whether there is code of the program or a library at `address`.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        let modules = &self.tables.modules;
        modules.iter().any(|module| module.code.iter().any(|code| code.contains(&address)))
    }
}
