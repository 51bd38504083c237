//! Finds the functions that other threads were in while polls waited for a lock, or for another thread in another way.

use super::blame::{is_same, tells_no_more};
use super::poll::PollAt;
use crate::trace::timeline::{FrameOrigin, StackFrame, Timeline};
use crate::util::map::Map;

/// A function that another thread was in while polls waited for a lock. It may hold that lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenBeside {
    /// The program's innermost function that was seen on another thread in at least two thirds of the polls with such
    /// samples, at the line at which it was seen first.
    pub frame: StackFrame,
    /// The program's functions that called it, the innermost first: up to two.
    pub callers: Vec<StackFrame>,
    /// The number of polls in which it was seen.
    pub seen_polls: u64,
    /// The number of polls of the function that waited.
    pub polls: u64,
}

/// The most stacks that are looked at.
const MOST_STACKS: usize = 1024;

/// The most functions of a stack that are looked at.
const MOST_FRAMES: usize = 64;

/// The least part of the polls in which other threads must be seen, as 1/n: of a single one, and of several. On a busy machine a thread
/// that is asked for its stack often has its turn too late.
const FEW: usize = 3;
const FEW_OF_SEVERAL: usize = 6;

/// A function: its name and its file.
type Function<'a> = (&'a str, Option<&'a str>);

fn function(frame: &StackFrame) -> Function<'_> {
    (&frame.function, frame.file.as_deref())
}

/// The functions of the program in a stack, the innermost first.
type Stack<'a> = Vec<&'a StackFrame>;

impl SeenBeside {
    /// Returns whether it was seen in too few of the polls to come before what else is known.
    pub(super) fn is_seldom(&self) -> bool {
        self.seen_polls.saturating_mul(FEW as u64) < self.polls
    }

    /// Finds what was seen in most of these polls, which are blamed on the function of `waiter`. Returns `None` if other
    /// threads were seen in few of them, as most waited for nothing, or if two threads were seen in most.
    pub(super) fn find(timeline: &Timeline, polls: &[PollAt], waiter: &StackFrame) -> Option<Self> {
        let mut left = MOST_STACKS;
        let (mut stacks, mut seen_beside) = (Vec::new(), 0);
        // In how many polls each function was seen, and in which last.
        let mut seen_in: Map<Function<'_>, (usize, usize)> = Map::default();
        for (nth, &(task, poll)) in polls.iter().enumerate() {
            let poll = &timeline.tasks.seen()[task].polls[poll];
            let known = stacks.len();
            for sample in timeline.samples_beside(poll).iter().take(left) {
                left -= 1;
                let stack = functions(&sample.frames);
                // It may only be about to wait for the same lock.
                if stack.is_empty() || stack.iter().any(|frame| is_same(frame, waiter)) {
                    continue;
                }
                for frame in &stack {
                    let (number, last) = seen_in.get_or_default(function(frame));
                    if *number == 0 || *last != nth {
                        (*number, *last) = (*number + 1, nth);
                    }
                }
                stacks.push(stack);
            }
            seen_beside += usize::from(stacks.len() > known);
        }
        let few = if seen_beside > 1 { FEW_OF_SEVERAL } else { FEW };
        if seen_beside == 0 || few * seen_beside < polls.len() {
            return None;
        }
        let number = |frame: &StackFrame| seen_in.get(&function(frame)).map_or(0, |seen| seen.0);
        // An async function of a task that is polled has done nothing for a lock but call what is seen to run.
        let is_often =
            |frame: &&StackFrame| !frame.is_async() && 3 * number(frame) >= 2 * seen_beside;
        let mut found: Option<&[&StackFrame]> = None;
        for stack in &stacks {
            let Some(first) = stack.iter().position(&is_often) else { continue };
            match found {
                // The same, or a caller of it.
                Some(found) if has(stack, found[0]) || has(found, stack[first]) => {}
                Some(_) => return None,
                None => found = Some(&stack[first..]),
            }
        }
        let [frame, outer @ ..] = found? else { return None };
        let mut callers: Vec<StackFrame> = Vec::new();
        for &caller in outer {
            if callers.len() < 2 && !tells_no_more(caller, callers.last().unwrap_or(frame)) {
                callers.push(caller.clone());
            }
        }
        Some(Self {
            frame: (*frame).clone(),
            callers,
            seen_polls: number(frame) as u64,
            polls: polls.len() as u64,
        })
    }
}

/// Returns the functions of the program in a stack.
fn functions(frames: &[StackFrame]) -> Stack<'_> {
    let mut functions = Vec::new();
    for frame in frames {
        if frame.origin == FrameOrigin::Program && functions.len() < MOST_FRAMES {
            functions.push(frame);
        }
    }
    functions
}

fn has(stack: &[&StackFrame], function: &StackFrame) -> bool {
    stack.iter().any(|frame| is_same(frame, function))
}
