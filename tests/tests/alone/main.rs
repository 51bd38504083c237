//! Bounds on the memory, allocations and threads of a whole process. Each test runs in a process of its own.

mod background;
mod boxes;
mod hook_path;
mod idle_threads;
mod live_tasks;
mod local_tasks;
mod memory;
mod page_memory;
#[cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod table_of_wakers;

use tests::allocations::Counting;

#[global_allocator]
static COUNTING: Counting = Counting;
