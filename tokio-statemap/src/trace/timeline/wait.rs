//! The places where tasks wait.

mod named;
mod resolve;
mod tree;
mod unnamed;

use std::sync::Arc;

pub(crate) use tree::{FILLED_CELL, SENDER};
pub(crate) use unnamed::UnnamedWaits;
#[cfg(feature = "read")]
pub(crate) use unnamed::{NamedCall, UnnamedChain};

use crate::symbols::{FrameOrigin, StackFrame, without_async};

/// The maximum number of functions of one wait and of all waits when data is read. A recording
/// keeps at most 8 chains of 128 functions per wait, and 2^20 functions in all.
#[cfg(feature = "read")]
pub(crate) const MOST_OF_WAIT: usize = 1 << 14;
#[cfg(feature = "read")]
pub(crate) const MOST_OF_WAITS: usize = 1 << 21;
/// The maximum nesting depth of functions when data is read.
#[cfg(feature = "read")]
pub(crate) const MOST_DEEP: usize = 1 << 10;

/// A function that a task is in while it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AwaitFrame {
    /// The function, and the line at which it waits.
    pub function: StackFrame,
    /// The functions that it awaits there: none for the innermost one, several if it polls several
    /// futures at once, as `join!` and `select!` do.
    pub awaits: Vec<AwaitFrame>,
    /// The name given to the call with [`Instrument`](crate::Instrument) or by the attribute, if it
    /// differs from the function's.
    pub name: Option<Arc<str>>,
    /// The index among the instrumented calls of the wait, if it is one.
    pub(crate) call: Option<u16>,
}

/// A place where a task waits: the functions from the task's own down to what they await.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The outermost functions: one, unless the stack could not be followed up to the task.
    pub frames: Vec<AwaitFrame>,
}

impl Wait {
    /// Returns the number of its functions and their nesting depth.
    #[cfg(all(feature = "symbols", feature = "read"))]
    pub(crate) fn size(&self) -> (usize, usize) {
        let mut open: Vec<_> = self.frames.iter().map(|frame| (frame, 0)).collect();
        let (mut functions, mut deepest) = (0, 0);
        while let Some((frame, depth)) = open.pop() {
            (functions, deepest) = (functions + 1, deepest.max(depth));
            open.extend(frame.awaits.iter().map(|next| (next, depth + 1)));
        }
        (functions, deepest)
    }

    /// Returns each path from the task down to something it waits for, outermost function first.
    pub fn chains(&self) -> Vec<Vec<&StackFrame>> {
        let mut chains = Vec::new();
        let mut chain = Vec::new();
        // The functions to visit, each with the number of those above it.
        let mut open = Vec::new();
        open_all(&mut open, &self.frames, 0);
        while let Some((frame, above)) = open.pop() {
            chain.truncate(above);
            chain.push(&frame.function);
            if frame.awaits.is_empty() {
                chains.push(chain.clone());
            }
            open_all(&mut open, &frame.awaits, above + 1);
        }
        chains
    }

    /// Returns the lines at which it waits: for each chain the innermost function of the program,
    /// or else of a dependency, and what is awaited there.
    pub fn lines(&self) -> Vec<WaitLine<'_>> {
        let mut lines = Vec::new();
        // Doesn't go through `chains`: a file may have many that share most of a deep one.
        let mut path = vec![Innermost::default()];
        let mut open = Vec::new();
        open_all(&mut open, &self.frames, 0);
        while let Some((frame, above)) = open.pop() {
            path.truncate(above + 1);
            let innermost = path[above].down_to(&frame.function);
            path.push(innermost);
            if frame.awaits.is_empty() {
                lines.extend(innermost.line());
            }
            open_all(&mut open, &frame.awaits, above + 1);
        }
        lines
    }
}

/// Adds functions to those to visit, so that the first is the next; `above` is the number of functions
/// above them.
fn open_all<'a>(open: &mut Vec<(&'a AwaitFrame, usize)>, frames: &'a [AwaitFrame], above: usize) {
    for frame in frames.iter().rev() {
        open.push((frame, above));
    }
}

/// The candidates for the line of a chain, down to one of its functions.
#[derive(Clone, Copy, Default)]
struct Innermost<'a> {
    of_program: Option<WaitLine<'a>>,
    of_dependency: Option<WaitLine<'a>>,
    outermost: Option<WaitLine<'a>>,
}

impl<'a> Innermost<'a> {
    fn down_to(mut self, function: &'a StackFrame) -> Self {
        let add = |line: &mut Option<WaitLine<'a>>| {
            if let Some(line) = line {
                line.awaits.get_or_insert(function);
            }
        };
        add(&mut self.of_program);
        add(&mut self.of_dependency);
        add(&mut self.outermost);
        let line = WaitLine { at: function, awaits: None };
        match function.origin {
            FrameOrigin::Program => self.of_program = Some(line),
            FrameOrigin::Dependency => self.of_dependency = Some(line),
            _ => {}
        }
        self.outermost.get_or_insert(line);
        self
    }

    fn line(self) -> Option<WaitLine<'a>> {
        self.of_program.or(self.of_dependency).or(self.outermost)
    }
}

/// An instrumented call in progress at the right edge.
#[derive(Debug)]
#[cfg_attr(feature = "read", derive(Clone, PartialEq, Eq))]
pub(crate) struct CallAtEnd {
    /// The time of its first poll, in ns.
    pub(crate) entered_ns: u64,
    /// Its arguments, formatted as the program asked for.
    pub(crate) fields: Option<String>,
}

/// Knowledge about the place where a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting<'a> {
    /// The task waits in these functions.
    At(&'a Wait),
    /// Nothing kept a waker of the task, so nothing will wake it: it awaits something like [`std::future::pending`],
    /// and can only be aborted.
    Nothing,
    /// The place is unknown: the task's waker wasn't seen, its stack could not be followed, it began to wait before the
    /// recording, or the program has no symbols (then the command `symbolize` may name it later).
    Unknown,
}

/// A line at which a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct WaitLine<'a> {
    /// The function and the line.
    pub at: &'a StackFrame,
    /// The function awaited there; `None` if that is `at` itself.
    pub awaits: Option<&'a StackFrame>,
}

impl std::fmt::Display for WaitLine<'_> {
    /// Writes it as in `async shop::checkout at src/shop.rs:61, for
    /// tokio::sync::mutex::Mutex::lock`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.at)?;
        match self.awaits {
            Some(awaits) => write!(f, ", for {}", without_async(&awaits.function)),
            None => Ok(()),
        }
    }
}
