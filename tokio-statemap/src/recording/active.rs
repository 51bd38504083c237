//! A started recording, shared by all exit paths.

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Arc, Mutex, Once, TryLockError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, RuntimeFlavor};

use super::dump_on::DumpOn;
use super::limits::{self, TestLimits};
use super::outputs::Outputs;
use super::progress::Progress;
use super::recover::Recover;
use super::runtimes::Runtimes;
use super::settings::Settings;
use super::warnings::Warnings;
use super::window::RecordingWindow;
use super::{dump, exits};
use crate::collector::Collector;
use crate::config::{CollectorConfig, TraceTarget};
use crate::hooks::Hooks;
use crate::recorder::root_future::Root;
#[cfg(unix)]
use crate::sys::signal;
use crate::util::message::warn;
use crate::util::sync::lock;

/// A started recording, shared by all exit paths.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) runtimes: Runtimes,
    config: CollectorConfig,
    version: Option<&'static str>,
    pub(super) window: RecordingWindow,
    pub(super) outputs: Arc<Outputs>,
    warnings: Option<Arc<Warnings>>,
    warn_after: Option<Duration>,
    limits: Option<TestLimits>,
    dump_signal: Option<&'static str>,
    pub(super) dump_on: Option<Arc<DumpOn>>,
    recover: Option<Recover>,
    /// Its threads are started once, when the first runtime is built.
    threads: Once,
    /// The process of the recording. A forked child inherits all of this, but must not write the files.
    pid: u32,
    /// `true` once the files are written. Locked while they are being written, so that other exit
    /// paths wait.
    written: Mutex<bool>,
}

impl Active {
    /// Starts a recording without runtimes. `file` is the source file that asked for it.
    pub(super) fn start(
        settings: &Settings,
        file: &'static str,
        limits: Option<TestLimits>,
    ) -> Arc<Self> {
        let dump_on = DumpOn::new(settings);
        let active = Arc::new(Self {
            runtimes: Runtimes::default(),
            config: settings.collector_config(),
            version: settings.version,
            window: RecordingWindow::new(settings.start_after, settings.duration),
            outputs: Arc::new(Outputs::prepare(settings, dump_on.is_some(), file)),
            warnings: Warnings::new(settings),
            warn_after: settings.warn_after,
            limits,
            dump_signal: settings.dump_signal,
            dump_on,
            recover: Recover::new(settings),
            threads: Once::new(),
            pid: std::process::id(),
            written: Mutex::new(false),
        });
        exits::watch(&active);
        active
    }

    /// Records the runtime that is built from `builder`, from now on or as soon as the window begins. The program's own
    /// hooks are called after those that record.
    pub(super) fn add(
        self: &Arc<Self>,
        builder: &mut Builder,
        user: Hooks,
        name: Option<&str>,
    ) -> Option<Arc<Collector>> {
        if self.window.is_over() {
            user.install(builder);
            return None;
        }
        let collector = Collector::install(builder, self.config.clone(), user);
        if let Some(name) = name {
            collector.set_runtime_name(name);
        }
        if let Some(version) = self.version {
            collector.set_version(version);
        }
        if let (Some(warnings), Some(after)) = (&self.warnings, self.warn_after) {
            warnings.watch(&collector, after);
        }
        if let Some(dump_on) = &self.dump_on {
            dump_on.watch(&collector);
        }
        if let Some(recover) = &self.recover {
            recover.watch(&collector);
        }
        let starts = Arc::downgrade(self);
        collector.when_built(Box::new(move || {
            if let Some(active) = starts.upgrade() {
                active.start_threads();
            }
        }));
        let admit = || self.window.admit(&collector);
        self.runtimes.add(&collector, self.config.max_events, &admit);
        if self.window.is_delayed() || self.config.trace_target == TraceTarget::None {
            self.start_threads();
        }
        Some(collector)
    }

    /// Returns the collector of a runtime; `first` is the one that the recording was started with.
    pub(super) fn collector_of(
        &self,
        runtime: &Handle,
        first: &Arc<Collector>,
    ) -> Option<Arc<Collector>> {
        // The runtime's first thread reports the runtime, and may not run yet.
        const PATIENCE: Duration = Duration::from_secs(1);
        const STEP: Duration = Duration::from_millis(1);
        if self.runtimes.is_only() {
            return Some(Arc::clone(first));
        }
        let has_threads = runtime.runtime_flavor() != RuntimeFlavor::CurrentThread;
        let began = Instant::now();
        loop {
            let known = self.runtimes.collector(runtime);
            if known.is_some() || !has_threads || began.elapsed() > PATIENCE {
                // Nothing is known of a runtime without threads before its root future is polled.
                return known.or_else(|| (!first.is_built()).then(|| Arc::clone(first)));
            }
            std::thread::sleep(STEP);
        }
    }

    /// Wraps a root future of the runtime of `collector`.
    pub(super) fn root<F>(
        self: &Arc<Self>,
        collector: &Collector,
        future: F,
        location: &'static Location<'static>,
    ) -> Root<F> {
        let starts = Arc::clone(self);
        collector.root(future, location, move || starts.start_threads())
    }

    /// Warns if threads of a runtime are still running as the recording is dropped.
    pub(super) fn warn_of_running(&self) {
        let is_running =
            |collector: &Arc<Collector>| collector.is_recording() && collector.has_threads();
        if self.is_of_this_process() && self.runtimes.collectors().iter().any(is_running) {
            warn(format_args!(
                "threads of a runtime still run as its recording is dropped: what they do from now on is not recorded"
            ));
        }
    }

    /// Starts this crate's threads, after those of the runtime, which the program needs more.
    pub(super) fn start_threads(self: &Arc<Self>) {
        self.threads.call_once(|| {
            exits::listen();
            dump::listen(self.dump_signal);
            if let Some(dump_on) = &self.dump_on {
                dump_on.start(self);
            }
            self.window.schedule(self);
        });
    }

    /// Returns `true` in the process that started the recording. A forked child has a copy.
    pub(super) fn is_of_this_process(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Stops recording and writes the files, once, in the process that started the recording.
    pub(super) fn finish(&self) {
        if self.is_of_this_process() {
            self.write(&mut lock(&self.written));
        }
    }

    /// Like [`finish`](Self::finish), but never waits forever: the exit path may have interrupted
    /// the writing on the same thread.
    pub(super) fn finish_soon(&self) {
        const PATIENCE: Duration = Duration::from_secs(60);
        const STEP: Duration = Duration::from_millis(5);
        if !self.is_of_this_process() {
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

    /// Takes the reason why the test fails, if it does.
    pub(super) fn failure(&self) -> Option<String> {
        self.limits.as_ref().and_then(TestLimits::failure)
    }

    fn write(&self, written: &mut bool) {
        if std::mem::replace(written, true) {
            return;
        }
        self.window.close();
        let is_none_built = self.runtimes.is_none_built();
        // A panic of this crate must not become the program's.
        let result = catch_unwind(AssertUnwindSafe(|| {
            self.end_window();
            if let Some(warnings) = &self.warnings {
                warnings.close();
            }
            let dumps = self.dump_on.as_ref().map(|dump_on| dump_on.close()).unwrap_or_default();
            let progress = Progress::new();
            let mut recorded = self.runtimes.snapshots();
            if is_none_built && recorded.has_root_futures_alone() {
                warn(format_args!(
                    "no runtime was seen. If one was built, call `Recording::start` before `build`, with the builder \
                     that it is built from"
                ));
            }
            let mut are_written = false;
            let mut write = || are_written = self.outputs.write(&recorded, &dumps, &progress);
            #[cfg(unix)]
            signal::without_fatal_signals(&mut write);
            #[cfg(not(unix))]
            write();
            for collector in self.runtimes.collectors() {
                collector.close_black_box(are_written);
            }
            if let Some(limits) = &self.limits {
                limits.judge(&mut recorded.timelines);
                if recorded.forgotten.count > 0 {
                    limits.fail(limits::unjudged("runtimes that ended earlier were not kept"));
                }
            }
            if let Some(warnings) = &self.warnings {
                warnings.end();
            }
        }));
        if result.is_err() {
            warn(format_args!("the files could not be written: this is a bug in tokio-statemap"));
            // Those that are closed already aren't there any more.
            for collector in self.runtimes.collectors() {
                collector.close_black_box(false);
            }
            if let Some(limits) = &self.limits {
                limits.fail(limits::unjudged("this is a bug in tokio-statemap"));
            }
        }
    }
}

/// Wraps a root future of a runtime that isn't recorded.
pub(super) fn unrecorded_root<F>(future: F, location: &'static Location<'static>) -> Root<F> {
    Root::new(future, location, None)
}
