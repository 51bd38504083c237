//! Builds timelines from a snapshot, and from drained events.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::config::CollectorConfig;
use crate::recorder::functions::fields_of;
use crate::recorder::live_tasks::Liveness;
use crate::recorder::lost::Lost;
use crate::recorder::record::ROOT;
use crate::recorder::store::segment::{Segment, events_of};
use crate::recorder::waits::cell::TaskSeen;
use crate::trace::event::Event;
use crate::trace::profile::Profile;
use crate::trace::snapshot::{Reading, Snapshot, task_id};
use crate::trace::summary::Summary;
use crate::trace::timeline::build::{Builder, Built, CarriedPoll};
use crate::trace::timeline::sample;
use crate::trace::timeline::{
    CallAtEnd, CarriedWait, Known, Lacking, LocalTask, Quiet, Sampling, SamplingState, TaskKey,
    Tasks, Timeline, UnnamedWaits, WaitId, WaitingTask,
};
use crate::util::parallel::{MANY_EVENTS, run_parallel};

impl Timeline {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let events = events_of(&snapshot.segments);
        let mut timeline = Self::read_by(threads_for(events), snapshot);
        timeline.events = events;
        timeline
    }

    /// The timeline but for the number of events, read by `threads` threads.
    fn read_by(threads: usize, snapshot: &Snapshot) -> Self {
        let (builder, known) = build(snapshot, &snapshot.parts(threads));
        let locate = |known: &Known| known.location().and_then(|id| snapshot.location(id));
        let mut built = builder.finish(
            known,
            snapshot.config.long_poll,
            &snapshot.names,
            &snapshot.steal,
            locate,
        );
        let quiet = Quiet {
            tasks: std::mem::take(&mut built.quiet),
            locations: snapshot.locations.clone(),
            waiting: waiting(snapshot),
            begin_ns: snapshot.detail_ns,
        };
        let mut timeline = Self::of(built, quiet, &snapshot.config);
        timeline.tasks.carry_waits();
        timeline.local_tasks = local_tasks(snapshot);
        timeline.calls_at_end = calls_at_end(snapshot);
        timeline.waits_not_kept = snapshot.places.not_kept;
        for task in timeline.tasks.seen_mut() {
            if let (TaskKey::Root(number), None) = (task.key, task.location) {
                let location = snapshot.root_locations.get(number as usize).copied().flatten();
                task.location = location.map(Into::into);
            }
        }
        timeline.runtime.clone_from(&snapshot.runtime);
        timeline.version.clone_from(&snapshot.version);
        timeline.utc_at_zero = snapshot.utc_at_zero;
        timeline.begin_ns = snapshot.begin_ns;
        timeline.recent_ns = snapshot.detail_ns;
        timeline.end_ns = snapshot.end_ns.max(snapshot.begin_ns);
        timeline.gaps = gaps(&snapshot.windows, snapshot.begin_ns);
        timeline.lost = snapshot.lost;
        timeline.machine.limit = snapshot.cpu_limit;
        timeline.machine.clock = snapshot.clock;
        timeline.profile.clone_from(&snapshot.profile);
        timeline.whole_run = Some(Arc::new(Summary::of(snapshot)));
        timeline.sampling = Sampling {
            state: match snapshot.config.stacks {
                true => SamplingState::OF_THIS_BUILD,
                false => SamplingState::Off,
            },
            dropped: snapshot.samples.dropped,
            no_stacks: snapshot.samples.no_stacks,
        };
        timeline.samples = sample::resolve(snapshot, &mut timeline.sampling.no_stacks);
        timeline.resolve_waits(&snapshot.places);
        timeline.carry_samples(snapshot.detail_ns);
        timeline.apply_samples();
        timeline
    }

    /// Applies what samples show to the causes.
    fn apply_samples(&mut self) {
        for of_poll in self.samples.chunk_by(|a, b| a.poll_key() == b.poll_key()) {
            let Some(first) = of_poll.first() else { continue };
            let found = self.causes.binary_search_by_key(&first.poll_key(), |(key, _)| *key);
            let Ok(place) = found else { continue };
            let cause = &mut self.causes[place].1;
            let end_ns = first.poll_start_ns + cause.length_ns();
            let not_stolen_ns = cause.was_blocked(sample::blocked_at_most_ns(of_poll, end_ns));
            self.machine.stolen_ns = self.machine.stolen_ns.saturating_sub(not_stolen_ns);
        }
    }

    /// A timeline of drained events, those of each thread in order.
    ///
    /// It reaches from the first to the last of them. What was not drained is unknown: the
    /// runtime's name, the lost events, and the tasks spawned before.
    pub(crate) fn from_events(
        events: &[Event],
        config: &CollectorConfig,
        utc_at_zero: Duration,
    ) -> Self {
        let times = || events.iter().map(Event::time_ns);
        let (begin_ns, end_ns) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let mut builder = Builder::new(vec![(begin_ns, end_ns)], begin_ns, begin_ns);
        for event in events {
            builder.event(event);
        }
        let mut timeline = Self::of(
            builder.finish(Vec::new(), config.long_poll, &[], &[], |_| None),
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

    fn of(built: Built, quiet: Quiet, config: &CollectorConfig) -> Self {
        let tracks_tasks = config.trace_target.tracks_tasks();
        Self {
            runtime: None,
            version: None,
            utc_at_zero: Duration::ZERO,
            begin_ns: 0,
            recent_ns: 0,
            end_ns: 0,
            gaps: Vec::new(),
            tasks: Tasks::new(built.tasks, quiet),
            workers: if config.trace_target.tracks_workers() {
                built.workers
            } else {
                // Polls tell which workers exist, but not their states in between.
                Vec::new()
            },
            blocking_threads: built.blocking_threads,
            handovers: built.handovers,
            machine: built.machine,
            exhausted_pool: built.exhausted_pool,
            pool_queue: built.pool_queue,
            sampling: Sampling::default(),
            causes: built.causes,
            samples: Vec::new(),
            waits: Vec::new(),
            unnamed_waits: UnnamedWaits::default(),
            waits_in_memory: HashMap::new(),
            calls_at_end: Vec::new(),
            waits_not_kept: 0,
            local_tasks: Vec::new(),
            profile: Profile::default(),
            whole_run: None,
            events: 0,
            lost: Lost::default(),
            trace_target: config.trace_target,
            task_hooks: cfg!(tokio_unstable),
            schedule_latency: tracks_tasks
                && config.schedule_latency
                && CollectorConfig::CAN_KNOW_READY,
            long_poll: config.long_poll,
            lacking: Lacking::default(),
        }
    }
}

/// The tasks of which it is known that they wait, sorted by id.
fn waiting(snapshot: &Snapshot) -> Vec<WaitingTask> {
    let of_runtime = snapshot.waiting.iter().filter(|task| task.polled_in.is_none());
    let waiting = of_runtime.map(|task| {
        let carried =
            |(wait, since)| CarriedWait { since_ns: snapshot.ns(since), wait: WaitId::new(wait) };
        // One that began later than what was read is of a poll that wasn't.
        let began = |wait: &CarriedWait| wait.since_ns <= snapshot.end_ns;
        WaitingTask {
            id: task_id(task.id),
            name: task.name.and_then(|name| snapshot.names.get(name as usize).cloned()),
            wait: task.waits.map(carried).filter(began),
        }
    });
    let mut waiting: Vec<_> = waiting.collect();
    waiting.sort_unstable_by_key(|task| task.id);
    waiting
}

/// The instrumented calls that tasks wait in, by the tasks' keys.
fn calls_at_end(snapshot: &Snapshot) -> Vec<(TaskKey, Vec<CallAtEnd>)> {
    let of_task = |task: &TaskSeen| {
        let (wait, _) = task.waits?;
        let functions = snapshot.places.calls(wait).zip(&task.entered);
        let calls = functions.map(|(function, &entered)| CallAtEnd {
            entered_ns: snapshot.ns(entered),
            fields: fields_of(function, entered),
        });
        let calls: Vec<_> = calls.collect();
        (!calls.is_empty()).then(|| (TaskKey::from_id(task_id(task.id)), calls))
    };
    let mut calls: Vec<_> = snapshot.waiting.iter().filter_map(of_task).collect();
    calls.sort_unstable_by_key(|(key, _)| *key);
    calls
}

/// The tasks of `LocalSet`s that wait, by id.
fn local_tasks(snapshot: &Snapshot) -> Vec<LocalTask> {
    let local = snapshot.waiting.iter().filter_map(|task| {
        let (wait, since) = task.waits?;
        Some(LocalTask {
            id: task.id,
            polled_in: TaskKey::from_id(task_id(task.polled_in?)),
            location: task.location.into(),
            name: task.name.and_then(|name| snapshot.names.get(name as usize).cloned()),
            waits_since_ns: snapshot.ns(since).min(snapshot.end_ns),
            wait: WaitId::new(wait),
        })
    });
    let mut local: Vec<_> = local.collect();
    local.sort_unstable_by_key(|task| task.id);
    local
}

/// Reads the parts in parallel, each on a thread of its own, as no event of another thread is
/// needed to read a stream. Returns a builder with everything but the tasks from before the left
/// edge, and those, sorted by id.
fn build(snapshot: &Snapshot, parts: &[&[Segment]]) -> (Builder, Vec<Known>) {
    let new = || Builder::new(snapshot.windows.clone(), snapshot.begin_ns, snapshot.detail_ns);
    let mut first = new();
    // There may be many, so they take as little memory as possible.
    let mut known = Vec::with_capacity(snapshot.live_tasks.max_tasks());
    for (id, task, lives) in snapshot.live_tasks.tasks() {
        let lives = lives == Liveness::Alive;
        if id & ROOT == 0 {
            known.push(Known::new(id, &task, lives));
            continue;
        }
        let id = task_id(id);
        let location = task.location.and_then(|id| snapshot.location(id));
        first.record_origin(id, location, task.parent.map(task_id));
        if lives {
            first.carry_task(id, snapshot.detail_ns, task.polled);
        }
    }
    known.sort_unstable_by_key(|known| known.id);
    let mut builders = vec![first];
    builders.resize_with(parts.len().max(1), new);
    // The part that holds a thread's records, if it has any.
    let last = builders.len() - 1;
    let part_of = |thread| {
        let is_before = |part: &&[Segment]| part.last().is_some_and(|s| s.stream < thread);
        parts.partition_point(is_before).min(last)
    };
    for island in &snapshot.islands {
        let at_ns = island.from_ns;
        for (thread, known, lives) in &island.threads {
            let polls = known.polls.iter().zip(lives).map(|(&(id, start), &lives)| CarriedPoll {
                task: task_id(id),
                start_ns: snapshot.ns(start),
                lives,
            });
            builders[part_of(*thread)].carry_thread(*thread, at_ns, known, known.worker, polls);
        }
        for &(id, task) in &island.tasks {
            let (id, location) = (task_id(id), task.location.and_then(|at| snapshot.location(at)));
            builders[0].record_origin(id, location, task.parent.map(task_id));
            builders[0].carry_task(id, at_ns, task.polled);
        }
    }
    for (thread, known) in snapshot.live_tasks.streams() {
        let polls = known.polls.iter().map(|&(id, start)| CarriedPoll {
            task: task_id(id),
            start_ns: snapshot.ns(start),
            lives: snapshot.live_tasks.lives(id),
        });
        let worker = known.worker.filter(|_| !snapshot.live_tasks.has_lost_worker(known));
        let part = part_of(thread);
        builders[part].carry_thread(thread, snapshot.detail_ns, known, worker, polls);
    }
    for &(id, at_ns) in &snapshot.ended {
        builders[0].ended(id, at_ns);
    }
    let read = |mut builder: Builder, part: &[Segment]| {
        snapshot.read(part, |thread, reading| match &reading {
            Reading::Event(event) => builder.event(event),
            &Reading::LateOrigin(id, location) => builder.record_origin(id, location, None),
            &Reading::Usage(usage) => builder.usage(thread, usage),
            &Reading::Queue(seen) => builder.queue(thread, seen),
            &Reading::Waits(wait) => builder.waits(thread, wait),
            &Reading::Name(id, name) => builder.name(id, name),
            Reading::Worker(..) => {}
        });
        builder
    };
    let parts = parts.iter().copied().chain([&[][..]]);
    let jobs = builders.into_iter().zip(parts).map(|(builder, part)| move || read(builder, part));
    let builders = run_parallel(jobs.collect()).into_iter();
    (builders.reduce(Builder::merge).unwrap_or_else(new), known)
}

/// The number of threads to read `events` events. A few take some ms, and the program may need its
/// processors.
fn threads_for(events: u64) -> usize {
    const MOST: usize = 4;
    match events < MANY_EVENTS {
        true => 1,
        false => thread::available_parallelism().map_or(1, usize::from).min(MOST),
    }
}

/// The periods from `begin_ns` on that are in no window, up to the last one.
fn gaps(windows: &[(u64, u64)], begin_ns: u64) -> Vec<(u64, u64)> {
    let ends = std::iter::once(begin_ns).chain(windows.iter().map(|window| window.1));
    ends.zip(windows)
        .map(|(before, after)| (before.max(begin_ns), after.0))
        .filter(|(from, to)| from < to)
        .collect()
}

#[cfg(all(test, tokio_unstable))]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;

    use tokio::task::{block_in_place, yield_now};

    use super::*;
    use crate::config::Keep;
    use crate::hooks::{Hooks, install};
    use crate::recorder::Recorder;
    use crate::recorder::TokioHooks;
    use crate::recorder::root_future::Root;

    /// Tasks that are spawned, polled and terminate on any worker, one of which is moved by
    /// `block_in_place` and then has a root future of its own; over two windows of recording, with
    /// a root future each.
    fn recorded(keep: Keep, max_events: usize) -> Snapshot {
        let config = CollectorConfig { keep, max_events, ..CollectorConfig::default() };
        let recorder = Recorder::new(config);
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        install(builder.worker_threads(3), Hooks::new(), Some(TokioHooks::of(&recorder)));
        let runtime = builder.build().expect("a runtime");
        for _ in 0..2 {
            recorder.start();
            runtime.block_on(Root::new(spawn_all(), Location::caller(), Some(&recorder)));
            let (handle, on) = (runtime.handle().clone(), Arc::clone(&recorder));
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
            let last = snapshot.segments.last().map(|segment| segment.stream);
            snapshot
                .segments
                .iter_mut()
                .filter(|s| Some(s.stream) == last)
                .for_each(|s| s.truncate(0));
            let by_one = format!("{:#?}", Timeline::read_by(1, &snapshot));
            let mut most_parts = 0;
            for threads in 1..8 {
                let parts = snapshot.parts(threads);
                assert!(parts.len() <= threads);
                assert_eq!(parts.concat().len(), snapshot.segments.len());
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
            Event::TaskPollStart { task_id, time_ns, thread, worker: None, ready_ns: None }
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
            let root = both.finish(Vec::new(), Duration::ZERO, &[], &[], |_| None).tasks.remove(0);
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
