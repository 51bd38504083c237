//! From the memory of a task to what it awaits.
//!
//! Tokio keeps a task in a cell: a header, of which one field points to a table of functions, then what the
//! scheduler needs, the task's id, and its stage: its future, until it is done. The table's function
//! `poll<T, S>` says which type the future is of.

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

/// What a task awaits: one function, and what is awaited in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AwaitNode {
    /// The async fn, or that which the async block or closure is in, by its path; or the type of another
    /// future; or the macro that polls several.
    pub function: String,
    /// As what it was written, if it is a function.
    pub(crate) kind: Option<Kind>,
    /// The file of the function.
    pub file: Option<String>,
    /// The line of the `.await` that it is suspended at, or of the call of the macro that has it. `None` if
    /// that isn't known.
    pub line: Option<u32>,
    /// What it awaits: more than one future in `join!` or `select!`.
    pub children: Vec<AwaitNode>,
}

/// Memory that may not be there.
pub(crate) trait Memory {
    /// Copies from `address` on; returns whether all of it is there.
    fn read(&self, address: u64, into: &mut [u8]) -> bool;

    /// The word at an address.
    fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        self.read(address, &mut word).then(|| u64::from_ne_bytes(word))
    }
}

/// Where a cell has the address of its table of functions, in bytes.
pub(crate) const TABLE: u64 = 16;

/// How many functions of the table are looked at.
const FUNCTIONS: usize = 8;

/// The tasks' cells of a program.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    of: Coroutines<'a>,
    /// What the futures are that a `poll` is of, by its address in the file.
    futures: HashMap<u64, Option<Future>>,
    /// The types of futures behind `dyn Future`, by the address of their tables in the file.
    tables: HashMap<u64, TypeId>,
    awaitees: Awaitees,
    /// The suspend points that were looked at, by the types of their functions and their numbers.
    points: Mutex<Points>,
}

/// Those of which nothing is known are `None`.
type Points = HashMap<(TypeId, usize), Option<Arc<Point>>>;

/// Where the future is in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Future {
    /// From the beginning of the cell, in bytes.
    stage_offset: u64,
    stage: TypeId,
}

impl<'a> Cells<'a> {
    /// Those of the program in this file; an error is what is wrong with it.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let of = Coroutines::read(bytes)?;
        let code = Code::of(&of.sections, &of.index).map_err(super::damaged)?;
        if code.polls.is_empty() {
            return Err("no task's `poll` is in its debug information".to_owned());
        }
        // The compiler gives the same name to the same type in each of its units.
        let mut layouts: HashMap<String, Option<Future>> = HashMap::new();
        for cell in &code.cells {
            let Some((name, future)) = layout(&of, *cell) else { continue };
            let known = layouts.entry(name).or_insert(Some(future));
            // Two crates of one name: which is meant can't be told.
            if known.is_some_and(|known| known.stage_offset != future.stage_offset) {
                *known = None;
            }
        }
        let mut futures: HashMap<u64, Option<Future>> = HashMap::new();
        let mut names: HashMap<u64, String> = HashMap::new();
        for (address, of_future) in code.polls {
            let Some(name) = full_name(&of, of_future) else { continue };
            // The linker may have made one function of several: which future it is of can't be told.
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

    /// What the task awaits whose cell is at `cell`, in a program whose addresses begin at `base`. `None`
    /// if that isn't known, or the task is done. No poll of the task may run meanwhile, or what is returned
    /// is to be discarded.
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

/// The type of the future in a cell, as a name, and where its stage is.
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
