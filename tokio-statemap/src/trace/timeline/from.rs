//! Builds timelines from a snapshot or from drained events.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::config::CollectorConfig;
use crate::recorder::functions::fields_of;
use crate::recorder::memory::live_tasks::{LiveTask, Liveness, Stream};
use crate::recorder::record::ROOT;
use crate::recorder::store::segment::{Segment, events_of};
use crate::recorder::waits::names::NameId;
use crate::trace::event::Event;
use crate::trace::snapshot::{Reading, Snapshot, task_id};
use crate::trace::summary::Summary;
use crate::trace::timeline::build::{Builder, Built, CarriedPoll};
use crate::trace::timeline::gaps;
use crate::trace::timeline::sample;
use crate::trace::timeline::{
    CallAtEnd, CarriedWait, CpuTime, Known, LocalTask, Quiet, RecordSettings, Sampling,
    SamplingState, TaskKey, Tasks, Timeline, WaitId, WaitingTask,
};
use crate::trace::woken_by::WokenBy;
use crate::util::parallel::{Job, MANY_EVENTS, run_all};

impl Timeline {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let events = events_of(&snapshot.capture.segments);
        let mut timeline = Self::read_by(threads_for(events), snapshot);
        timeline.events = events;
        timeline
    }

    /// Builds the timeline, except for the number of events, with `threads` threads.
    fn read_by(threads: usize, snapshot: &Snapshot) -> Self {
        let (builder, known) = build(snapshot, &snapshot.parts(threads));
        let locate = |known: &Known| known.location().and_then(|id| snapshot.location(id));
        let mut built = builder.finish(
            known,
            snapshot.capture.config.long_poll,
            &snapshot.capture.names,
            &snapshot.steal,
            &locate,
        );
        let quiet = Quiet {
            tasks: std::mem::take(&mut built.quiet),
            locations: snapshot.capture.locations.clone(),
            waiting: waiting(snapshot),
            begin_ns: snapshot.detail_ns,
        };
        let mut timeline = Self::from_built(built, quiet, &snapshot.capture.config);
        timeline.settings.schedule_latency &= !snapshot.capture.misses_ready_times;
        timeline.tasks.carry_waits();
        timeline.local_tasks = local_tasks(snapshot);
        // If its host has ended, a task is polled no more.
        timeline.local_tasks.retain(|task| timeline.tasks.lives(task.polled_in));
        timeline.places.calls_at_end = calls_at_end(snapshot).into();
        timeline.places.not_kept = snapshot.capture.places.not_kept;
        for task in timeline.tasks.seen_mut() {
            if let (TaskKey::Root(number), None) = (task.key, task.location) {
                let location =
                    snapshot.capture.root_locations.get(number as usize).copied().flatten();
                task.location = location.map(Into::into);
            }
        }
        timeline.runtime.clone_from(&snapshot.capture.runtime);
        timeline.version.clone_from(&snapshot.capture.version);
        timeline.utc_at_zero = snapshot.capture.utc_at_zero;
        timeline.begin_ns = snapshot.begin_ns;
        timeline.recent_ns = snapshot.detail_ns;
        timeline.end_ns = snapshot.end_ns.max(snapshot.begin_ns);
        timeline.gaps = gaps::between_windows(&snapshot.windows, snapshot.begin_ns);
        timeline.lost = snapshot.capture.lost;
        timeline.machine.limit = snapshot.capture.cpu_limit;
        timeline.machine.clock = snapshot.clock;
        timeline.profile.clone_from(&snapshot.profile);
        timeline.whole_run = Some(Arc::new(Summary::from_snapshot(snapshot).limited()));
        timeline.long_polls.sampling = Sampling {
            state: match snapshot.capture.config.stacks {
                true => SamplingState::OF_THIS_BUILD,
                false => SamplingState::Off,
            },
            dropped: snapshot.capture.samples.dropped,
            no_stacks: snapshot.capture.samples.no_stacks,
        };
        let no_stacks = &mut timeline.long_polls.sampling.no_stacks;
        (timeline.long_polls.samples, timeline.long_polls.beside) =
            sample::resolve(snapshot, no_stacks);
        timeline.cpu = CpuTime::from_samples(&snapshot.capture.cpu);
        timeline.resolve_waits(&snapshot.capture.places);
        timeline.carry_samples(snapshot.detail_ns);
        timeline.apply_samples();
        #[cfg(feature = "tracing")]
        {
            timeline.requests = super::spans::from_snapshot(snapshot, &timeline);
        }
        timeline
    }

    /// Builds a timeline from drained events, those of each thread in order.
    ///
    /// It reaches from the first to the last event. Facts outside of the events are unknown: the
    /// runtime's name, the lost events, and the tasks spawned before.
    pub(crate) fn from_events(
        events: &[Event],
        config: &CollectorConfig,
        utc_at_zero: Duration,
    ) -> Self {
        let (mut begin_ns, mut end_ns) = (u64::MAX, 0);
        for event in events {
            (begin_ns, end_ns) = (begin_ns.min(event.time_ns()), end_ns.max(event.time_ns()));
        }
        begin_ns = begin_ns.min(end_ns);
        let mut builder = Builder::new(vec![(begin_ns, end_ns)], begin_ns, begin_ns);
        for event in events {
            builder.event(event);
        }
        let mut timeline = Self::from_built(
            builder.finish(Vec::new(), config.long_poll, &[], &[], &|_| None),
            Quiet::default(),
            config,
        );
        timeline.utc_at_zero = utc_at_zero;
        timeline.begin_ns = begin_ns;
        timeline.recent_ns = begin_ns;
        timeline.end_ns = end_ns;
        timeline.events = events.len() as u64;
        timeline
    }

    fn from_built(built: Built, quiet: Quiet, config: &CollectorConfig) -> Self {
        let mut timeline = Self {
            tasks: Tasks::new(built.tasks, quiet),
            handovers: built.handovers,
            machine: built.machine,
            pool: built.pool,
            settings: RecordSettings::from_config(config),
            ..Self::empty()
        };
        timeline.long_polls.causes = built.causes;
        // Polls show which workers exist, but not their states in between.
        if config.trace_target.tracks_workers() {
            timeline.workers = built.workers;
        }
        timeline
    }
}

/// Collects the tasks that are known to wait, sorted by id.
fn waiting(snapshot: &Snapshot) -> Vec<WaitingTask> {
    let mut waiting = Vec::new();
    for task in &snapshot.capture.waiting {
        if task.polled_in.is_some() {
            continue;
        }
        let mut carried = None;
        if let Some((wait, since)) = task.waits {
            let since_ns = snapshot.ns(since);
            // A wait that began after the snapshot's end belongs to a poll that was not read.
            if since_ns <= snapshot.end_ns {
                carried = Some(CarriedWait { since_ns, wait: WaitId::new(wait) });
            }
        }
        let name = name(snapshot, task.name);
        waiting.push(WaitingTask { id: task_id(task.id), name, wait: carried });
    }
    crate::util::sort::by_key(&mut waiting, |task| task.id);
    waiting
}

/// Collects the instrumented calls that waiting tasks are in, sorted by task key.
fn calls_at_end(snapshot: &Snapshot) -> Vec<(TaskKey, Vec<CallAtEnd>)> {
    let mut all = Vec::new();
    for task in &snapshot.capture.waiting {
        let Some((wait, _)) = task.waits else { continue };
        let mut entered = task.entered.iter();
        let mut calls = Vec::new();
        for function in snapshot.capture.places.calls(wait) {
            let Some(&entered) = entered.next() else { break };
            let fields = fields_of(function, entered);
            calls.push(CallAtEnd { entered_ns: snapshot.ns(entered), fields });
        }
        if !calls.is_empty() {
            all.push((TaskKey::from_id(task_id(task.id)), calls));
        }
    }
    crate::util::sort::by_key(&mut all, |(key, _)| *key);
    all
}

/// Collects the waiting tasks of `LocalSet`s, sorted by id.
fn local_tasks(snapshot: &Snapshot) -> Vec<LocalTask> {
    let mut local: Vec<LocalTask> = Vec::new();
    for task in &snapshot.capture.local {
        local.push(LocalTask {
            id: task.id,
            polled_in: TaskKey::from_id(task_id(task.polled_in)),
            location: None,
            name: None,
            waits_since_ns: snapshot.ns(task.since).min(snapshot.end_ns),
            woken_by: WokenBy::unpack(task.woken_by),
            wait: WaitId::new(task.wait),
        });
    }
    crate::util::sort::by_key(&mut local, |task| task.id);
    // More is known of tasks that were spawned through this crate.
    let by_hooks = local.len();
    for task in &snapshot.capture.waiting {
        let Some(polled_in) = task.polled_in else { continue };
        let place = local[..by_hooks].binary_search_by_key(&task.id, |task| task.id);
        let (location, name) = (Some(task.location.into()), name(snapshot, task.name));
        match (place, task.waits) {
            (Ok(place), waits) => {
                let seen = &mut local[place];
                (seen.location, seen.name) = (location, name);
                if let Some((wait, since)) = waits {
                    seen.waits_since_ns = snapshot.ns(since).min(snapshot.end_ns);
                    seen.wait = WaitId::new(wait);
                }
            }
            (Err(_), Some((wait, since))) => local.push(LocalTask {
                id: task.id,
                polled_in: TaskKey::from_id(task_id(polled_in)),
                location,
                name,
                waits_since_ns: snapshot.ns(since).min(snapshot.end_ns),
                woken_by: None,
                wait: WaitId::new(wait),
            }),
            (Err(_), None) => {}
        }
    }
    crate::util::sort::by_key(&mut local, |task| task.id);
    local
}

fn name(snapshot: &Snapshot, name: Option<NameId>) -> Option<Arc<str>> {
    snapshot.capture.names.get(name? as usize).cloned()
}

/// Reads the parts in parallel, one thread each: reading a stream needs no event of another thread.
/// Returns a builder with everything but the tasks from before the left edge, and those tasks,
/// sorted by id.
fn build(snapshot: &Snapshot, parts: &[&[Segment]]) -> (Builder, Vec<Known>) {
    let mut builders = Vec::new();
    for _ in 0..parts.len().max(1) {
        let windows = snapshot.windows.clone();
        builders.push(Builder::new(windows, snapshot.begin_ns, snapshot.detail_ns));
    }
    // If wakers aren't seen, a poll without a place may wait anywhere.
    builders[0].carries_waits = snapshot.capture.sees_wakers;
    // There may be a million tasks, so they are kept in compact form.
    let mut known = Vec::with_capacity(snapshot.live_tasks().max_tasks());
    snapshot.live_tasks().each_task(&mut |id, mut task, lives| {
        let lives = lives == Liveness::Alive;
        if id & ROOT == 0 {
            task.wait = task.wait.filter(|_| snapshot.capture.sees_wakers);
            known.push(Known::new(id, &task, lives, |ticks| snapshot.ns(ticks)));
            return;
        }
        record_origin(&mut builders[0], snapshot, id, &task);
        if lives {
            builders[0].carry_task(task_id(id), snapshot.detail_ns, task.polled);
        }
    });
    // Sorting a million tasks in no order would take our own sort ten times as long.
    known.sort_unstable_by_key(|known| known.id);
    // Finds the part that holds a thread's records, if any does.
    let part_of = |thread| {
        let is_of_it = |part: &&[Segment]| part.last().is_some_and(|s| s.stream >= thread);
        parts.iter().position(is_of_it).unwrap_or(parts.len().saturating_sub(1))
    };
    for pinned in &snapshot.capture.pinned {
        let at_ns = snapshot.ns(pinned.from);
        for (thread, known, lives) in &pinned.threads {
            let polls = carried_polls(snapshot, known, &|nth, _| lives[nth]);
            let builder = &mut builders[part_of(*thread)];
            builder.carry_thread(*thread, at_ns, known, known.state.worker, polls);
        }
        for (id, task) in &pinned.tasks {
            record_origin(&mut builders[0], snapshot, *id, task);
            builders[0].carry_task(task_id(*id), at_ns, task.polled);
        }
    }
    for (thread, known) in snapshot.live_tasks().streams() {
        let polls = carried_polls(snapshot, known, &|_, task| snapshot.live_tasks().lives(task));
        let lost_worker = snapshot.live_tasks().has_lost_worker(known);
        let worker = if lost_worker { None } else { known.state.worker };
        let builder = &mut builders[part_of(thread)];
        builder.carry_thread(thread, snapshot.detail_ns, known, worker, polls);
    }
    for &(id, at_ns) in &snapshot.ended {
        builders[0].ended(id, at_ns);
    }
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (number, builder) in builders.iter_mut().enumerate() {
        let part = parts.get(number).copied().unwrap_or_default();
        jobs.push(Box::new(move || read(snapshot, part, builder)));
    }
    run_all(&mut jobs);
    drop(jobs);
    let mut all = builders.remove(0);
    for later in builders {
        all = all.merge(later);
    }
    (all, known)
}

/// Records the origin of a task from before the events.
fn record_origin(builder: &mut Builder, snapshot: &Snapshot, id: u64, task: &LiveTask) {
    let location = task.location.and_then(|id| snapshot.location(id));
    builder.record_origin(task_id(id), location, task.parent.map(task_id));
}

/// Returns the polls that a thread was in. `lives` tells by their places and tasks whether the tasks were alive.
fn carried_polls(
    snapshot: &Snapshot,
    known: &Stream,
    lives: &dyn Fn(usize, u64) -> bool,
) -> Vec<CarriedPoll> {
    let mut polls = Vec::new();
    for (nth, poll) in known.state.polls.iter().enumerate() {
        let (start_ns, lives) = (snapshot.ns(poll.start), lives(nth, poll.task));
        polls.push(CarriedPoll { task: task_id(poll.task), start_ns, lives });
    }
    polls
}

fn read(snapshot: &Snapshot, part: &[Segment], builder: &mut Builder) {
    snapshot.read(part, &mut |thread, reading| match &reading {
        Reading::Event(event) => builder.event(event),
        &Reading::LateOrigin(id, location) => builder.record_origin(id, location, None),
        &Reading::Usage(usage) => builder.usage(thread, usage),
        &Reading::Queue(seen) => builder.queue(thread, seen),
        Reading::PollEnd(event, wait) => {
            builder.waits(thread, *wait);
            builder.event(event);
        }
        &Reading::Name(id, name) => builder.name(id, name),
        Reading::Worker(..) => {}
    });
}

/// Chooses the number of threads that read `events` events. Few events take only some ms, and the program may need its
/// processors.
fn threads_for(events: u64) -> usize {
    const MOST: usize = 4;
    match events < MANY_EVENTS {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from).min(MOST),
    }
}

#[cfg(all(test, tokio_unstable))]
mod tests {
    use std::panic::Location;

    use tokio::task::{block_in_place, yield_now};

    use super::*;
    use crate::config::Keep;
    use crate::hooks::{Hooks, install};
    use crate::recorder::Recorder;
    use crate::recorder::TokioHooks;
    use crate::recorder::root_future::Root;

    /// Records tasks that are spawned, polled and terminate on any worker, one of which is moved by
    /// `block_in_place` and then has a root future of its own, over two windows of recording with a
    /// root future each.
    fn recorded(keep: Keep, max_events: usize) -> Snapshot {
        let config = CollectorConfig { keep, max_events, ..CollectorConfig::default() };
        let recorder = Recorder::new(config);
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        install(builder.worker_threads(3), Hooks::new(), Some(TokioHooks::new(&recorder)));
        let runtime = builder.build().expect("a runtime");
        for _ in 0..2 {
            recorder.start();
            runtime.block_on(Root::new(spawn_all(), Location::caller(), Some(&recorder)));
            let (handle, on) = (runtime.handle().clone(), recorder.clone());
            let block = move || {
                let root = Root::new(yield_now(), Location::caller(), Some(&on));
                block_in_place(|| handle.block_on(root));
            };
            let with_a_root = runtime.spawn(async move { block() });
            runtime.block_on(with_a_root).expect("it ends");
            recorder.stop();
        }
        drop(runtime);
        Snapshot::take(&recorder, false)
    }

    async fn spawn_all() {
        let spawn = |i| {
            tokio::spawn(async move {
                let child = tokio::spawn(yield_now());
                for _ in 0..20 {
                    yield_now().await;
                }
                if i == 7 {
                    block_in_place(|| thread::sleep(Duration::from_millis(5)));
                }
                child.await.expect("it ends");
            })
        };
        for task in (0..20).map(spawn).collect::<Vec<_>>() {
            task.await.expect("it ends");
        }
    }

    #[test]
    fn it_is_the_same_with_any_number_of_threads() {
        for (keep, max_events) in
            [(Keep::First, 100_000), (Keep::Last, 500), (Keep::First, 700), (Keep::First, 0)]
        {
            let mut snapshot = recorded(keep, max_events);
            // The records of the last stream are cut off, as if its thread started late.
            let last = snapshot.capture.segments.last().map(|segment| segment.stream);
            let segments = &mut snapshot.capture.segments;
            segments.iter_mut().filter(|s| Some(s.stream) == last).for_each(|s| s.truncate(0));
            let by_one = format!("{:#?}", Timeline::read_by(1, &snapshot));
            let mut most_parts = 0;
            for threads in 1..8 {
                let parts = snapshot.parts(threads);
                assert!(parts.len() <= threads);
                assert_eq!(parts.concat().len(), snapshot.capture.segments.len());
                most_parts = most_parts.max(parts.len());
                let timeline = format!("{:#?}", Timeline::read_by(threads, &snapshot));
                assert!(timeline == by_one, "{keep:?}, {threads} threads");
            }
            assert!(most_parts > 1 || max_events == 0, "{keep:?}: several threads saw something");
        }
    }

    #[test]
    fn a_root_is_its_last_one_on_any_thread() {
        let task_id = Event::ROOT;
        let spawn = |time_ns, thread| Event::TaskSpawn { task_id, time_ns, thread, location: None };
        let poll = |task_id| {
            let (time_ns, thread) = (5, 1);
            Event::TaskPollStart {
                task_id,
                time_ns,
                thread,
                worker: None,
                ready_ns: None,
                woken_by: None,
            }
        };
        let of = |events: &[Event]| {
            let mut builder = Builder::new(vec![(0, 90)], 0, 0);
            events.iter().for_each(|event| builder.event(event));
            builder
        };
        let first = || {
            of(&[poll(9), spawn(10, 1), Event::TaskTerminate { task_id, time_ns: 20, thread: 1 }])
        };
        let last = || of(&[spawn(30, 2)]);
        for both in [first().merge(last()), last().merge(first())] {
            let root = both.finish(Vec::new(), Duration::ZERO, &[], &[], &|_| None).tasks.remove(0);
            assert_eq!((root.spawned_ns, root.terminated_ns), (Some(10), None));
            assert_eq!(root.parent, None, "that of the one before");
        }
    }

    #[test]
    fn few_events_are_read_by_one_thread() {
        assert_eq!(threads_for(MANY_EVENTS - 1), 1);
        assert!((1..=4).contains(&threads_for(u64::MAX)));
    }
}
