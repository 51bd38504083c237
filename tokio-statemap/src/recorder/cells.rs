//! The addresses of live tasks in memory, from which their await trees can be read (feature `dwarf`).
//!
//! Tokio tells hooks a task's id, not where the task is. While the hook of a spawn runs, the functions that
//! called it have that address at hand: it is looked for among their registers and on their stack. An
//! address is known to be right by the id that is in the task's memory.

mod check;
#[cfg(all(test, tokio_unstable))]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Mutex, Once, OnceLock};

use crate::symbols::coroutines::cells::{AwaitNode, Cells, Memory, TABLE};
use crate::sys::threads::stack::at_hand::find_word;
use crate::sys::threads::stack::range::own_stack;
use crate::sys::threads::stack::read_memory;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The most tasks that are known at once.
const MAX_TASKS: usize = 1 << 18;

/// The number of bytes above the hook's argument that are searched for its callers' words.
const ABOVE: u64 = 2048;

/// The most addresses that are tried for one task: each takes a system call.
const MAX_TRIES: usize = 64;

/// The number of addresses tried last that aren't tried again.
const LAST_TRIES: usize = 16;

/// The alignment of tasks in Tokio.
const ALIGNMENT: u64 = 128;

/// The addresses of a process's memory.
const ADDRESSES: std::ops::Range<u64> = 1 << 16..1 << 48;

/// The bits of a task's state that tell that it is polled, or done.
const RUNNING_OR_COMPLETE: u64 = 0b11;

/// The tasks of one runtime.
#[derive(Debug, Default)]
pub(crate) struct TaskCells {
    /// `true` if tasks are looked for.
    is_on: AtomicBool,
    layout: OnceLock<Layout>,
    cells: Mutex<HashMap<u64, u64>>,
}

/// The layout of tasks in memory.
#[derive(Clone, Debug)]
struct Layout {
    /// The offset of a task's id in its memory, in bytes.
    id_offset: u64,
    /// The memory of the program, which has the tables of tasks' functions.
    program: Range<u64>,
}

/// The await tree that was read of a task.
#[derive(Clone, Debug)]
pub(crate) struct ReadTask {
    pub(crate) id: u64,
    /// The time when reading it began, in ticks.
    pub(crate) at: u64,
    pub(crate) awaits: AwaitNode,
}

/// The program's types, and the base of its addresses.
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
    /// Looks for tasks from now on, if their layout is as expected. If not, one line says so.
    pub(crate) fn start(&self) {
        match check::layout() {
            Ok(layout) => {
                self.layout.get_or_init(|| layout);
                self.is_on.store(true, Ordering::Release);
            }
            Err(problem) => {
                static ONCE: Once = Once::new();
                ONCE.call_once(|| warn_unknown(problem));
            }
        }
    }

    /// Returns how tasks are kept, while they are looked for.
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

    /// Returns what each known task awaits that isn't polled, of those that `wants` is true of, by id.
    ///
    /// The first call reads the program's debug information, on this thread. `now` is called before each task
    /// is read: what is returned of one that was polled since then may be nonsense.
    pub(crate) fn chains(
        &self,
        now: impl Fn() -> u64,
        wants: impl Fn(u64) -> bool,
    ) -> Vec<ReadTask> {
        let Some(layout) = self.layout() else { return Vec::new() };
        let mut all: Vec<(u64, u64)> =
            lock(&self.cells).iter().map(|(id, at)| (*id, *at)).collect();
        all.retain(|(id, _)| wants(*id));
        if all.is_empty() {
            return Vec::new();
        }
        let Some(program) = program() else {
            self.is_on.store(false, Ordering::Relaxed);
            lock(&self.cells).clear();
            return Vec::new();
        };
        all.sort_unstable();
        let read = |(id, cell): (u64, u64)| {
            let is_idle = || {
                let is_it = Own.word(cell.checked_add(layout.id_offset)?)? == id;
                (is_it && Own.word(cell)? & RUNNING_OR_COMPLETE == 0).then_some(())?;
                // A task that has terminated isn't known any more.
                (lock(&self.cells).get(&id) == Some(&cell)).then_some(())
            };
            let at = now();
            is_idle()?;
            let awaits = program.chain(cell)?;
            is_idle().map(|()| ReadTask { id, at, awaits })
        };
        let read = all.into_iter().filter_map(read).collect();
        // What was read is before whatever is asked about polls from here on.
        fence(Ordering::SeqCst);
        read
    }
}

impl Program {
    fn chain(&self, cell: u64) -> Option<AwaitNode> {
        self.cells.chain(cell, self.base, &Own)
    }
}

/// Returns the program, once it was found to be as expected. If it isn't, one line says so.
fn program() -> Option<&'static Program> {
    static PROGRAM: OnceLock<Option<Program>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| match check::program() {
        Ok(program) => Some(program),
        Err(problem) => {
            warn_unknown(&problem);
            None
        }
    });
    program.as_ref()
}

/// Prints that it isn't known what tasks await, and why.
fn warn_unknown(problem: &str) {
    warn(format_args!("what tasks await is not known (feature `dwarf`): {problem}"));
}

impl Layout {
    /// Returns the address of the task `id`, which is being spawned.
    fn find(&self, id: u64, argument: u64) -> Option<u64> {
        // Tokio makes a task on the stack and moves it to the heap: what it left behind looks like it.
        let stack = own_stack();
        let is_elsewhere = |word: &u64| !stack.contains(word) && !self.program.contains(word);
        // The same few addresses are in many places.
        let (mut last, mut tries) = ([0; LAST_TRIES], 0);
        let mut found = None;
        find_word(argument.saturating_add(ABOVE), |word| {
            let may_be = word % ALIGNMENT == 0 && ADDRESSES.contains(&word) && is_elsewhere(&word);
            if !may_be || last.contains(&word) {
                return false;
            }
            last[tries % LAST_TRIES] = word;
            tries += 1;
            if self.is_task(id, word) {
                found = Some(word);
            }
            found.is_some() || tries == MAX_TRIES
        });
        found
    }

    /// Returns whether the task `id` is at `address`. Its number alone may be anywhere.
    fn is_task(&self, id: u64, address: u64) -> bool {
        let is_of_program = |word: Option<u64>| word.filter(|word| self.program.contains(word));
        Own.word(address + self.id_offset) == Some(id)
            && is_of_program(Own.word(address + TABLE))
                .is_some_and(|table| is_of_program(Own.word(table)).is_some())
    }
}
