//! Timelines from what a collector has, and from events that were drained from one.

use std::time::Duration;

use crate::config::CollectorConfig;
use crate::engine::roster::Lives;
use crate::engine::segment::events_of;
use crate::event::Event;
use crate::lost::Lost;
use crate::snapshot::{Reading, Snapshot, task_id};
use crate::timeline::build::Builder;
use crate::timeline::{TaskKey, Timeline};

impl Timeline {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let mut builder = Builder::new(snapshot.windows.clone(), snapshot.begin_ns);
        for (id, member, lives) in snapshot.roster.members() {
            let id = task_id(id);
            let location = member.location.and_then(|id| snapshot.location(id));
            builder.introduce(id, location, member.parent.map(task_id));
            if lives == Lives::Surely {
                builder.carry_task(id, member.polled);
            }
        }
        for (thread, known) in snapshot.roster.streams() {
            let polls = known.polls.iter().map(|&id| (task_id(id), snapshot.roster.lives(id)));
            builder.carry_thread(thread, known, polls);
        }
        snapshot.read(|_, reading| match reading {
            Reading::Event(event) => builder.event(&event),
            Reading::Who(id, location) => builder.introduce(id, location, None),
            Reading::Worker(..) => {}
        });
        let mut timeline = Self::of(builder, &snapshot.config);
        for task in &mut timeline.tasks {
            if let (TaskKey::Root(number), None) = (task.key, task.location) {
                let location = snapshot.root_locations.get(number as usize).copied().flatten();
                task.location = location.map(Into::into);
            }
        }
        timeline.runtime.clone_from(&snapshot.runtime);
        timeline.utc_at_zero = snapshot.utc_at_zero;
        timeline.begin_ns = snapshot.begin_ns;
        timeline.end_ns = snapshot.end_ns.max(snapshot.begin_ns);
        timeline.gaps = gaps(&snapshot.windows, snapshot.begin_ns);
        timeline.events = events_of(&snapshot.segments);
        timeline.lost = snapshot.lost;
        timeline
    }

    /// A timeline of events that were drained from a collector: of each thread in their order.
    ///
    /// It reaches from the first to the last of them. It doesn't know what wasn't drained: the
    /// runtime's name, what was lost, and who lived before.
    pub(crate) fn from_events(
        events: &[Event],
        config: &CollectorConfig,
        utc_at_zero: Duration,
    ) -> Self {
        let times = || events.iter().map(Event::time_ns);
        let (begin_ns, end_ns) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let mut builder = Builder::new(vec![(begin_ns, end_ns)], begin_ns);
        for event in events {
            builder.event(event);
        }
        let mut timeline = Self::of(builder, config);
        timeline.utc_at_zero = utc_at_zero;
        timeline.begin_ns = begin_ns;
        timeline.end_ns = end_ns;
        timeline.events = events.len() as u64;
        timeline
    }

    fn of(builder: Builder, config: &CollectorConfig) -> Self {
        let built = builder.finish();
        let tracks_tasks = config.trace_target.tracks_tasks();
        Self {
            runtime: None,
            utc_at_zero: Duration::ZERO,
            begin_ns: 0,
            end_ns: 0,
            gaps: Vec::new(),
            tasks: built.tasks,
            workers: if config.trace_target.tracks_workers() {
                built.workers
            } else {
                // Polls say which workers there are, but not what they did in between.
                Vec::new()
            },
            blocking_threads: built.blocking_threads,
            handovers: built.handovers,
            events: 0,
            lost: Lost::default(),
            trace_target: config.trace_target,
            task_hooks: cfg!(tokio_unstable),
            schedule_latency: tracks_tasks
                && config.schedule_latency
                && crate::collector::CAN_TELL_READY,
            long_poll: config.long_poll,
        }
    }
}

/// The stretches between windows, as far as they lie after `begin_ns`.
fn gaps(windows: &[(u64, u64)], begin_ns: u64) -> Vec<(u64, u64)> {
    let pairs = windows.iter().zip(windows.iter().skip(1));
    pairs
        .map(|(before, after)| (before.1.max(begin_ns), after.0))
        .filter(|(from, to)| from < to)
        .collect()
}
