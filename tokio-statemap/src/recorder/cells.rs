//! Where each live task is in memory, so that what it awaits can be read from there (the feature `dwarf`).
//!
//! Tokio tells hooks a task's id, not where the task is. While the hook of a spawn runs, the functions that
//! called it have that address at hand: it is looked for among their registers and on their stack. An
//! address is known to be right by the id that is in the task's memory.

mod check;
#[cfg(all(test, tokio_unstable))]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::symbols::coroutines::cells::{AwaitNode, Cells, Memory, TABLE};
use crate::sys::threads::stack::at_hand::find_word;
use crate::sys::threads::stack::read_memory;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The most tasks that are known at once.
const MAX_TASKS: usize = 1 << 18;

/// How far above the hook's argument its callers' words are looked at, in bytes.
const ABOVE: u64 = 2048;

/// How many addresses are tried for one task: each takes a system call.
const MAX_TRIES: u32 = 64;

/// Tokio aligns tasks so.
const ALIGNMENT: u64 = 128;

/// Where memory of a process is.
const ADDRESSES: std::ops::Range<u64> = 1 << 16..1 << 48;

/// The bits of a task's state that tell that it is polled, or done.
const RUNNING_OR_COMPLETE: u64 = 0b11;

/// The tasks of one runtime.
#[derive(Debug, Default)]
pub(crate) struct TaskCells {
    /// Whether tasks are looked for.
    is_on: AtomicBool,
    layout: OnceLock<Layout>,
    cells: Mutex<HashMap<u64, u64>>,
}

/// How tasks are kept.
#[derive(Clone, Debug)]
struct Layout {
    /// Where a task's id is in its memory, in bytes.
    id_offset: u64,
    /// What the program takes of memory: tables of tasks' functions are in there.
    program: Range<u64>,
}

/// The program's types, and where its addresses begin.
struct Program {
    cells: Cells<'static>,
    base: u64,
}

/// This process's memory.
struct Own;

impl Memory for Own {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        read_memory(address, into) == into.len()
    }
}

impl TaskCells {
    /// Looks for tasks from now on, if they are as they are expected to be. If not, one line says so.
    pub(crate) fn start(&self) {
        match check::layout() {
            Ok(layout) => {
                self.layout.get_or_init(|| layout);
                self.is_on.store(true, Ordering::Release);
            }
            Err(problem) => say(problem),
        }
    }

    /// How tasks are kept, while they are looked for.
    fn layout(&self) -> Option<&Layout> {
        self.is_on.load(Ordering::Acquire).then(|| self.layout.get())?
    }

    /// Notes the task `id`, whose hook has its argument at `argument`.
    #[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "there are no hooks of tasks"))]
    pub(crate) fn spawned(&self, id: u64, argument: u64) {
        let Some(layout) = self.layout() else { return };
        if let Some(cell) = layout.find(id, argument) {
            let mut cells = lock(&self.cells);
            if cells.len() < MAX_TASKS {
                cells.insert(id, cell);
            }
        }
    }

    #[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "there are no hooks of tasks"))]
    pub(crate) fn terminated(&self, id: u64) {
        if self.layout().is_some() {
            lock(&self.cells).remove(&id);
        }
    }

    /// What each task awaits that is known and isn't polled, by its id.
    ///
    /// `is_idle` returns a number of a task that isn't being polled, another after each of its polls. It is
    /// asked before and after a task's memory is read, and what was read is kept if it returns the same.
    ///
    /// The first call reads the program's debug information.
    pub(crate) fn chains(&self, is_idle: impl Fn(u64) -> Option<u64>) -> Vec<(u64, AwaitNode)> {
        let Some(layout) = self.layout() else { return Vec::new() };
        let Some(program) = program() else {
            self.is_on.store(false, Ordering::Relaxed);
            lock(&self.cells).clear();
            return Vec::new();
        };
        let mut all: Vec<(u64, u64)> =
            lock(&self.cells).iter().map(|(id, at)| (*id, *at)).collect();
        all.sort_unstable();
        let chain = |(id, cell): (u64, u64)| {
            let state = || {
                let is_it = Own.word(cell.checked_add(layout.id_offset)?)? == id;
                let state = Own.word(cell)?;
                (is_it && state & RUNNING_OR_COMPLETE == 0).then_some(())?;
                // A task that has terminated isn't known any more.
                let is_known = lock(&self.cells).get(&id) == Some(&cell);
                is_known.then(|| is_idle(id)).flatten()
            };
            let before = state()?;
            let chain = program.chain(cell)?;
            (state() == Some(before)).then_some((id, chain))
        };
        all.into_iter().filter_map(chain).collect()
    }
}

impl Program {
    fn chain(&self, cell: u64) -> Option<AwaitNode> {
        self.cells.chain(cell, self.base, &Own)
    }
}

/// The program, once it was found to be as expected. If it isn't, one line says so.
fn program() -> Option<&'static Program> {
    static PROGRAM: OnceLock<Option<Program>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| match check::program() {
        Ok(program) => Some(program),
        Err(problem) => {
            say(&problem);
            None
        }
    });
    program.as_ref()
}

fn say(problem: &str) {
    warn(format_args!("what tasks await is not known (feature `dwarf`): {problem}"));
}

impl Layout {
    /// The address of the task `id`, which is being spawned.
    fn find(&self, id: u64, argument: u64) -> Option<u64> {
        let (mut found, mut before, mut tries) = (None, 0, 0);
        find_word(argument.saturating_add(ABOVE), |word| {
            if word % ALIGNMENT != 0 || !ADDRESSES.contains(&word) || word == before {
                return false;
            }
            before = word;
            tries += 1;
            if self.is_task(id, word) {
                found = Some(word);
            }
            found.is_some() || tries == MAX_TRIES
        });
        found
    }

    /// Whether the task `id` is at `address`. Its number alone may be anywhere.
    fn is_task(&self, id: u64, address: u64) -> bool {
        let is_of_program = |word: Option<u64>| word.filter(|word| self.program.contains(word));
        Own.word(address + self.id_offset) == Some(id)
            && is_of_program(Own.word(address + TABLE))
                .is_some_and(|table| is_of_program(Own.word(table)).is_some())
    }
}
