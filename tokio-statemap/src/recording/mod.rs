//! A recording of one or more runtimes: its window, the exit paths, and the files that it leaves.

mod active;
mod dump;
#[cfg_attr(not(feature = "html"), path = "no_dump_on.rs")]
mod dump_on;
mod env;
mod exits;
mod keys;
mod limits;
mod outputs;
mod path;
mod progress;
#[cfg_attr(not(has_recover), path = "no_recover.rs")]
mod recover;
mod runtime;
mod runtimes;
mod settings;
mod stream;
mod target;
mod targets;
mod warnings;
mod window;

use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Once};

use tokio::runtime::{Builder, Runtime};

use crate::collector::Collector;
use crate::error::Error;
use crate::hooks::Hooks;
#[cfg(unix)]
use crate::sys::signal;
use crate::util::message::warn;

use active::Active;
use limits::TestLimits;
pub use runtime::RecordedRuntime;
use settings::Settings;

/// Records runtimes that are built by hand. [`#[tokio_statemap::main]`](crate::main) expands to it.
///
/// A recording is made with [`new`](Self::new), is given the attribute's keys as methods, and is [started](Self::start)
/// before the runtime is built. From then on, keep it in a variable until the runtime has been dropped. Its files are
/// written when it is dropped, or when the program ends in another way: by `std::process::exit`, by SIGINT, SIGTERM, or
/// SIGHUP, or by a panic with `panic = "abort"`. They are written once.
///
/// A relative path, `{pid}`, `{bin}`, `{host}` and `{time}` in paths, and the environment variables mean the same as for the attribute: see [`guide::keys`](crate::guide::keys).
///
/// Without the feature `record` this type exists and does nothing.
///
/// # Examples
///
/// ```no_run
/// use tokio_statemap::Recording;
///
/// # async fn serve() {}
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let mut builder = tokio::runtime::Builder::new_multi_thread();
///     let recording = Recording::new().tasks("tasks.json").start(&mut builder)?;
///     let runtime = builder.enable_all().build()?;
///     recording.block_on(&runtime, serve());
///     Ok(())
/// }
/// ```
///
/// Several runtimes share a recording: one page and one report show them all, the worst first.
///
/// ```no_run
/// use tokio::runtime::Builder;
/// use tokio_statemap::Recording;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut api = Builder::new_multi_thread();
/// let recording = Recording::new().start(api.name("api"))?;
/// let mut jobs = Builder::new_current_thread();
/// recording.runtime(jobs.name("jobs"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a recording ends when it is dropped: keep it until the runtime was dropped"]
pub struct Recording {
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// It is being set up.
    Settings(Box<Settings>),
    Started {
        active: Arc<Active>,
        /// The runtime that it was started with.
        first: Arc<Collector>,
    },
    /// Nothing is recorded, as with `TOKIO_STATEMAP=0`.
    Off(Option<TestLimits>),
    /// `start` failed, and said why.
    Failed,
}

impl Recording {
    /// Creates a recording with the attribute's defaults: it writes `{bin}.statemap.html` and prints the report.
    ///
    /// With `TOKIO_STATEMAP=0` in the environment nothing is recorded.
    pub fn new() -> Self {
        Self { phase: Phase::Settings(Box::new(Settings::main())) }
    }

    /// Creates a recording that records only if the environment asks for it, with `TOKIO_STATEMAP=1`.
    ///
    /// Otherwise no hook is installed but those of [`hooks`](Self::hooks), no thread is started, and no file is
    /// written. A service can be shipped like this, and costs what it would cost without this crate.
    pub fn from_env() -> Self {
        let mut recording = Self::new();
        recording.settings(|settings| settings.is_on_by_default = false);
        recording
    }

    /// Starts the recording: installs the hooks in `builder`, and prepares the files. Call it before the runtime is
    /// built.
    ///
    /// Tokio keeps one closure per hook. So this replaces the hooks that `builder` has, and a later
    /// `builder.on_thread_start(…)` or the like replaces the one that records: give the program's own hooks to
    /// [`hooks`](Self::hooks). Build one runtime only from `builder`.
    ///
    /// Files that can't be written, or a build of Tokio without task hooks, lead to a warning on stderr, as with the
    /// attribute, and not to an error: the program should run in any case.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidConfig`] if a key has an invalid value. `builder` is unchanged then.
    #[track_caller]
    pub fn start(mut self, builder: &mut Builder) -> Result<Self, Error> {
        let file = Location::caller().file();
        let mut settings = match std::mem::replace(&mut self.phase, Phase::Failed) {
            Phase::Settings(settings) => settings,
            started => {
                warn(format_args!(
                    "`Recording::start` was called twice: add further runtimes with `Recording::runtime`"
                ));
                self.phase = started;
                return Ok(self);
            }
        };
        settings.check()?;
        let user = settings.hooks.take().unwrap_or_default();
        if !env::is_on(settings.is_on_by_default) {
            user.install(builder);
            self.phase = Phase::Off(None);
            return Ok(self);
        }
        let limits = TestLimits::from_settings(&settings);
        let config = settings.collector_config();
        if config.trace_target.tracks_tasks() && !cfg!(tokio_unstable) {
            // A test binary may have hundreds of recordings, so the warning appears once per process.
            static WARNED: Once = Once::new();
            WARNED.call_once(|| warn(format_args!("workers only: {}", where_the_flag_goes())));
        }
        if let Err(error) = Collector::check(&config) {
            warn(format_args!("nothing is recorded: {error}"));
            user.install(builder);
            if let Some(limits) = &limits {
                limits.fail(limits::unjudged("nothing is recorded"));
            }
            self.phase = Phase::Off(limits);
            return Ok(self);
        }
        let active = Active::start(&settings, file, limits);
        self.phase = match active.add(builder, user, settings.runtime) {
            Some(first) => Phase::Started { active, first },
            None => Phase::Off(None),
        };
        Ok(self)
    }

    /// Adds one more runtime, which is built from `builder`. This may be called later, and from any thread. The outputs
    /// show it beside the others, by the name that `Builder::name` gave it, or else as `runtime-2` and so on.
    ///
    /// The page and the report show all runtimes. The statemap data of each runtime is in files of its own, such as
    /// `tasks.api.json`. The runtimes that have ended keep `max_events` in all, and from 256 runtimes on the oldest of
    /// them are forgotten: the report counts them, and lists the worst of their verdicts. A runtime that is built after
    /// the end of the window isn't recorded.
    ///
    /// Build one runtime only from `builder`. As with [`start`](Self::start), its own hooks are replaced.
    pub fn runtime(&self, builder: &mut Builder) -> RecordedRuntime {
        self.runtime_with(builder, Hooks::new())
    }

    /// Does the same as [`runtime`](Self::runtime), and calls the program's own `hooks` after those that record.
    pub fn runtime_with(&self, builder: &mut Builder, hooks: Hooks) -> RecordedRuntime {
        match &self.phase {
            Phase::Started { active, .. } if active.is_of_this_process() => {
                match active.add(builder, hooks, None) {
                    Some(collector) => RecordedRuntime::new(active, collector),
                    None => RecordedRuntime::not_recorded(),
                }
            }
            phase => {
                if let Phase::Settings(_) = phase {
                    warn(format_args!(
                        "a runtime is not recorded: call `Recording::start` before `Recording::runtime`"
                    ));
                }
                hooks.install(builder);
                RecordedRuntime::not_recorded()
            }
        }
    }

    /// Runs `future` with [`Runtime::block_on`], and shows it as the task `main`. Tokio has no hooks for that future:
    /// with `runtime.block_on` alone, all but that future is recorded.
    ///
    /// `runtime` is the one that the recording was started with. For another use [`RecordedRuntime::block_on`].
    ///
    /// # Panics
    ///
    /// Panics where [`Runtime::block_on`] does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        let location = Location::caller();
        match &self.phase {
            Phase::Started { active, first, .. } if active.is_of_this_process() => {
                match active.collector_of(runtime.handle(), first) {
                    Some(collector) => runtime.block_on(active.root(&collector, future, location)),
                    None => {
                        warn(format_args!(
                            "a root future is not shown: use the `block_on` of what `Recording::runtime` returned"
                        ));
                        runtime.block_on(future)
                    }
                }
            }
            _ => runtime.block_on(future),
        }
    }

    /// Wraps the root future of the runtime that the recording was started with, where something other than
    /// [`block_on`](Self::block_on) runs it, such as a `LocalRuntime`. It is shown as the task `main`.
    #[track_caller]
    pub fn root<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let location = Location::caller();
        match &self.phase {
            Phase::Started { active, first, .. } => active.root(first, future, location),
            _ => active::unrecorded_root(future, location),
        }
    }

    fn set_hooks(&mut self, hooks: Hooks) {
        self.settings(|settings| settings.hooks = Some(hooks));
    }

    /// Changes the settings. Once the recording is started, they can't be changed.
    fn settings(&mut self, change: impl FnOnce(&mut Settings)) {
        match &mut self.phase {
            Phase::Settings(settings) => change(settings),
            _ => warn(format_args!("a key of `Recording` is ignored: give it before `start`")),
        }
    }
}

impl Default for Recording {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let failure = match &self.phase {
            Phase::Settings(_) => {
                warn(format_args!(
                    "nothing is recorded: a `Recording` was dropped before `start(&mut builder)`"
                ));
                return;
            }
            Phase::Started { active, .. } => {
                active.warn_of_running();
                active.finish();
                exits::forget(active);
                #[cfg(unix)]
                signal::wait_if_dying();
                active.failure()
            }
            Phase::Off(limits) => limits.as_ref().and_then(TestLimits::failure),
            Phase::Failed => return,
        };
        // A panic of the test itself takes precedence.
        if let Some(failure) = failure.filter(|_| !std::thread::panicking()) {
            panic!("{failure}");
        }
    }
}

/// Returns advice on how to enable the recording of tasks, adapted to how this crate was built.
fn where_the_flag_goes() -> String {
    // Cargo uses the first of these that is set, even if it is empty, and ignores the others.
    let variables = [
        ("CARGO_ENCODED_RUSTFLAGS", option_env!("CARGO_ENCODED_RUSTFLAGS")),
        ("RUSTFLAGS", option_env!("RUSTFLAGS")),
    ];
    match variables.into_iter().find(|(_, flags)| flags.is_some()) {
        Some((name, _)) => format!(
            "to record tasks, add --cfg tokio_unstable to {name}, which was set for this build and \
             replaces the flags in .cargo/config.toml"
        ),
        None => "to record tasks, add `[build] rustflags = [\"--cfg\", \"tokio_unstable\"]` to \
                 .cargo/config.toml; if it has a `[target.…]` with `rustflags`, add the flag there"
            .to_owned(),
    }
}
