//! Where tasks wait.

#[cfg(all(
    feature = "dwarf",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod in_memory;
mod named;
mod resolve;
mod tree;
mod unnamed;

use std::num::NonZeroU16;
use std::sync::Arc;

#[cfg(all(
    feature = "dwarf",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) use in_memory::of_memory;
#[cfg(feature = "read")]
pub(crate) use unnamed::UnnamedChain;
pub(crate) use unnamed::{NamedCall, UnnamedWaits};

use crate::recorder::waits::table::NOTHING;
use crate::symbols::{FrameOrigin, StackFrame};

/// How many functions one wait may have, and all: a reader of data takes no more. A program keeps 8 chains of 128
/// functions a wait, and 2^20 functions in all.
#[cfg(feature = "read")]
pub(crate) const MOST_OF_WAIT: usize = 1 << 14;
#[cfg(feature = "read")]
pub(crate) const MOST_OF_WAITS: usize = 1 << 21;
/// How deep they may be within one another.
#[cfg(feature = "read")]
pub(crate) const MOST_DEEP: usize = 1 << 10;

/// The number of a [`Wait`] of one timeline, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WaitId(NonZeroU16);

impl WaitId {
    /// How many there may be: a poll has 14 bits for it.
    pub(crate) const MOST: u16 = (1 << 14) - 1;
    /// The task waits, and nothing took its waker.
    pub(crate) const NOTHING: Self = match NonZeroU16::new(NOTHING) {
        Some(number) => Self(number),
        None => unreachable!(),
    };

    pub(crate) fn new(number: u16) -> Option<Self> {
        NonZeroU16::new(number).filter(|number| number.get() <= Self::MOST).map(Self)
    }

    pub(crate) fn number(self) -> u16 {
        self.0.get()
    }

    /// The index of its wait.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }
}

/// A function that a task is in while it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AwaitFrame {
    /// The function, and the line at which it waits.
    pub function: StackFrame,
    /// What it waits for there: none if it is what is waited for; several if it polls several futures at
    /// once, as `join!` and `select!` do.
    pub awaits: Vec<AwaitFrame>,
    /// The name that the call was given, with [`Instrument`](crate::Instrument) or by the attribute, if
    /// that is another than the function's.
    pub name: Option<Arc<str>>,
    /// The index among the instrumented calls of the wait, if it is one.
    pub(crate) call: Option<u16>,
}

/// Where a task waits: the functions from its own down to what they wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// The outermost functions: one, unless they could not be followed up to the task.
    pub frames: Vec<AwaitFrame>,
}

impl Wait {
    /// How many functions it has, and how deep they are within one another.
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

    /// Each way from the task down to one of the things that it waits for, the outermost function first.
    pub fn chains(&self) -> Vec<Vec<&StackFrame>> {
        let mut chains = Vec::new();
        let mut open: Vec<Vec<&AwaitFrame>> =
            self.frames.iter().rev().map(|frame| vec![frame]).collect();
        while let Some(chain) = open.pop() {
            let Some(last) = chain.last() else { continue };
            if last.awaits.is_empty() {
                chains.push(chain.iter().map(|frame| &frame.function).collect());
            }
            for next in last.awaits.iter().rev() {
                let mut longer = chain.clone();
                longer.push(next);
                open.push(longer);
            }
        }
        chains
    }

    /// The lines at which it waits: of each chain the innermost function of the program, or else of a
    /// dependency, and what is waited for there.
    pub fn lines(&self) -> Vec<WaitLine<'_>> {
        let mut lines = Vec::new();
        // Not by the chains: a file may have many that share most of a deep one.
        let mut open: Vec<(&AwaitFrame, Innermost<'_>)> =
            self.frames.iter().rev().map(|frame| (frame, Innermost::default())).collect();
        while let Some((frame, outer)) = open.pop() {
            let innermost = outer.down_to(&frame.function);
            if frame.awaits.is_empty() {
                lines.extend(innermost.line());
            }
            open.extend(frame.awaits.iter().rev().map(|next| (next, innermost)));
        }
        lines
    }
}

/// What is known of a chain down to one of its functions.
#[derive(Clone, Copy, Default)]
struct Innermost<'a> {
    of_program: Option<WaitLine<'a>>,
    of_dependency: Option<WaitLine<'a>>,
    outermost: Option<WaitLine<'a>>,
}

impl<'a> Innermost<'a> {
    fn down_to(mut self, function: &'a StackFrame) -> Self {
        let lines = [&mut self.of_program, &mut self.of_dependency, &mut self.outermost];
        lines.into_iter().flatten().for_each(|line| {
            line.awaits.get_or_insert(function);
        });
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

/// An instrumented call that goes on at the right edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallAtEnd {
    /// When it was first polled, in ns.
    pub(crate) entered_ns: u64,
    /// Its arguments, as the program wrote them.
    pub(crate) fields: Option<String>,
}

/// What is known of where a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting<'a> {
    /// In these functions.
    At(&'a Wait),
    /// Nothing took the waker that the task was polled with, so that nothing will wake it: it awaits
    /// something like [`std::future::pending`].
    Nothing,
    /// It isn't known: the task wasn't spawned through this crate, or began to wait before what was
    /// recorded.
    Unknown,
}

/// A line at which a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct WaitLine<'a> {
    /// The function and the line.
    pub at: &'a StackFrame,
    /// What is awaited there; `None` if that is the function itself.
    pub awaits: Option<&'a StackFrame>,
}

impl std::fmt::Display for WaitLine<'_> {
    /// `async shop::checkout at src/shop.rs:61, for tokio::sync::mutex::Mutex::lock`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.at)?;
        match self.awaits {
            Some(awaits) => write!(f, ", for {}", awaits.function.trim_start_matches("async ")),
            None => Ok(()),
        }
    }
}
