//! The collector, which records one runtime.

mod cached;

use std::fmt;
use std::future::Future;
use std::panic::Location;
#[cfg(feature = "html")]
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};

use self::cached::Cached;
use crate::analysis::TaskTree;
use crate::config::{CollectorConfig, TraceTarget};
use crate::error::Error;
use crate::hooks::{self, Hooks};
use crate::recorder::Recorder;
use crate::recorder::TokioHooks;
use crate::recorder::background::sample_pool;
#[cfg(feature = "html")]
use crate::recorder::background::stalled_since;
#[cfg(has_recover)]
use crate::recorder::black_box::Left;
use crate::recorder::lost::Lost;
use crate::recorder::root_future::Root;
use crate::recorder::watch::MIN_THRESHOLD;
#[cfg(feature = "html")]
use crate::recorder::watch::listeners::OnPage;
use crate::recorder::watch::listeners::{Listener, Notify, PAGES, SeenPoll};
use crate::render::prometheus::Lately;
use crate::statemap::StatemapData;
#[cfg(unix)]
use crate::sys::signal::mask::Mask;
use crate::trace::event::Event;
use crate::trace::live_poll::LivePoll;
use crate::trace::profile::Profile;
use crate::trace::snapshot::Snapshot;
use crate::trace::summary::Summary;
use crate::trace::timeline::Timeline;
#[cfg(feature = "html")]
use crate::util::atomic_file;
use crate::util::privileges::refuse_to_record;
#[cfg(feature = "html")]
use crate::util::sync::lock;

/// Records the tasks and workers of one runtime.
///
/// A collector is inactive until [`start`](Self::start). It can be read at any time, including
/// while the runtime is running and after it was dropped.
///
/// # Examples
///
/// ```
/// use tokio_statemap::{CollectorConfig, TraceTarget, register_hooks};
///
/// let mut builder = tokio::runtime::Builder::new_multi_thread();
/// builder.worker_threads(2).enable_all();
/// # let config = CollectorConfig { trace_target: TraceTarget::Workers, ..Default::default() };
/// # #[cfg(tokio_unstable)]
/// let config = CollectorConfig::default();
/// let collector = register_hooks(&mut builder, config)?;
/// collector.start();
/// let runtime = builder.build()?;
/// collector.block_on(&runtime, async {
///     tokio::spawn(async {}).await.unwrap();
/// });
/// drop(runtime);
/// collector.stop();
///
/// let timeline = collector.snapshot();
/// println!("{}", timeline.report());
/// let mut data = Vec::new();
/// timeline.to_data().write_tasks(&mut data)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Collector {
    recorder: Recorder,
    /// The metrics that need a snapshot: the places where tasks wait, and the poll that held a worker lately.
    lately: Cached<Lately>,
    /// The sums, for metrics.
    sums: Cached<Summary>,
}

/// Installs hooks in `builder`, so that the runtime built from it is recorded.
///
/// Nothing is recorded until [`Collector::start`].
///
/// Tokio keeps one closure per hook: a later `builder.on_thread_park(…)` or the like *replaces* the
/// one installed here, and an earlier one is replaced. Pass hooks of your own to
/// [`register_hooks_with`].
///
/// Build one runtime only from `builder`: two would share the collector, and their workers the same
/// rows.
///
/// With [`Keep::First`](crate::Keep::First) the collector is full once it has `max_events`: further
/// events are only counted ([`Lost::refused_events`]). Another [`Collector::start`] doesn't change
/// that: [`Collector::is_recording`] is true, and events are counted. [`Collector::drain_events`]
/// makes room, and a started collector resumes recording by itself.
///
/// # Examples
///
/// ```
/// # use tokio_statemap::TraceTarget;
/// use tokio_statemap::{CollectorConfig, register_hooks};
///
/// let mut builder = tokio::runtime::Builder::new_current_thread();
/// # let config = CollectorConfig { trace_target: TraceTarget::Workers, ..Default::default() };
/// # #[cfg(tokio_unstable)]
/// let config = CollectorConfig { max_events: 100_000, ..CollectorConfig::default() };
/// let collector = register_hooks(builder.enable_all(), config)?;
/// collector.start();
/// let runtime = builder.build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// In case of an error `builder` is unchanged.
///
/// - [`Error::UnstableFeaturesRequired`] if tasks are to be recorded and Tokio was built without
///   `--cfg tokio_unstable`.
/// - [`Error::InvalidCasts`] if Tokio's task ids can't be read; see [`check_casts`](crate::check_casts).
/// - [`Error::InvalidConfig`] if a field of `config` has an invalid value.
pub fn register_hooks(
    builder: &mut Builder,
    config: CollectorConfig,
) -> Result<Arc<Collector>, Error> {
    register_hooks_with(builder, config, Hooks::new())
}

/// Like [`register_hooks`], but also calls `hooks`, after the hooks that record.
///
/// # Examples
///
/// ```
/// # use tokio_statemap::TraceTarget;
/// use tokio_statemap::{CollectorConfig, Hooks, register_hooks_with};
///
/// let mut builder = tokio::runtime::Builder::new_multi_thread();
/// builder.worker_threads(2).enable_all();
/// let hooks = Hooks::new().on_thread_start(|| println!("a thread of the runtime starts"));
/// # let config = CollectorConfig { trace_target: TraceTarget::Workers, ..Default::default() };
/// # #[cfg(tokio_unstable)]
/// let config = CollectorConfig::default();
/// let collector = register_hooks_with(&mut builder, config, hooks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The same as for [`register_hooks`].
pub fn register_hooks_with(
    builder: &mut Builder,
    config: CollectorConfig,
    hooks: Hooks,
) -> Result<Arc<Collector>, Error> {
    if config.trace_target.tracks_tasks() && !cfg!(tokio_unstable) {
        return Err(Error::UnstableFeaturesRequired);
    }
    Collector::check(&config)?;
    Ok(Collector::install(builder, config, hooks))
}

impl Collector {
    pub(crate) fn from_recorder(recorder: Recorder) -> Arc<Self> {
        Arc::new(Self { recorder, lately: Cached::default(), sums: Cached::default() })
    }

    #[cfg(all(test, tokio_unstable))]
    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Checks that a collector with this configuration can be created.
    pub(crate) fn check(config: &CollectorConfig) -> Result<(), Error> {
        config.check()?;
        if config.trace_target.tracks_tasks() {
            crate::recorder::task_id::check_casts()?;
        }
        Ok(())
    }

    /// Installs all hooks.
    pub(crate) fn install(
        builder: &mut Builder,
        config: CollectorConfig,
        user: Hooks,
    ) -> Arc<Self> {
        let recorder = Recorder::new(config);
        let hooks = TokioHooks::new(&recorder);
        #[cfg(all(tokio_unstable, feature = "schedule-latency"))]
        if hooks.needs_schedule_latency() {
            builder.track_task_schedule_latency();
        }
        hooks::install(builder, user, Some(hooks));
        Self::from_recorder(recorder)
    }

    /// Starts recording. Has no effect if recording is already started. A program with privileges that its caller may
    /// lack (set-uid, set-gid, file capabilities) isn't recorded: it prints one line instead.
    ///
    /// Call it before the runtime is built, or the starts of its workers are missed. After a
    /// [`stop`](Self::stop) recording is resumed: the time in between is a gap in the timeline.
    ///
    /// With [`Keep::First`](crate::Keep::First) and `max_events` kept, events are only counted
    /// ([`Lost`]) until [`drain_events`](Self::drain_events) makes room.
    pub fn start(&self) {
        if !refuse_to_record() {
            self.recorder.start();
        }
    }

    /// Calls `f` with each black box that an earlier process of this program has left, as soon as it is found.
    #[cfg(has_recover)]
    pub(crate) fn when_left(&self, f: Box<dyn Fn(&Left) + Send + Sync>) {
        self.recorder.black_box.when_left(f);
    }

    /// Ends the black box, and removes it if the outputs were written.
    pub(crate) fn close_black_box(&self, are_written: bool) {
        #[cfg(has_black_box)]
        crate::recorder::close_box(&self.recorder, are_written);
        #[cfg(not(has_black_box))]
        let _ = are_written;
    }

    /// Stops recording. Has no effect if recording is not started. From then on a hook costs next
    /// to nothing.
    pub fn stop(&self) {
        self.recorder.stop();
    }

    /// Returns `true` if recording was started and not stopped.
    ///
    /// With [`Keep::First`](crate::Keep::First) and `max_events` kept, events are only counted
    /// ([`Lost`]), but this still returns `true`.
    pub fn is_recording(&self) -> bool {
        self.recorder.kept.is_recording()
    }

    /// Returns the configuration of this collector.
    pub fn config(&self) -> &CollectorConfig {
        &self.recorder.kept.config
    }

    /// Runs `future` with [`Runtime::block_on`] and records it as the task `main`.
    ///
    /// Tokio has no hooks for the future passed to `block_on`.
    ///
    /// # Panics
    ///
    /// Panics where [`Runtime::block_on`] does: inside another runtime, or if `future` panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        self.recorder.set_runtime(runtime.handle());
        runtime.block_on(self.root(future, Location::caller(), || {}))
    }

    /// Wraps `future` as a root future at `location`. `then` is called before its first poll, once the runtime is
    /// built.
    pub(crate) fn root<F>(
        &self,
        future: F,
        location: &'static Location<'static>,
        then: impl FnOnce() + Send + 'static,
    ) -> Root<F> {
        let recorder = Arc::clone(&self.recorder);
        Root::new(future, location, Some(&self.recorder)).when_built(move || {
            recorder.runtime_is_built();
            then();
        })
    }

    /// Calls `f` once the runtime has started its threads, on one of them or on the thread that polls the root future.
    pub(crate) fn when_built(&self, f: Box<dyn Fn() + Send + Sync>) {
        self.recorder.runtime.when_built(f);
    }

    /// Returns `true` if a runtime is known to have been built with its hooks.
    pub(crate) fn is_built(&self) -> bool {
        self.recorder.runtime.is_hooked()
    }

    /// Returns `true` if threads of its runtime still run.
    pub(crate) fn has_threads(&self) -> bool {
        self.recorder.runtime.has_threads()
    }

    /// Returns `true` if its runtime and the builder are gone, so that nothing has its hooks any more.
    pub(crate) fn is_ended(&self) -> bool {
        // If nothing is traced, no hook was installed.
        self.config().trace_target != TraceTarget::None && Arc::strong_count(&self.recorder) == 1
    }

    /// Returns the number of events that are kept in the store.
    pub(crate) fn kept_events(&self) -> u64 {
        self.recorder.kept.stored_events()
    }

    /// Returns `true` if it records the runtime of `handle`.
    pub(crate) fn is_of(&self, handle: &Handle) -> bool {
        self.recorder.runtime.is(handle)
    }

    /// Sets the runtime's name, before a hook reads it.
    pub(crate) fn set_runtime_name(&self, name: &str) {
        self.recorder.runtime.set_name(name);
    }

    /// Sets the program's version, which is stored in the data so that runs of several versions can
    /// be compared.
    ///
    /// Only the first call has an effect. The attributes set `CARGO_PKG_VERSION`.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(tokio_unstable)] {
    /// use tokio_statemap::{CollectorConfig, register_hooks};
    ///
    /// let mut builder = tokio::runtime::Builder::new_multi_thread();
    /// let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    /// collector.set_version(env!("CARGO_PKG_VERSION"));
    /// # }
    /// ```
    pub fn set_version(&self, version: &str) {
        self.recorder.runtime.version.get_or_init(|| version.to_owned());
    }

    /// Declares that tasks may be spawned before the first start, which is delayed.
    pub(crate) fn expect_late_start(&self) {
        self.recorder.kept.current.expect_late_start();
    }

    /// Removes all kept events and returns them, sorted by time over all threads. The next call
    /// returns the events recorded since.
    ///
    /// With [`Keep::First`](crate::Keep::First) and `max_events` kept, this resumes recording, as a
    /// [`stop`](Self::stop) and a [`start`](Self::start) would. The time in between is a gap: what
    /// terminated during it is unknown, and what was running is no longer assumed to be.
    ///
    /// To read the events without removing them, use [`snapshot`](Self::snapshot).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tokio_statemap::{CollectorConfig, TraceTarget, register_hooks};
    /// # let mut builder = tokio::runtime::Builder::new_current_thread();
    /// # let trace_target = TraceTarget::Workers;
    /// # #[cfg(tokio_unstable)]
    /// # let trace_target = TraceTarget::Both;
    /// # let config = CollectorConfig { trace_target, ..Default::default() };
    /// # let collector = register_hooks(builder.enable_all(), config)?;
    /// # collector.start();
    /// # let runtime = builder.build()?;
    /// collector.block_on(&runtime, tokio::task::yield_now());
    /// let events = collector.drain_events();
    /// assert!(events.is_sorted_by_key(|event| event.time_ns()));
    /// for event in &events {
    ///     println!("{event:?}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drain_events(&self) -> Vec<Event> {
        Snapshot::take(&self.recorder, true).events()
    }

    /// Converts drained events to statemap data.
    ///
    /// The events of each thread must be in order, as [`drain_events`](Self::drain_events) returns
    /// them; concatenate those of several drains. The data covers the time from the first to the last
    /// event. It has no gaps: if recording was stopped in between, the previous states continue.
    pub fn events_to_data(&self, events: &[Event]) -> StatemapData {
        let utc_at_zero = self.recorder.kept.utc_at_zero();
        Timeline::from_events(events, &self.recorder.kept.config, utc_at_zero).into_data()
    }

    /// Returns the states of every task and worker up to now. The runtime continues to run
    /// meanwhile.
    ///
    /// From about 200 000 events on, up to four threads build it in parallel, if there are that many
    /// processors.
    ///
    /// # Examples
    ///
    /// A report on a running service:
    ///
    /// ```no_run
    /// # async fn something_odd() {}
    /// # async fn watch(
    /// #     collector: &tokio_statemap::Collector,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// something_odd().await;
    /// let timeline = collector.snapshot();
    /// eprintln!("{}", timeline.report());
    /// timeline.into_data().write_tasks(std::fs::File::create("odd.json")?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn snapshot(&self) -> Timeline {
        Timeline::from_snapshot(&self.capture())
    }

    /// Returns what a [`snapshot`](Self::snapshot) is made of. All locks of the recorder are released by then.
    pub(crate) fn capture(&self) -> Snapshot {
        let mut snapshot = Snapshot::take(&self.recorder, false);
        let capture = &mut snapshot.capture;
        // Recording may have been stopped just now, as the outputs are to be written.
        capture.samples.beside.append(&mut sample_pool(&self.recorder, capture.end));
        snapshot
    }

    /// Writes the page of all that is kept up to now to the file `path`, which is replaced once the page is complete. The
    /// runtime continues to run meanwhile.
    ///
    /// The call takes longer than a [`snapshot`](Self::snapshot), and it waits for the disk: call it on a thread that may
    /// block. The key `dump_on` has pages written by themselves, see [`Recording::dump_on`](crate::Recording::dump_on).
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file can't be written. What was there before is unchanged then.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn on_request() {
    /// if let Some(collector) = tokio_statemap::current() {
    ///     let written = tokio::task::spawn_blocking(move || collector.dump("now.statemap.html"));
    ///     if let Ok(Err(error)) = written.await {
    ///         eprintln!("{error}");
    ///     }
    /// }
    /// # }
    /// ```
    #[cfg(feature = "html")]
    pub fn dump(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.write_page(path.as_ref())
    }

    /// Calls `f` with the path of each page that [`dump_on`](crate::Recording::dump_on) has written, once the file is
    /// complete: to upload it, or to tell somebody.
    ///
    /// `f` runs on the thread that waits for triggers, never on a worker, so it may block. Meanwhile triggers are noted, but
    /// no other page is written. The end of the program doesn't wait for it. A panic in `f` ends only that call, and a line on
    /// stderr says so. `f` runs with the signal mask of the thread that calls this method. Several functions are called one
    /// after the other.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn serve() {}
    /// # fn upload(_: &std::path::Path) {}
    /// #[tokio_statemap::main(dump_on = "poll > 100ms, panic")]
    /// # async fn main() { example().await }
    /// # async fn example() {
    /// // There is none with `TOKIO_STATEMAP=0`.
    /// if let Some(collector) = tokio_statemap::current() {
    ///     collector.on_dump(|page| upload(page));
    /// }
    /// serve().await;
    /// # }
    /// ```
    #[cfg(feature = "html")]
    pub fn on_dump(&self, f: impl Fn(&Path) + Send + Sync + 'static) {
        #[cfg(unix)]
        let f = {
            let mask = Mask::of_this_thread();
            move |path: &Path| mask.during(|| f(path))
        };
        lock(&self.recorder.watch.page_listeners.0).push(Arc::new(f));
    }

    /// Returns the functions that were given to [`on_dump`](Self::on_dump).
    #[cfg(feature = "html")]
    pub(crate) fn page_listeners(&self) -> Vec<OnPage> {
        lock(&self.recorder.watch.page_listeners.0).clone()
    }

    #[cfg(feature = "html")]
    fn write_page(&self, path: &Path) -> Result<(), Error> {
        let timeline = self.snapshot();
        atomic_file::write(path, |w| timeline.write_html(w))
            .map_err(|source| Error::Io { path: Some(path.to_owned()), source })
    }

    /// Returns the place where each live task is: the functions that it waits in, or those that its
    /// thread is in during a long poll. The runtime continues to run meanwhile, and no task is polled.
    ///
    /// Root futures such as `main` come first, then spawned tasks by id. The functions that a task
    /// waits in are known for all tasks with the feature `wakes`, and otherwise for root futures and for
    /// tasks spawned through [`task`](crate::task). Other tasks are listed without functions.
    /// [`trees::Folded`](crate::trees::Folded) prints the trees, equal ones once.
    ///
    /// The call takes as long as a [`snapshot`](Self::snapshot). The first call also reads the
    /// program's debug information, on this thread.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn dump(collector: &tokio_statemap::Collector) {
    /// for tree in collector.trees() {
    ///     println!("{tree}");
    /// }
    /// # }
    /// ```
    pub fn trees(&self) -> Vec<TaskTree> {
        self.snapshot().trees()
    }

    /// Calls `f` once for each poll that has run for `threshold`, while the poll is still running.
    ///
    /// Threads are checked every 5 ms, which is the minimum threshold. A poll that ends within 20 ms
    /// after the threshold may be missed. `f` runs on its own thread, never on a worker, so it may
    /// block, and does not delay the closures of other calls. It is called for one poll at a time;
    /// while 256 polls are queued, further ones are dropped and counted in [`LivePoll::missed`] of the
    /// next. A panic in `f` ends only that call. `f` is also called if the stack could not be read,
    /// and if the processor was taken away ([`LivePoll::is_taken_away`]).
    ///
    /// `f` runs with the signal mask of the thread that calls this method, so that processes and
    /// threads started by `f` inherit it.
    ///
    /// This requires this crate's feature `stacks`, Linux on x86-64 or aarch64, and
    /// [`CollectorConfig::stacks`]; otherwise `f` is never called. Polls are only checked while
    /// recording is on and includes tasks ([`TraceTarget`](crate::TraceTarget)).
    ///
    /// # Examples
    ///
    /// ```
    /// # use tokio_statemap::TraceTarget;
    /// use std::time::Duration;
    /// use tokio_statemap::{CollectorConfig, register_hooks};
    ///
    /// let mut builder = tokio::runtime::Builder::new_multi_thread();
    /// # let config = CollectorConfig { trace_target: TraceTarget::Workers, ..Default::default() };
    /// # #[cfg(tokio_unstable)]
    /// let config = CollectorConfig::default();
    /// let collector = register_hooks(&mut builder, config)?;
    /// collector.on_long_poll(Duration::from_millis(100), |poll| {
    ///     // A service would write this to its log.
    ///     eprintln!("{poll}");
    ///     if let Some(function) = poll.blamed() {
    ///         eprintln!("{function} blocks worker {:?}", poll.worker);
    ///     }
    /// });
    /// collector.start();
    /// let runtime = builder.build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_long_poll(&self, threshold: Duration, f: impl Fn(&LivePoll) + Send + Sync + 'static) {
        #[cfg(unix)]
        let f = {
            let mask = Mask::of_this_thread();
            move |poll: &LivePoll| mask.during(|| f(poll))
        };
        self.on_wanted_long_poll(threshold, || true, f);
    }

    /// Like [`on_long_poll`](Self::on_long_poll), but only for polls for which `wants` returns `true`. `wants` is
    /// called on the watcher's thread.
    pub(crate) fn on_wanted_long_poll(
        &self,
        threshold: Duration,
        wants: impl Fn() -> bool + Send + Sync + 'static,
        f: impl Fn(&LivePoll) + Send + Sync + 'static,
    ) {
        let notify = move |seen: &SeenPoll, missed| f(&LivePoll::from_seen(seen, missed));
        self.on_seen_poll(threshold, Box::new(wants), Box::new(notify));
    }

    /// Does the same with polls as they were seen, whose functions have no names yet: these are only found in the
    /// program's debug information.
    pub(crate) fn on_seen_poll(
        &self,
        threshold: Duration,
        wants: Box<dyn Fn() -> bool + Send + Sync>,
        notify: Box<Notify>,
    ) {
        let (threshold, missed) = (threshold.max(MIN_THRESHOLD), AtomicU64::new(0));
        self.recorder.watch.listeners.add(Listener { threshold, wants, notify, missed });
        // Threads in long polls may otherwise be skipped until their next sample.
        self.recorder.watch_all();
    }

    /// Returns a function that tells, once for each time that this happens, that each worker of the runtime has been in
    /// its poll for `time`. It is for the watcher's thread.
    #[cfg(feature = "html")]
    pub(crate) fn stalls(&self, time: Duration) -> impl Fn() -> bool + Send + Sync + use<> {
        let (recorder, last) = (self.recorder.this(), AtomicU64::new(0));
        move || {
            let recorder = recorder.upgrade();
            let since = recorder.and_then(|recorder| stalled_since(&recorder, time));
            since.is_some_and(|since| last.swap(since, Ordering::Relaxed) != since)
        }
    }

    /// Returns the times of instrumented async functions since the first [`start`](Self::start).
    /// The runtime continues to run meanwhile.
    pub fn profile(&self) -> Profile {
        Profile::from_calls(&self.recorder.calls(), self.recorder.kept.clock.scale().run_rate())
    }

    /// Returns the sums of all tasks and workers since the first [`start`](Self::start) or the last
    /// [`reset_summary`](Self::reset_summary), including events that were dropped or drained.
    ///
    /// The runtime continues to run meanwhile. The calling thread adds up the kept events, which takes
    /// about 20 ms for a million events: fast enough for a metrics endpoint, for which
    /// [`Summary::prometheus`] writes it as text.
    ///
    /// From one second after the first start on, no sum is less than in an earlier summary, unless the sums were reset: all
    /// summaries convert lengths by one clock rate, which the first of them measures to a millionth or so.
    ///
    /// # Examples
    ///
    /// See [`Summary`].
    pub fn summary(&self) -> Summary {
        self.summarize(Snapshot::take(&self.recorder, false))
    }

    /// Returns the [`summary`](Self::summary) and resets it: the next one starts with what is in
    /// progress now. Each poll that ends is in exactly one summary; one that is still running is in
    /// each with its length so far, and finally with its whole length.
    ///
    /// From then on, the [report](Timeline::report) of a snapshot covers the kept events, as the
    /// sums no longer cover the whole run.
    pub fn reset_summary(&self) -> Summary {
        let summary = self.summarize(Snapshot::take_and_reset_sums(&self.recorder));
        self.sums.clear();
        summary
    }

    fn summarize(&self, mut snapshot: Snapshot) -> Summary {
        snapshot.keep_rate(&self.recorder.kept.clock.sums_rate);
        Summary::from_snapshot(&snapshot)
    }

    /// Returns metrics for Prometheus: those of [`Summary::prometheus`], and these of what is going on:
    ///
    /// | metric | type | labels |
    /// | --- | --- | --- |
    /// | `tasks_waiting`, `longest_wait_seconds` | gauge | `function`, `line`, `awaits` |
    /// | `longest_poll_of_last_minute_seconds` | gauge | `function`, `line`, `location` |
    /// | `dumps_total`, `dumps_left_out_total` | counter | |
    ///
    /// - The tasks that wait are those at a line of the program's own code, or else of a dependency, where that is known;
    ///   `function="unknown"` are the others. `awaits` is what is awaited there. There are at most 50 lines, those with the most
    ///   tasks, and `function="other"` for the rest. Root futures are left out. A task that has waited since before what is kept
    ///   may have waited for longer.
    /// - The longest poll is that which held a worker longest, of those in the last minute that are kept. `function` and
    ///   `line` are what the report blames for it, if it was sampled; a function that computes has its file only. `location` is
    ///   the task's spawn location. It is one series at a time.
    /// - The dumps are the pages that the key `dump_on` has written in this process, whatever the runtime, and the triggers
    ///   that led to none (`dump_limit`, or an error).
    ///
    /// The waiting tasks and the longest poll need a [`snapshot`](Self::snapshot), and all others the
    /// [`summary`](Self::summary). Each of these takes some 50 ms where a million events are kept. One that takes 10 ms or more
    /// is taken again once that is less than 1 % of the time since it was taken last, or after 15 s: until then the metrics are
    /// those of before. `recorded_seconds_total` is the time that the sums are of. Call it on a thread that may block.
    ///
    /// # Examples
    ///
    /// See the example `service`.
    pub fn prometheus(&self) -> String {
        let now = Instant::now();
        let lately = self.lately.get(now, &|| Lately::from_timeline(&self.snapshot()));
        let dumps = [&PAGES.written, &PAGES.left_out].map(|pages| pages.load(Ordering::Relaxed));
        self.sums.get(now, &|| self.summary()).prometheus_with(&lately, dumps)
    }

    /// Returns the numbers of events that were emitted but are not kept, by cause.
    pub fn lost(&self) -> Lost {
        self.recorder.kept.lost_now()
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector")
            .field("config", &self.recorder.kept.config)
            .field("is_recording", &self.is_recording())
            .finish_non_exhaustive()
    }
}
