//! The table of the attribute's keys.
//!
//! A key's row defines its parser and checks, its expansion, and its line in the documentation. A
//! new key is a row here and a field in the library: of `Settings` in `attribute/settings.rs`, of its
//! `outputs` in `attribute/output.rs`, or of its `config` in `config.rs`. A new kind of value is a type
//! in [`own`](super::own).
//!
//! ```text
//! "key" field: type that parses it [=> [outputs.|config.]field of `Settings`] [[needs "feature"]],
//!     the docs' columns: value, meaning, default;
//! ```

use super::keys::keys;
use super::literal::{Bool, CratePath, PositiveInteger, Text};
use super::own::{
    BufferCapacity, Configure, Keep, Nanos, Optional, PathExpr, PositiveNanos, ReportPath, Signal,
    Trace, UserHooks,
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

    "tasks" tasks: Optional<PathExpr> => outputs.tasks,
        "path expression", "statemap data of the tasks", "not written";
    "workers" workers: Optional<PathExpr> => outputs.workers,
        "path expression", "statemap data of the workers", "not written";
    "html" html: Optional<PathExpr> => outputs.html [needs "html"],
        "path expression", "one self-contained interactive page (feature `html`)", "not written";
    "svg" svg: Optional<PathExpr> => outputs.svg [needs "svg"],
        "path expression", "one static picture, to embed (feature `svg`)", "not written";
    "report" report: ReportPath => outputs.report,
        "path expression, or `stderr`", "the text report", "`stderr`";
    "trace" trace: Trace => config.trace_target,
        r#"`"tasks"`, `"workers"`, `"both"`, `"none"`"#, "what to record", r#"`"both"`"#;
    "spawn_location" spawn_location: Bool => config.include_spawn_location,
        "bool", "record the spawn location of each task", "`true`";
    "buffer_capacity" buffer_capacity: BufferCapacity => config.buffer_capacity,
        "integer, events (at most 2^24)", "each thread's buffer, limited to a 512th of `max_events`",
        "4096, limited to 1953 by default";
    "max_events" max_events: PositiveInteger => config.max_events,
        "integer, events", "the maximum number of kept events", "1 000 000";
    "keep" keep: Keep => config.keep,
        r#"`"first"`, `"last"`"#, "at `max_events`: stop, or drop the oldest", r#"`"last"`"#;
    "schedule_latency" schedule_latency: Bool => config.schedule_latency,
        "bool", "record when a task becomes ready (60 to 150 ns a poll)", "`true`";
    "long_poll" long_poll_ns: PositiveNanos => config.long_poll,
        "duration", "the minimum length of a long poll", r#"`"1ms"`"#;
    "stacks" stacks: Bool => config.stacks,
        "bool", "sample long polls: stacks and times (feature `stacks`, Linux)", "`true`";
    "warn_after" warn_after_ns: Optional<PositiveNanos> => warn_after,
        "duration, from 5 ms on", "print a poll while it is running once it is this old (feature `stacks`, Linux)",
        "none";
    "dump_signal" dump_signal: Optional<Signal> => dump_signal,
        r#"`"SIGUSR1"`, `"SIGUSR2"`, `"SIGQUIT"`, `"SIGIO"`"#,
        "on this signal, print all tasks and where they wait on stderr (Unix)", "none";
    "source" source: Bool => source,
        "bool", "show the source around blamed lines and spawn locations in the page, if the files exist",
        "`true` in builds with debug assertions";
    "start_after" start_after_ns: Optional<Nanos> => start_after,
        "duration", "the delay before recording starts", "none";
    "duration" duration_ns: Optional<PositiveNanos> => duration,
        "duration", "the length of the recording", "until the end";
    "max_poll" max_poll_ns: Optional<PositiveNanos> => max_poll,
        "duration", "the test fails if a poll holds a worker for longer (only `test`)", "none";
    "max_ready" max_ready_ns: Optional<PositiveNanos> => max_ready,
        "duration", "the test fails if a task is ready for longer before it is polled (only `test`)",
        "none";
    "configure" configure: Configure,
        "path of a `fn(&mut tokio::runtime::Builder)`", "any other setting of the runtime builder",
        "none";
    "hooks" hooks: Optional<UserHooks> => hooks,
        "path of a `fn() -> tokio_statemap::Hooks`", "the program's own runtime hooks", "none";
}
