//! What other threads did while polls waited for a lock, or for another thread in another way.

use super::blame::is_same;
use super::poll::PollAt;
use crate::trace::timeline::{FrameOrigin, StackFrame, Timeline};

/// A function that another thread was in while polls waited for a lock. It may hold that lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeenBeside {
    /// The program's innermost function that was seen in two thirds of the polls or more, at the line at which it was seen
    /// first.
    pub frame: StackFrame,
    /// The program's functions that called it, the innermost first: up to two.
    pub callers: Vec<StackFrame>,
    /// The number of polls in which it was seen.
    pub seen_polls: u64,
    /// The number of polls in which any function of the program was seen in another thread.
    pub polls: u64,
}

/// The most stacks that are looked at.
const MOST_STACKS: usize = 1024;

/// Other threads must be seen in one of so many polls.
const FEW: usize = 3;

/// The functions of the program in a stack, the innermost first.
struct Stack<'a> {
    frames: Vec<&'a StackFrame>,
    /// `true` if its thread was on a processor, and not blocked.
    runs: bool,
}

impl Stack<'_> {
    fn has(&self, function: &StackFrame) -> bool {
        self.frames.iter().any(|frame| is_same(frame, function))
    }
}

impl SeenBeside {
    /// Finds what was seen in most of these polls, which are blamed on the function of `waiter`. Returns `None` if other
    /// threads were seen in few of them, as most waited for nothing, or if two threads were seen as often.
    pub(super) fn find(timeline: &Timeline, polls: &[PollAt], waiter: &StackFrame) -> Option<Self> {
        let mut left = MOST_STACKS;
        let mut of_polls: Vec<Vec<Stack<'_>>> = Vec::new();
        for &(task, poll) in polls {
            let mut stacks = Vec::new();
            let poll = &timeline.tasks.seen()[task].polls[poll];
            for sample in timeline.samples_beside(poll).iter().take(left) {
                left -= 1;
                let is_of_program = |frame: &&StackFrame| frame.origin == FrameOrigin::Program;
                let frames: Vec<_> = sample.frames.iter().filter(is_of_program).collect();
                let stack = Stack { frames, runs: sample.blocked_in.is_none() };
                // It may only be about to wait for the same lock.
                if !stack.frames.is_empty() && !stack.has(waiter) {
                    stacks.push(stack);
                }
            }
            if !stacks.is_empty() {
                of_polls.push(stacks);
            }
        }
        if FEW * of_polls.len() < polls.len() {
            return None;
        }
        let seen_polls = |function: &StackFrame| {
            let is_there =
                |stacks: &&Vec<Stack<'_>>| stacks.iter().any(|stack| stack.has(function));
            of_polls.iter().filter(is_there).count()
        };
        let mut known: Vec<&StackFrame> = Vec::new();
        // A thread that sleeps may just be idle, so one that runs comes first.
        let mut best: Option<((bool, usize), &[&StackFrame])> = None;
        let mut is_one = true;
        for stack in of_polls.iter().flatten() {
            let first = stack.frames.iter().position(|&function| {
                let is_new = !known.iter().any(|other| is_same(other, function));
                is_new && 3 * seen_polls(function) >= 2 * of_polls.len()
            });
            let Some(frames) = first.map(|first| &stack.frames[first..]) else { continue };
            known.push(frames[0]);
            let rank = (stack.runs, seen_polls(frames[0]));
            match best {
                Some((best, _)) if rank < best => {}
                // Of equals in one stack, the first is the innermost.
                Some((best, other)) if rank == best => {
                    is_one &=
                        frames.iter().any(|frame| is_same(frame, other[0])) || stack.has(other[0]);
                }
                _ => (best, is_one) = (Some((rank, frames)), true),
            }
        }
        let ((_, number), [frame, outer @ ..]) = best.filter(|_| is_one)? else { return None };
        let mut callers: Vec<StackFrame> = Vec::new();
        for &caller in outer {
            if callers.len() < 2 && !is_same(caller, callers.last().unwrap_or(frame)) {
                callers.push(caller.clone());
            }
        }
        Some(Self {
            frame: (*frame).clone(),
            callers,
            seen_polls: number as u64,
            polls: of_polls.len() as u64,
        })
    }
}
