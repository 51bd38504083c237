//! The keys: a method of [`Recording`] for each. The attribute's keys expand to these.

use std::path::PathBuf;
use std::time::Duration;

use super::Recording;
use crate::choices::{Keep, TraceTarget};
use crate::hooks::Hooks;

impl Recording {
    /// Sets the program's own hooks for the first runtime, which are called after those that record. They are installed
    /// even if nothing is recorded.
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.set_hooks(hooks);
        self
    }
}

/// Declares a method for each other key. Without the feature `record` it does nothing.
macro_rules! keys {
    ($( $(#[$attribute:meta])* $key:ident($value:ident: $Type:ty) => |$settings:ident| $set:expr; )*) => {
        impl Recording {$(
            $(#[$attribute])*
            #[cfg_attr(
                not(feature = "record"),
                allow(unused_mut, unused_variables, reason = "nothing is recorded")
            )]
            pub fn $key(mut self, $value: $Type) -> Self {
                #[cfg(feature = "record")]
                self.settings(|$settings| $set);
                self
            }
        )*}
    };
}

keys! {
    /// Writes the statemap data of the tasks to this file.
    tasks(path: impl Into<PathBuf>) => |settings| settings.outputs.tasks = Some(path.into());
    /// Writes the statemap data of the workers to this file.
    workers(path: impl Into<PathBuf>) => |settings| settings.outputs.workers = Some(path.into());
    /// Writes the interactive page to this file (feature `html`). With no file at all, it is `{bin}.statemap.html`.
    #[cfg(any(feature = "html", not(feature = "record")))]
    html(path: impl Into<PathBuf>) => |settings| settings.outputs.html = Some(path.into());
    /// Writes a static picture to this file (feature `svg`).
    #[cfg(any(feature = "svg", not(feature = "record")))]
    svg(path: impl Into<PathBuf>) => |settings| settings.outputs.svg = Some(path.into());
    /// Writes the report to this file. Otherwise it is printed on stderr.
    report(path: impl Into<PathBuf>) => |settings| settings.outputs.report = Some(path.into());
    /// Sets what is recorded: tasks, workers or both, the default.
    trace(target: TraceTarget) => |settings| settings.config.trace_target = target;
    /// Sets whether the spawn locations of tasks are recorded. Default: `true`.
    spawn_location(is_on: bool) => |settings| settings.config.include_spawn_location = is_on;
    /// Sets the size of each thread's buffer, in events: 1 to 2^24. Default: 4096, limited to a 512th of
    /// [`max_events`](Self::max_events).
    buffer_capacity(events: usize) => |settings| settings.config.buffer_capacity = events;
    /// Sets the maximum number of kept events, of each runtime that runs and of all that have ended: at least 1.
    /// Default: 1 000 000.
    max_events(events: usize) => |settings| settings.config.max_events = events;
    /// Sets what is kept at [`max_events`](Self::max_events). Default: the last events.
    keep(keep: Keep) => |settings| settings.config.keep = keep;
    /// Sets whether it is recorded when a task becomes ready. Default: `true`. It costs 60 to 150 ns a poll where
    /// wakers aren't seen ([`wakes`](Self::wakes)).
    schedule_latency(is_on: bool) => |settings| settings.config.schedule_latency = is_on;
    /// Sets the minimum length of a long poll. Default: 1 ms.
    long_poll(length: Duration) => |settings| settings.config.long_poll = length;
    /// Sets whether the stacks and times of long polls are sampled (feature `stacks`, Linux). Default: `true`.
    stacks(is_on: bool) => |settings| settings.config.stacks = is_on;
    /// Sets whether the wakers of all tasks are seen, and so where each task waits, and since when it is ready (feature
    /// `wakes`, Linux). Default: `true`.
    wakes(is_on: bool) => |settings| settings.config.wakes = is_on;
    /// Prints a poll while it is running, once it is this old: at least 5 ms (feature `stacks`, Linux).
    warn_after(age: Duration) => |settings| settings.warn_after = Some(age);
    /// Prints all tasks and where they wait on this signal: `SIGUSR1`, `SIGUSR2`, `SIGQUIT` or `SIGIO` (Unix).
    dump_signal(name: &'static str) => |settings| settings.dump_signal = Some(name);
    /// Keeps what is recorded in a file that survives the process, and is removed once the outputs are written (feature
    /// `black-box`, Linux): `true`, or a folder. The environment variable `TOKIO_STATEMAP_BOX` takes precedence: a folder,
    /// `1`, or `0`. Default: `false`.
    #[cfg(any(feature = "black-box", not(feature = "record")))]
    black_box(place: impl Into<crate::choices::BlackBox>) => |settings| settings.config.black_box = place.into();
    /// Writes a page to this file if an earlier process of this program left a [black box](Self::black_box), as it was
    /// killed or crashed (feature `recover`, Linux). `{pid}` in the path is the id of that process.
    #[cfg_attr(feature = "record", doc = "See [`guide::service`](crate::guide::service#at-the-next-start).")]
    #[cfg(any(feature = "recover", not(feature = "record")))]
    recover(path: impl Into<PathBuf>) => |settings| settings.recover = Some(path.into());
    /// Writes a page at the moment when something goes wrong, with what happened before (feature `html`). These are the
    /// triggers, with commas between them:
    ///
    /// - `poll > 100ms`: a poll has gone on for longer than that, at least 5 ms (feature `stacks`, Linux);
    /// - `stall > 1s`: each worker of a runtime is in a poll that has gone on for longer than that, at least 5 ms
    ///   (feature `stacks`, Linux);
    /// - `ready > 1s`: a task is ready for longer than that, at least 5 ms;
    /// - `wait > 30s`, `wait > 30s at src/**`: a task waits for longer than that, at least 5 ms, with a function in a file of
    ///   this pattern (feature `wakes`, Linux);
    /// - `file`, `file = PATH`: the file `{bin}.dump`, or this one, appears or is changed;
    /// - `panic`: code of the program panics, whether the panic is caught or not;
    /// - `SIGUSR1`, `SIGUSR2`, `SIGQUIT` or `SIGIO`: the process gets that signal (Unix).
    ///
    #[cfg_attr(
        feature = "record",
        doc = "See [`guide::exit`](crate::guide::exit#a-page-when-something-goes-wrong)."
    )]
    #[cfg(any(feature = "html", not(feature = "record")))]
    dump_on(triggers: &'static str) => |settings| settings.dump_on = Some(triggers);
    /// Sets how many pages [`dump_on`](Self::dump_on) may write. Default: `3/h, 20 files, 500MB`, which is three pages an
    /// hour, 20 files, and 500 MB. A limit that isn't given has its default.
    #[cfg(any(feature = "html", not(feature = "record")))]
    dump_limit(limits: &'static str) => |settings| settings.dump_limit = Some(limits);
    /// Sets for how long recording goes on before the page of [`dump_on`](Self::dump_on) is written. Default: 1 s.
    #[cfg(any(feature = "html", not(feature = "record")))]
    dump_after(time: Duration) => |settings| settings.dump_after = Some(time);
    /// Sets whether the page shows the source around blamed lines and spawn locations, if the files exist. Default:
    /// `true` in builds with debug assertions. The files of the program's own package are found under
    /// [`package`](Self::package).
    source(is_on: bool) => |settings| settings.source = is_on;
    /// Sets the folder of the program's package, to show its source: `env!("CARGO_MANIFEST_DIR")`. The attribute sets
    /// it. Default: the folder that `cargo run` or `cargo test` says, if one of these runs the program.
    package(folder: impl Into<Option<&'static str>>) => |settings| settings.package = folder.into();
    /// Sets the program's version, which is stored in the data: `env!("CARGO_PKG_VERSION")`. The attribute sets it.
    version(version: impl Into<Option<&'static str>>) => |settings| settings.version = version.into();
    /// Sets the delay from the start of the first runtime to the start of recording.
    start_after(delay: Duration) => |settings| settings.start_after = Some(delay);
    /// Sets the length of the recording.
    duration(length: Duration) => |settings| settings.duration = Some(length);
    /// Lets the drop of the recording panic if a poll held a worker for longer: for tests.
    max_poll(length: Duration) => |settings| settings.max_poll = Some(length);
    /// Lets the drop of the recording panic if a task was ready for longer before it was polled: for tests.
    max_ready(length: Duration) => |settings| settings.max_ready = Some(length);
    /// Names the default files after a test, `concat!(module_path!(), "::", "the_test")`, and prints the report so that
    /// the test harness captures it.
    test(name: &'static str) => |settings| settings.test = Some(name);
    /// Sets the name of the first runtime in all outputs, in place of that of its `Builder`.
    name(name: &'static str) => |settings| settings.runtime = Some(name);
}
