//! Programs that misbehave, or run in a hostile environment.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio_statemap::Hooks;

use crate::allocations;

/// Returns the path in the variable `name`, or else `default` in the working directory.
pub fn path(name: &str, default: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or(default.into()).into()
}

static THREADS: AtomicUsize = AtomicUsize::new(0);
static STOPPED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Dropped when its thread ends. The stop hook would be too early: after it, a thread of Tokio waits for the one that
    /// ended before it, and on a busy machine thousands do.
    static ENDS: Ends = const { Ends };
}

struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        STOPPED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the program's own hooks.
pub fn hooks() -> Hooks {
    let hooks = Hooks::new();
    match super::way().as_str() {
        "hooks" => panicking(hooks),
        "threads" => hooks.on_thread_start(|| {
            THREADS.fetch_add(1, Ordering::Relaxed);
            ENDS.with(|_| {});
        }),
        #[cfg(tokio_unstable)]
        "exit_in_hook" => hooks.on_task_spawn(|_| std::process::exit(3)),
        #[cfg(not(tokio_unstable))]
        "exit_in_hook" => hooks.on_thread_park(|| std::process::exit(3)),
        #[cfg(tokio_unstable)]
        "spawn_in_hook" => hooks.on_before_task_poll(|_| {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| drop(tokio::spawn(async {})));
        }),
        _ => hooks,
    }
}

/// Adds hooks that panic whenever they are called.
fn panicking(hooks: Hooks) -> Hooks {
    let hooks = hooks
        .on_thread_start(|| panic!("on_thread_start"))
        .on_thread_stop(|| panic!("on_thread_stop"))
        .on_thread_park(|| panic!("on_thread_park"))
        .on_thread_unpark(|| panic!("on_thread_unpark"));
    #[cfg(tokio_unstable)]
    let hooks = hooks
        .on_task_spawn(|_| panic!("on_task_spawn"))
        .on_before_task_poll(|_| panic!("on_before_task_poll"))
        .on_after_task_poll(|_| panic!("on_after_task_poll"))
        .on_task_terminate(|_| panic!("on_task_terminate"));
    hooks
}

/// Makes further settings of the runtime.
pub fn configure(builder: &mut Builder) {
    if super::way() == "threads" {
        // Each closure of the blocking pool gets a new thread.
        builder.thread_keep_alive(Duration::ZERO);
    }
}

/// Runs the body in the variant `way`.
pub async fn run(way: &str) {
    match way {
        "hooks" => {
            println!("ready");
            let tasks: Vec<_> = (0..100)
                .map(|i| {
                    tokio::spawn(async move {
                        tokio::time::sleep(MS).await;
                        i
                    })
                })
                .collect();
            let mut sum = tokio::task::spawn_blocking(|| 1).await.unwrap();
            for task in tasks {
                sum += task.await.unwrap();
            }
            println!("the sum is {sum}");
        }
        "tasks" => {
            let tasks: Vec<_> = (0..100_000).map(|_| tokio::spawn(async {})).collect();
            for task in tasks {
                task.await.unwrap();
            }
        }
        "threads" => {
            let until = |count| async move {
                while THREADS.load(Ordering::Relaxed) < count {
                    tokio::task::spawn_blocking(|| {}).await.unwrap();
                    // On a busy machine threads may take longer to end than to start. The test bounds the memory of
                    // threads that ended, so few may live at a time.
                    while THREADS.load(Ordering::Relaxed) - STOPPED.load(Ordering::Relaxed) > 8 {
                        std::thread::yield_now();
                    }
                }
                // The last ones end in this time.
                tokio::time::sleep(50 * MS).await;
                allocations::bytes()
            };
            let (few, many) = (until(1_000).await, until(10_000).await);
            println!("grown by {}", many as isize - few as isize);
        }
        "chdir" => std::env::set_current_dir("/").unwrap(),
        "closes_stderr" => {
            // SAFETY: Nothing in this program owns the descriptor.
            unsafe { libc::close(libc::STDERR_FILENO) };
            println!("closed");
        }
        "closes_stderr_and_panics" => {
            // SAFETY: Nothing in this program owns the descriptor.
            unsafe { libc::close(libc::STDERR_FILENO) };
            panic!("nobody sees this");
        }
        "exit_in_hook" | "spawn_in_hook" => super::run("returns").await,
        _ => return super::run(way).await,
    }
    println!("the last line");
}

const MS: Duration = Duration::from_millis(1);
