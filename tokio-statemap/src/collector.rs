//! The collector: what hooks record, when, and what becomes of it.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::config::CollectorConfig;
use crate::error::Error;
use crate::hooks::{self, Hooks};
use crate::recorder::Recorder;
use crate::recorder::TokioHooks;
use crate::recorder::lost::Lost;
use crate::recorder::root_future::Root;
use crate::statemap::StatemapData;
use crate::trace::event::Event;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::Timeline;
use crate::util::sync::lock;

/// Records what the tasks and workers of one runtime do.
///
/// It is inactive until [`start`](Self::start), and can be read at any time, also while the runtime
/// runs, and after it has ended.
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
    recorder: Arc<Recorder>,
}

/// Sets the hooks of `builder` so that the runtime it builds is recorded.
///
/// Tokio keeps one closure a hook: a later `builder.on_thread_park(…)` or the like *replaces* the
/// one set here, and one set before is replaced. Pass hooks of your own to
/// [`register_hooks_with`].
///
/// Build one runtime from `builder`: two would share the collector, and their workers the rows.
///
/// With [`Keep::First`](crate::Keep::First) the collector is full once it has `max_events`: from
/// then on events are only counted ([`Lost::refused_events`]). A [`start`](Collector::start) doesn't
/// change that, be it after a [`stop`](Collector::stop) or not: [`Collector::is_recording`] is true,
/// and events are counted. [`Collector::drain_events`] makes room, and recording goes on by itself
/// if the collector is started.
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
/// - [`Error::UnstableFeaturesRequired`] if tasks are to be recorded and this was built without
///   `--cfg tokio_unstable`.
/// - [`Error::InvalidCasts`] if Tokio's task ids can't be read; see [`check_casts`](crate::check_casts).
/// - [`Error::InvalidConfig`] if a field of `config` has a value that can't be used.
///
/// `builder` is left as it was then.
pub fn register_hooks(
    builder: &mut Builder,
    config: CollectorConfig,
) -> Result<Arc<Collector>, Error> {
    register_hooks_with(builder, config, Hooks::new())
}

/// The same as [`register_hooks`]; `hooks` are called too, after those that record.
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
/// As [`register_hooks`].
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
    pub(crate) fn of(recorder: Arc<Recorder>) -> Arc<Self> {
        Arc::new(Self { recorder })
    }

    /// Whether a collector can be made so.
    pub(crate) fn check(config: &CollectorConfig) -> Result<(), Error> {
        config.check()?;
        if config.trace_target.tracks_tasks() {
            crate::recorder::task_id::check_casts()?;
        }
        Ok(())
    }

    /// Sets all the hooks there are.
    pub(crate) fn install(
        builder: &mut Builder,
        config: CollectorConfig,
        user: Hooks,
    ) -> Arc<Self> {
        #[cfg(all(tokio_unstable, feature = "schedule-latency"))]
        if config.schedule_latency && config.trace_target.tracks_tasks() {
            builder.track_task_schedule_latency();
        }
        let recorder = Recorder::new(config);
        hooks::install(builder, user, Some(TokioHooks::of(&recorder)));
        Self::of(recorder)
    }

    /// Begins to record; without effect while it does. Call it before the runtime is built, or the
    /// starts of its workers are missed.
    ///
    /// After a [`stop`](Self::stop) it goes on: the time between is a gap in the timeline. A collector
    /// that is full ([`Keep::First`](crate::Keep::First)) stays full until it is drained.
    pub fn start(&self) {
        self.recorder.start();
    }

    /// Ceases to record; without effect unless it does. A hook costs next to nothing from then on.
    pub fn stop(&self) {
        self.recorder.stop();
    }

    /// Whether it was started, and not stopped. With [`Keep::First`](crate::Keep::First) and `max_events`
    /// there, events are only counted all the same ([`Lost`]).
    pub fn is_recording(&self) -> bool {
        self.recorder.is_recording()
    }

    /// What it was made to record.
    pub fn config(&self) -> &CollectorConfig {
        &self.recorder.config
    }

    /// `runtime.block_on(future)`, so that `future` shows, as the task `main`.
    ///
    /// Tokio has no hooks for the future that `block_on` drives.
    ///
    /// # Panics
    ///
    /// As [`Runtime::block_on`] does: within another runtime, or if `future` panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        self.recorder.belongs_to(runtime.handle());
        runtime.block_on(self.root(future, Location::caller()))
    }

    /// `future`, made visible as a root future that stands at `location`.
    pub(crate) fn root<F>(&self, future: F, location: &'static Location<'static>) -> Root<F> {
        Root::new(future, location, Some(&self.recorder))
    }

    /// Says what the runtime is called, before a hook finds out.
    pub(crate) fn belongs_to_runtime_named(&self, name: &str) {
        self.recorder.is_named(name);
    }

    /// Says that tasks may live before the first start, which is delayed.
    pub(crate) fn expect_late_start(&self) {
        self.recorder.expect_late_start();
    }

    /// Takes out all events that are kept, over all threads by time. The next call gives what came
    /// since.
    ///
    /// With [`Keep::First`](crate::Keep::First) and `max_events` there, nothing was recorded any more: it
    /// goes on from here, as after a [`stop`](Self::stop) and a [`start`](Self::start). The time between
    /// is a gap, of which nothing is known: not who ended, and what was running isn't any more.
    ///
    /// To look without taking, use [`snapshot`](Self::snapshot).
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

    /// Statemap data of events that were drained: of each thread in their order, as
    /// [`drain_events`](Self::drain_events) gives them; of several drains one after the other.
    ///
    /// It reaches from the first to the last of them, and knows of no gaps: where recording was
    /// stopped in between, the states before go on.
    pub fn events_to_data(&self, events: &[Event]) -> StatemapData {
        let utc_at_zero = self.recorder.utc_at_zero();
        Timeline::from_events(events, &self.recorder.config, utc_at_zero).into_data()
    }

    /// What every task and worker was doing up to now. The runtime runs on meanwhile.
    ///
    /// From some 200 000 events on, they are read by up to four threads at the same time, as far as there
    /// are processors.
    ///
    /// # Examples
    ///
    /// A report on a service that runs on:
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
        Timeline::from_snapshot(&Snapshot::take(&self.recorder, false))
    }

    /// The events that were emitted but aren't kept, by cause.
    pub fn lost(&self) -> Lost {
        self.recorder.flush();
        // While this is held nothing is dropped; and nobody waits for the outlets with the store.
        let _roster = lock(&self.recorder.live_tasks);
        let stored_events = lock(&self.recorder.store).events();
        self.recorder.lost(stored_events)
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector")
            .field("config", &self.recorder.config)
            .field("is_recording", &self.is_recording())
            .finish_non_exhaustive()
    }
}
