//! The code behind the attribute's expansion: the recording window, the exit paths, the output
//! files.

mod dump;
mod env;
mod exits;
mod limits;
mod output;
mod path;
mod progress;
mod settings;
mod stream;
mod target;
mod targets;
mod warnings;
mod window;

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Arc, Mutex, Once, TryLockError};
use std::time::Duration;

use tokio::runtime::Builder;

use crate::collector::Collector;
use crate::hooks::Hooks;
use crate::recorder::root_future::Root;
#[cfg(unix)]
use crate::sys::signal;
use crate::util::message::warn;
use crate::util::sync::lock;
pub use output::OutputPaths;
pub use settings::Settings;

use limits::TestLimits;
use output::Outputs;
use progress::Progress;
use warnings::Warnings;
use window::RecordingWindow;

/// A run of a function under the attribute. It ends on drop, after the runtime was dropped.
#[derive(Debug)]
pub struct Run {
    /// `None` if nothing is recorded, as with `TOKIO_STATEMAP=0`.
    active: Option<Arc<Active>>,
    /// The limits of a test.
    limits: Option<Arc<TestLimits>>,
}

/// A recorded run, shared by all exit paths.
#[derive(Debug)]
pub(crate) struct Active {
    collector: Arc<Collector>,
    window: RecordingWindow,
    outputs: Outputs,
    warnings: Option<Arc<Warnings>>,
    limits: Option<Arc<TestLimits>>,
    dump_signal: Option<&'static str>,
    /// The process of the run. A forked child inherits all of this, but must not write the files.
    pid: u32,
    /// `true` once the files are written. Locked while they are being written, so that other exit
    /// paths wait.
    written: Mutex<bool>,
}

impl Run {
    /// Installs the hooks in `builder`, starts recording, and registers the exit paths.
    ///
    /// An error leads to a warning and an incomplete recording, but never affects the program.
    #[track_caller]
    pub fn start(builder: &mut Builder, mut settings: Settings) -> Self {
        let file = Location::caller().file();
        let user = settings.hooks.take().unwrap_or_default();
        if !env::is_on() {
            user.install(builder);
            return Self { active: None, limits: None };
        }
        let limits = TestLimits::from_settings(&settings).map(Arc::new);
        let active = Active::start(builder, &settings, user, file, limits.clone());
        if let (None, Some(limits)) = (&active, &limits) {
            limits.fail(limits::unjudged("nothing is recorded"));
        }
        Self { active, limits }
    }

    /// Wraps `future` as the root future, located at the caller.
    #[track_caller]
    pub fn root<F>(&self, future: F) -> Root<F> {
        let location = Location::caller();
        match &self.active {
            Some(active) => {
                let starts = Arc::clone(active);
                active.collector.root(future, location).when_built(move || starts.start_threads())
            }
            None => Root::new(future, location, None),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(active) = &self.active {
            active.finish();
            exits::forget(active);
            #[cfg(unix)]
            signal::wait_if_dying();
        }
        let failure = self.limits.as_ref().and_then(|limits| limits.failure());
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

impl Active {
    /// Starts the run. `file` is the source file with the attribute.
    fn start(
        builder: &mut Builder,
        settings: &Settings,
        user: Hooks,
        file: &'static str,
        limits: Option<Arc<TestLimits>>,
    ) -> Option<Arc<Self>> {
        let config = settings.collector_config();
        if config.trace_target.tracks_tasks() && !cfg!(tokio_unstable) {
            // A test binary may have hundreds of runs, so the warning appears once per process.
            static WARNED: Once = Once::new();
            WARNED.call_once(|| warn(format_args!("workers only: {}", where_the_flag_goes())));
        }
        if let Err(error) = Collector::check(&config) {
            warn(format_args!("nothing is recorded: {error}"));
            user.install(builder);
            return None;
        }
        let collector = Collector::install(builder, config, user);
        if let Some(name) = settings.runtime {
            collector.set_runtime_name(name);
        }
        if let Some(version) = settings.version {
            collector.set_version(version);
        }
        let outputs = Outputs::prepare(settings, file);
        let warnings = Warnings::start(&collector, settings);
        let window = RecordingWindow::open(&collector, settings.start_after, settings.duration);
        let active = Arc::new(Self {
            collector,
            window,
            outputs,
            warnings,
            limits,
            dump_signal: settings.dump_signal,
            pid: std::process::id(),
            written: Mutex::new(false),
        });
        exits::watch(&active);
        Some(active)
    }

    /// Starts this crate's threads, after those of the runtime, which the program needs more.
    fn start_threads(&self) {
        self.collector.runtime_is_built();
        exits::listen();
        dump::listen(self.dump_signal);
        self.window.schedule(&self.collector);
    }

    /// Stops recording and writes the files, once, in the process that started the run.
    fn finish(&self) {
        if self.pid != std::process::id() {
            return;
        }
        self.write(&mut lock(&self.written));
    }

    /// Like [`finish`](Self::finish), but never waits forever: the exit path may have interrupted
    /// the writing on the same thread.
    fn finish_soon(&self) {
        const PATIENCE: Duration = Duration::from_secs(60);
        const STEP: Duration = Duration::from_millis(5);
        if self.pid != std::process::id() {
            return;
        }
        for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
            match self.written.try_lock() {
                Ok(mut written) => return self.write(&mut written),
                Err(TryLockError::Poisoned(written)) => {
                    return self.write(&mut written.into_inner());
                }
                Err(TryLockError::WouldBlock) => {
                    // The writing thread may be held in the signal handler.
                    #[cfg(unix)]
                    signal::release_kept();
                    std::thread::sleep(STEP);
                }
            }
        }
    }

    fn write(&self, written: &mut bool) {
        if std::mem::replace(written, true) {
            return;
        }
        self.window.close();
        // A panic of this crate must not become the program's.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.collector.stop();
            if let Some(warnings) = &self.warnings {
                warnings.close();
            }
            let progress = Progress::new();
            let mut timeline = self.collector.snapshot();
            #[cfg(unix)]
            signal::without_fatal_signals(|| self.outputs.write(&timeline, &progress));
            #[cfg(not(unix))]
            self.outputs.write(&timeline, &progress);
            if let Some(limits) = &self.limits {
                limits.judge(&mut timeline);
            }
            if let Some(warnings) = &self.warnings {
                warnings.end();
            }
        }));
        if result.is_err() {
            warn(format_args!("the files could not be written: this is a bug in tokio-statemap"));
            if let Some(limits) = &self.limits {
                limits.fail(limits::unjudged("this is a bug in tokio-statemap"));
            }
        }
    }
}
