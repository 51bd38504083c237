//! Finds the addresses of functions in the copy of a stack, by the program's unwind tables.

use std::cmp::Reverse;
use std::time::Duration;

use super::calls::{Found, Functions, doubts, found_at};
use super::{MAX_FRAMES, Tables};
use crate::sys::threads::stack::StackCopy;
use crate::sys::threads::stack::modules::copy;
use crate::util::sort::by_key;

/// The most words of a stack that are tried for an unknown frame pointer.
const MAX_TRIES: usize = 64;

/// A walk with one doubt less may be this many frames shorter, and is preferred.
const FRAMES_A_DOUBT: usize = 4;

/// Stands for an unknown frame pointer. 0 would be the end of the stack.
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
    /// An address within each function, the innermost first. For a caller, it is within the call.
    pub(crate) addresses: Vec<u64>,
    /// `true` if the outermost function is where the thread began.
    pub(crate) is_complete: bool,
}

/// One reading of a stack.
struct Walk {
    frames: Frames,
    /// The evidence for the call of the last function that is known for sure.
    found: Found,
}

/// Returns the reading that is most likely true. A wrong reading may take an old return address for a frame, which
/// shows in a call of another function. Or it leaves out the functions up to one that calls by a pointer, which shows
/// only in its length.
fn likeliest(mut walks: Vec<Walk>, functions: &[Functions]) -> Option<Walk> {
    // Readings that get to the end come first. Of the others, the one that gets farthest does.
    let longest =
        |Walk { frames, .. }: &Walk| Reverse((frames.is_complete, frames.addresses.len()));
    by_key(&mut walks, longest);
    let most = walks.first()?.frames.addresses.len();
    let (mut best, mut least_cost) = (0, usize::MAX);
    for (nth, Walk { frames, .. }) in walks.iter().enumerate() {
        let missing = most.saturating_sub(frames.addresses.len());
        // Looking for doubts takes longer than walking. Even without doubts, this walk and those after it cost more.
        if !frames.is_complete || missing >= least_cost {
            break;
        }
        let cost = doubts(&frames.addresses, functions) * FRAMES_A_DOUBT + missing;
        if cost < least_cost {
            (best, least_cost) = (nth, cost);
        }
    }
    walks.into_iter().nth(best)
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
            // There may be memory for the tables now.
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
        // The last function keeps its frame by the unknown pointer, which points at a word of the stack that is
        // followed by the address that the function returns to. Old frames have such words, too, so the call of that
        // function counts most.
        let (mut walks, mut others) = (Vec::new(), Vec::new());
        for (candidate, returns_to) in self.candidates(stack) {
            // A walk takes ten times as long as a look at this one call.
            if found_at(returns_to.wrapping_sub(1), callee, &self.functions) != Found::TheCall {
                others.push(candidate);
                continue;
            }
            let Some(walk) = self.walk_beyond(&known, callee, stack, candidate) else { continue };
            let is_likely = walk.frames.is_complete && walk.found == Found::TheCall;
            if is_likely && doubts(&walk.frames.addresses, &self.functions) == 0 {
                return walk.frames;
            }
            walks.push(walk);
        }
        for candidate in others {
            walks.extend(self.walk_beyond(&known, callee, stack, candidate));
        }
        let Some(Walk { frames, found }) = likeliest(walks, &self.functions) else { return known };
        // If some library has no tables, it isn't known what else is wrong.
        Frames { is_complete: frames.is_complete && found > Found::Nothing, ..frames }
    }

    /// Returns the words of a stack that may be a frame pointer, each with the address that follows it in the stack.
    fn candidates(&self, stack: &StackCopy) -> Vec<(u64, u64)> {
        let mut candidates = Vec::new();
        for candidate in stack.addresses() {
            match stack.word(candidate.wrapping_add(8)) {
                Some(returns_to) if self.is_code(returns_to) => {
                    candidates.push((candidate, returns_to))
                }
                _ => continue,
            }
            if candidates.len() == MAX_TRIES {
                break;
            }
        }
        candidates
    }

    /// Follows a stack by a frame pointer. `None` if that gets no farther than the `known` functions, of which `callee`
    /// is the last.
    fn walk_beyond(
        &mut self,
        known: &Frames,
        callee: u64,
        stack: &StackCopy,
        frame_pointer: u64,
    ) -> Option<Walk> {
        let frames = self.walk(stack, frame_pointer);
        let call = *frames.addresses.get(known.addresses.len())?;
        Some(Walk { found: found_at(call, callee, &self.functions), frames })
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

    /// Returns whether some tables for following a stack couldn't be read.
    pub(crate) fn lacks_tables(&self) -> bool {
        self.tables.is_short
    }

    /// Returns whether there is code of the program or a library at `address`.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        let modules = &self.tables.modules;
        modules.iter().any(|module| module.code.iter().any(|code| code.contains(&address)))
    }
}
