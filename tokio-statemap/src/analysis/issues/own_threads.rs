//! Threads of the blocking pool that took the processors from the workers.

use super::Facts;
use super::evidence::{Evidence, Explanation, Finding};
use super::exhausted_pool::waits_for_blocking_tasks;
use super::meanwhile::Meanwhile;
use crate::analysis::statement::Statement;
use crate::trace::timeline::Timeline;
use crate::util::clean::clean;
use crate::util::quantity::{count, human};

/// Threads of the blocking pool that took the processors from the workers: the program ran very many small blocking tasks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OwnThreads {
    /// The number of threads of the pool on which these ended.
    pub threads: u64,
    /// The number of workers.
    pub workers: u64,
    /// The number of blocking tasks that ended, as far as the events are kept.
    pub ended: u64,
    /// The processor time of the pool's threads, in ns, as far as it was read.
    pub cpu_ns: u64,
    /// The time that the workers waited for a processor, in ns, in sum.
    pub workers_waited_ns: u64,
    /// The time that the pool's threads did, in ns, in sum.
    pub pool_waited_ns: u64,
    /// The line at which tasks waited longest for the pool, in sum; `None` if that isn't known.
    pub at: Option<String>,
    meanwhile: Meanwhile,
}

/// The least number of threads for each worker.
const THREADS_PER_WORKER: u64 = 8;

/// The least number of blocking tasks.
const TASKS: u64 = 1000;

/// The least parts of the workers' time that is kept in detail, as 1/n: the pool's processor time, and the workers' wait for a processor.
const CPU_PART: u64 = 4;
const WAIT_PART: u64 = 20;

pub(super) fn find(
    timeline: &Timeline,
    facts: &Facts<'_>,
    has_long_polls: bool,
) -> Option<OwnThreads> {
    let kept_ns = facts.recording.kept_ns();
    let (machine, ended) = (timeline.machine, timeline.pool.ended);
    let workers_waited_ns = machine.workers_delay_ns;
    let (threads, workers) = (timeline.pool.ended_on, facts.workers.len() as u64);
    let all_ns = kept_ns.saturating_mul(workers);
    let is_stopped = machine.limit.is_some_and(|limit| limit.stopped_ns >= kept_ns / WAIT_PART);
    // Other programs may take the processors, too, but then the pool's threads have little of them.
    let is_it = workers > 0
        && threads >= THREADS_PER_WORKER.saturating_mul(workers)
        && ended >= TASKS
        && !is_stopped
        && machine.pool_cpu_ns >= all_ns / CPU_PART
        && workers_waited_ns >= all_ns / WAIT_PART
        && machine.pool_delay_ns >= all_ns;
    is_it.then(|| OwnThreads {
        threads,
        workers,
        ended,
        cpu_ns: machine.pool_cpu_ns,
        workers_waited_ns,
        pool_waited_ns: machine.pool_delay_ns,
        at: waits_for_blocking_tasks(timeline),
        meanwhile: Meanwhile::new(facts, has_long_polls),
    })
}

impl Finding for OwnThreads {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "own threads",
            noun: "task",
            meaning: "Threads of the blocking pool took the processors from the workers.",
            advice: "Do the whole loop in one spawn_blocking, or bound how many run at once; tokio::fs takes one for each call.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { number: self.ended, total_ns: self.workers_waited_ns, ..Evidence::default() }
    }

    fn statement(&self) -> Statement {
        let Self { threads, workers, ended, cpu_ns, .. } = self;
        let mut said = Statement::new(format!(
            "The program's own threads took the processors from its {}: {} on {} of the blocking pool, {} of processor time each.",
            count(*workers, "worker"),
            count(*ended, "blocking task"),
            count(*threads, "thread"),
            human(cpu_ns / (*ended).max(1)),
        ));
        said.add(format!(
            "The workers waited {} for a processor, in sum, and these threads {}.",
            human(self.workers_waited_ns),
            human(self.pool_waited_ns),
        ));
        if let Some(at) = &self.at {
            said.add(format!("Tasks waited for blocking tasks longest at {}.", clean(at)));
        }
        said.add(self.meanwhile.to_string());
        said
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::config::CollectorConfig;
    use crate::trace::state::WorkerState;
    use crate::trace::timeline::{CpuLimit, Timeline, Worker};

    const S: u64 = 1_000_000_000;

    /// Ten seconds in which threads of the pool took the processors from two workers.
    fn flooded() -> Timeline {
        let mut timeline =
            Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
        (timeline.begin_ns, timeline.end_ns, timeline.events) = (0, 10 * S, 100);
        timeline.settings.task_hooks = true;
        let parked =
            |index| Worker { index, transitions: vec![(0, WorkerState::Parked)], parks: 1 };
        timeline.workers = vec![parked(0), parked(1)];
        (timeline.pool.ended, timeline.pool.ended_on) = (500_000, 99);
        let machine = &mut timeline.machine;
        (machine.run_delay_ns, machine.pool_delay_ns) = (47 * S, 40 * S);
        (machine.workers_delay_ns, machine.pool_cpu_ns) = (7 * S, 8 * S);
        timeline
    }

    fn said(timeline: &Timeline) -> String {
        timeline.report().verdict.to_string()
    }

    #[test]
    fn many_blocking_tasks_on_many_threads_take_the_processors() {
        let text = said(&flooded());
        let begin = "The program's own threads took the processors from its 2 workers: 500000 blocking tasks on 99 threads of the \
                     blocking pool, 16.0 µs of processor time each. The workers waited 7.00 s for a processor, in sum, and these \
                     threads 40.0 s.";
        assert!(text.starts_with(begin), "{text}");
    }

    #[test]
    fn other_programs_and_few_threads_are_not_blamed_on_the_pool() {
        let changes: [fn(&mut Timeline); 6] = [
            |of| of.pool.ended_on = 15,
            |of| of.pool.ended = 999,
            |of| of.machine.pool_cpu_ns = 4 * S,
            |of| of.machine.pool_delay_ns = 19 * S,
            |of| of.machine.workers_delay_ns = S / 2,
            |of| of.machine.limit = Some(CpuLimit { millis: 500, stops: 9, stopped_ns: S }),
        ];
        for (nth, change) in changes.into_iter().enumerate() {
            let mut timeline = flooded();
            change(&mut timeline);
            let text = said(&timeline);
            assert!(!text.contains("own threads"), "{nth}: {text}");
        }
    }
}
