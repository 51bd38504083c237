//! Reads what a task awaits from its memory.
//!
//! Tokio keeps a task in a cell: a header with a pointer to a table of functions, the scheduler's data, the
//! task's id, and its stage, which has its future until the task is done. The table's function `poll<T, S>`
//! tells the type of the future.

mod code;
mod macros;
mod point;
mod walk;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::types::{Member, Shape};
use super::{Coroutines, Kind, TypeId};
use code::Code;
use macros::Awaitees;
use point::Point;

/// A function that a task is in, and what it awaits there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AwaitNode {
    /// The async fn, or that which the async block or closure is in, by its path; or the type of another
    /// future; or the macro that polls several.
    pub function: String,
    /// The kind of coroutine, if it is one.
    pub(crate) kind: Option<Kind>,
    /// The file of the function.
    pub file: Option<String>,
    /// The line of the `.await` that it is suspended at, or of the call of the macro that has it. `None` if
    /// that isn't known.
    pub line: Option<u32>,
    /// The futures that it awaits: more than one in `join!` or `select!`.
    pub children: Vec<AwaitNode>,
}

/// Memory that may not be there.
pub(crate) trait Memory {
    /// Copies from `address` on; returns whether all of it is there.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;

    /// Returns the word at an address.
    fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(address, &mut word).then(|| u64::from_ne_bytes(word))
    }
}

/// The offset in a cell of the pointer to its table of functions, in bytes.
pub(crate) const TABLE: u64 = 16;

/// The number of functions of the table that are looked at.
const FUNCTIONS: usize = 8;

/// The tasks' cells of a program.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    of: Coroutines<'a>,
    /// The futures of `poll`s, by the address of the `poll` in the file.
    futures: HashMap<u64, Option<Future>>,
    /// The types of futures behind `dyn Future`, by the address of their tables in the file.
    tables: HashMap<u64, TypeId>,
    awaitees: Awaitees,
    /// The suspend points that were looked at, by the types of their functions and their numbers.
    points: Mutex<Points>,
}

/// Unknown points are `None`.
type Points = HashMap<(TypeId, usize), Option<Arc<Point>>>;

/// The position of the future in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Future {
    /// The offset in the cell, in bytes.
    stage_offset: u64,
    stage: TypeId,
}

impl<'a> Cells<'a> {
    /// Reads the cells of the program in this file. An error says what is wrong with it.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let of = Coroutines::read(bytes)?;
        let code = Code::read(&of.sections, &of.index).map_err(super::damaged)?;
        if code.polls.is_empty() {
            return Err("no task's `poll` is in its debug information".to_owned());
        }
        // The compiler gives the same name to the same type in each of its units.
        let mut layouts: HashMap<String, Option<Future>> = HashMap::new();
        for cell in &code.cells {
            let Some((name, future)) = layout(&of, *cell) else { continue };
            let known = layouts.entry(name).or_insert(Some(future));
            // Two crates may have the same name: then the layout is ambiguous.
            if known.is_some_and(|known| known.stage_offset != future.stage_offset) {
                *known = None;
            }
        }
        let mut futures: HashMap<u64, Option<Future>> = HashMap::new();
        let mut names: HashMap<u64, String> = HashMap::new();
        for (address, of_future) in code.polls {
            let Some(name) = full_name(&of, of_future) else { continue };
            // The linker may have merged several functions: then the future is ambiguous.
            if names.get(&address).is_some_and(|known| *known != name) {
                futures.insert(address, None);
                continue;
            }
            let future = layouts.get(&name).copied().flatten();
            futures.entry(address).or_insert(future);
            names.insert(address, name);
        }
        Ok(Self {
            of,
            futures,
            tables: code.tables,
            awaitees: code.awaitees,
            points: Mutex::default(),
        })
    }

    /// Returns what the task awaits whose cell is at `cell`, in a program whose addresses begin at `base`.
    /// Returns `None` if that is unknown, or the task is done. If the task is polled meanwhile, the result
    /// must be discarded.
    pub(crate) fn chain(&self, cell: u64, base: u64, memory: &dyn Memory) -> Option<AwaitNode> {
        let table = memory.word(cell.checked_add(TABLE)?)?;
        let future = (0..FUNCTIONS as u64).find_map(|i| {
            let function = memory.word(table.checked_add(8 * i)?)?;
            self.futures.get(&function.wrapping_sub(base))
        });
        let future = (*future?)?;
        let stage = cell.checked_add(future.stage_offset)?;
        walk::Walk::new(self, base, memory).running(future.stage, stage)
    }
}

/// Returns the name of the type of a cell's future, and the position of the future.
fn layout(of: &Coroutines<'_>, cell: TypeId) -> Option<(String, Future)> {
    let core = member(of, cell, b"core")?;
    let stage = member(of, core.of_type, b"stage")?;
    let name = full_name(of, *of.type_of(cell)?.parameters.first()?)?;
    let stage_offset = core.offset.checked_add(stage.offset)?;
    Some((name, Future { stage_offset, stage: stage.of_type }))
}

fn member<'a>(of: &Coroutines<'a>, id: TypeId, name: &[u8]) -> Option<Member<'a>> {
    match &of.type_of(id)?.shape {
        Shape::Struct(members) => members.iter().find(|m| m.name.slice() == name).copied(),
        _ => None,
    }
}

fn full_name(of: &Coroutines<'_>, id: TypeId) -> Option<String> {
    let path = of.index.path(&of.sections, id);
    Some(format!("{path}::{}", of.type_of(id)?.name.to_string_lossy()))
}
