//! Checks that this version of Tokio and this program are as expected, by tasks of which everything is
//! known.

use std::fs::File;
use std::future::pending;
use std::ptr::from_ref;

use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use super::{Layout, Own, Program};
use crate::recorder::task_id::number;
use crate::symbols::coroutines::cells::{AwaitNode, Cells, Memory, TABLE};
use crate::sys::mapped::map;
use crate::sys::threads::stack::modules::loaded;

/// The offsets at which a task's id may be in its memory, in bytes.
const OFFSETS: std::ops::Range<u64> = 24..128;

const OTHER_TYPES: &str = "this version of Tokio, or of the compiler, describes tasks in another way: \
                           what a task of this crate awaits isn't found";

/// Returns how tasks are kept; an error is what isn't as expected.
pub(super) fn layout() -> Result<Layout, &'static str> {
    const OTHER: &str = "this version of Tokio keeps its tasks in another way";
    // In a build without this flag no hook is told of tasks.
    if !cfg!(tokio_unstable) {
        return Err("it needs Tokio's hooks of tasks (`--cfg tokio_unstable`)");
    }
    let Ok(runtime) = Builder::new_current_thread().build() else { return Err("no runtime") };
    let tasks = [runtime.spawn(pending::<()>()), runtime.spawn(pending::<()>())];
    // One may have another number there that happens to be its id.
    let has_id_at = |offset: u64| {
        let has_id = |task: &JoinHandle<()>| {
            cell_of(task).and_then(|cell| Own.word(cell + offset)) == Some(number(task.id()))
        };
        tasks.iter().all(has_id)
    };
    let id_offset = OFFSETS.step_by(8).find(|offset| has_id_at(*offset));
    let table = cell_of(&tasks[0]).and_then(|cell| Own.word(cell + TABLE));
    // Dropping a runtime may block, which isn't allowed within another.
    runtime.shutdown_background();
    let (id_offset, table) = id_offset.zip(table).ok_or(OTHER)?;
    let module = loaded().into_iter().find(|module| module.range.contains(&table));
    Ok(Layout { id_offset, program: module.ok_or(OTHER)?.range })
}

/// Returns where a task is, by its handle, which is nothing but its address.
pub(super) fn cell_of(task: &JoinHandle<()>) -> Option<u64> {
    if size_of::<JoinHandle<()>>() != size_of::<u64>() {
        return None;
    }
    Own.word(from_ref(task).addr() as u64)
}

/// Returns this program's types; an error says what isn't as expected.
pub(super) fn program() -> Result<Program, String> {
    let bytes = File::open("/proc/self/exe").and_then(|file| map(&file));
    let bytes = bytes.map_err(|error| format!("the program can't be read: {error}"))?;
    let cells = Cells::read(bytes)?;
    let module = loaded().into_iter().find(|module| module.is_program);
    let base = module.ok_or("the program isn't found in memory")?.base;
    let program = Program { cells, base };
    // A runtime can't run on a thread of another.
    let known = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || known_chain(&program));
        thread.ok()?.join().ok()?
    });
    match known {
        Some(chain) if is_known(&chain) => Ok(program),
        _ => Err(OTHER_TYPES.to_owned()),
    }
}

/// Returns what is found of a task that is known.
fn known_chain(program: &Program) -> Option<AwaitNode> {
    let runtime = Builder::new_current_thread().build().ok()?;
    let task = runtime.spawn(known());
    // It has been polled once then.
    runtime.block_on(async {
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    });
    program.chain(cell_of(&task)?)
}

async fn known() {
    inner(7).await;
}

async fn inner(kept: u64) {
    pending::<()>().await;
    std::hint::black_box(kept);
}

fn is_known(chain: &AwaitNode) -> bool {
    let is_own = |node: &AwaitNode, name: &str| {
        let is_here = node.file.as_ref().is_some_and(|file| file.ends_with("cells/check.rs"));
        node.function.ends_with(name) && is_here && node.line.is_some()
    };
    let [within] = &chain.children[..] else { return false };
    let [leaf] = &within.children[..] else { return false };
    is_own(chain, "::known") && is_own(within, "::inner") && leaf.function.contains("Pending")
}
