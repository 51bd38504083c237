//! The table of the attribute's keys.
//!
//! A key's row defines its parser and checks, its expansion, and its line in the documentation. Every key except
//! Tokio's and `configure` expands to a call of the method of `Recording` with the same name. A new key is a row here
//! and a method in the library, in `recording/keys.rs`. A new kind of value is a type in [`own`](super::own).
//!
//! ```text
//! "key" field: type that parses it [[needs "feature"]],
//!     the docs' columns: value, meaning, default;
//! ```

use super::keys::keys;
use super::literal::{Bool, CratePath, PositiveInteger, Text};
use super::own::{
    BoxPlace, BufferCapacity, Configure, DumpLimit, DumpOn, Keep, Nanos, PathExpr, PositiveNanos,
    ReportPath, Signal, Trace, UserHooks,
};
use super::runtime::{Flavor, UnhandledPanic};

/// The keys that are only valid in tests, which can fail. The command checks a program's data.
pub(super) const ONLY_OF_TESTS: [&str; 2] = ["max_poll", "max_ready"];

keys! {
    // In the order in which `#[tokio::main]` lists them.
    tokio TokioKeys:

    "flavor" flavor: Flavor,
        r#"`"multi_thread"`, `"current_thread"`, `"local"`"#, "as in `#[tokio::main]`",
        r#"`"multi_thread"`"#;
    "worker_threads" worker_threads: PositiveInteger,
        "integer", "as in `#[tokio::main]`", "one per core";
    "start_paused" start_paused: Bool,
        "bool", "as in `#[tokio::main]`", "`false`";
    "crate" crate_path: CratePath,
        "path in a string", "as in `#[tokio::main]`", r#"`"tokio"`"#;
    "unhandled_panic" unhandled_panic: UnhandledPanic,
        r#"`"ignore"`, `"shutdown_runtime"`"#, "as in `#[tokio::main]`", r#"`"ignore"`"#;
    "name" name: Text,
        "string", "as in `#[tokio::main]`", "none";

    own OwnKeys:

    "tasks" tasks: PathExpr,
        "path expression", "statemap data of the tasks", "not written";
    "workers" workers: PathExpr,
        "path expression", "statemap data of the workers", "not written";
    "html" html: PathExpr [needs "html"],
        "path expression", "one self-contained interactive page (feature `html`)", "not written";
    "svg" svg: PathExpr [needs "svg"],
        "path expression", "one static picture, to embed (feature `svg`)", "not written";
    "report" report: ReportPath,
        "path expression, or `stderr`", "the text report", "`stderr`";
    "trace" trace: Trace,
        r#"`"tasks"`, `"workers"`, `"both"`, `"none"`"#, "what to record", r#"`"both"`"#;
    "spawn_location" spawn_location: Bool,
        "bool", "record the spawn location of each task", "`true`";
    "buffer_capacity" buffer_capacity: BufferCapacity,
        "integer, events (at most 2^24)", "each thread's buffer, limited to a 512th of `max_events`",
        "4096, limited to 1953 by default";
    "max_events" max_events: PositiveInteger,
        "integer, events", "the maximum number of kept events", "1 000 000";
    "keep" keep: Keep,
        r#"`"first"`, `"last"`"#, "at `max_events`: stop, or drop the oldest", r#"`"last"`"#;
    "schedule_latency" schedule_latency: Bool,
        "bool", "record when a task becomes ready", "`true`";
    "long_poll" long_poll: PositiveNanos,
        "duration", "the minimum length of a long poll", r#"`"1ms"`"#;
    "stacks" stacks: Bool,
        "bool", "sample long polls: stacks and times (feature `stacks`, Linux)", "`true`";
    "wakes" wakes: Bool,
        "bool", "see where all tasks wait, by their wakers (feature `wakes`, Linux)", "`true`";
    "warn_after" warn_after: PositiveNanos,
        "duration, from 5 ms on", "print a poll while it is running once it is this old (feature `stacks`, Linux)",
        "none";
    "dump_signal" dump_signal: Signal,
        r#"`"SIGUSR1"`, `"SIGUSR2"`, `"SIGQUIT"`, `"SIGIO"`"#,
        "on this signal, print all tasks and where they wait on stderr (Unix)", "none";
    "dump_on" dump_on: DumpOn [needs "html"],
        r#"`"poll > 100ms"`, `"stall > 1s"`, `"ready > 1s"`, `"wait > 30s at src/**"`, `"file"`, `"panic"`, `"SIGUSR2"`, or several with commas between them"#,
        "on these events, write a page, with what happened before (feature `html`)", "none";
    "dump_limit" dump_limit: DumpLimit [needs "html"],
        r#"pages an hour, files, and bytes: `"3/h, 20 files, 500MB"`"#,
        "the most that `dump_on` writes; it removes the oldest files", r#"`"3/h, 20 files, 500MB"`"#;
    "dump_after" dump_after: Nanos [needs "html"],
        "duration", "the time from such an event to its page", r#"`"1s"`"#;
    "black_box" black_box: BoxPlace [needs "black-box"],
        "bool, or path expression", "keep the recording in a file that survives the process (feature `black-box`, Linux)",
        "`false`";
    "recover" recover: PathExpr [needs "recover"],
        "path expression", "the page of an earlier process of this program that was killed, by its black box (feature `recover`, Linux)",
        "not written";
    "source" source: Bool,
        "bool", "show the source around blamed lines and spawn locations in the page, if the files exist",
        "`true` in builds with debug assertions";
    "start_after" start_after: Nanos,
        "duration", "the delay before recording starts", "none";
    "duration" duration: PositiveNanos,
        "duration", "the length of the recording", "until the end";
    "max_poll" max_poll: PositiveNanos,
        "duration", "the test fails if a poll holds a worker for longer (only `test`)", "none";
    "max_ready" max_ready: PositiveNanos,
        "duration", "the test fails if a task is ready for longer before it is polled (only `test`)",
        "none";
    "configure" configure: Configure,
        "path of a `fn(&mut tokio::runtime::Builder)`", "any other setting of the runtime builder",
        "none";
    "hooks" hooks: UserHooks,
        "path of a `fn() -> tokio_statemap::Hooks`", "the program's own runtime hooks", "none";
}
