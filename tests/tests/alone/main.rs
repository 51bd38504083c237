//! Bounds on the memory, allocations and threads of a whole process. Each test runs in a process of its own.

mod background;
mod boxes;
mod hook_path;
mod idle_threads;
mod live_tasks;
mod memory;
mod page_memory;

use tests::allocations::Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
