//! The functions in which polls computed.

use super::blame::{Callers, Weights, add_callers, dominant_callers, is_same};
use crate::trace::timeline::{Sampled, StackFrame, Timeline, blamed};
use crate::util::quantity::share;

/// The least number of samples from which anything is concluded.
const ENOUGH_SAMPLES: u64 = 20;

/// The least number of samples in which a function must be seen to be named.
const ENOUGH_OF_FUNCTION: u64 = 5;

/// The least share of the CPU time that a function must have to be named.
const NAMED: f64 = 0.25;

/// The functions in which polls computed, in the whole run. Empty if only a part of the run is at hand, or if too few
/// samples were taken.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Computed {
    /// The functions, those with the most CPU time first.
    pub functions: Vec<ComputedIn>,
    /// The number of samples, including those in which no such function was seen.
    pub samples: u64,
    /// The CPU time for which these stand, in ns.
    pub cpu_ns: u64,
}

/// A function in which polls computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComputedIn {
    /// The program's own innermost function, or that of a dependency where none of the program's is on the stack, at
    /// the line at which it was seen most. What it called counts as well.
    pub frame: StackFrame,
    /// The program's functions that called it: see [`Culprit::callers`](super::Culprit::callers).
    pub callers: Vec<StackFrame>,
    /// `true` if no other function was ever seen to call it.
    pub are_all_callers: bool,
    /// The number of samples in which it was seen.
    pub samples: u64,
    /// The CPU time for which these stand, in ns.
    pub cpu_ns: u64,
    /// Its share of the CPU time of all samples, from 0 to 1.
    pub share: f64,
}

/// The samples of one function.
struct Group<'a> {
    function: &'a StackFrame,
    samples: u64,
    frames: Weights<StackFrame>,
    callers: Callers,
}

impl Computed {
    pub(super) fn from_timeline(timeline: &Timeline) -> Self {
        let Sampled { samples, cpu_ns } = timeline.cpu.in_polls();
        if samples < ENOUGH_SAMPLES || timeline.lacking.time {
            return Self::default();
        }
        // There are at most 512 stacks.
        let mut groups: Vec<Group<'_>> = Vec::new();
        for stack in &timeline.cpu.stacks {
            let Some(frame) = blamed(&stack.frames) else { continue };
            let of_stack_ns = stack.sampled.cpu_ns;
            let known = groups.iter().position(|group| is_same(group.function, frame));
            let at = known.unwrap_or(groups.len());
            if known.is_none() {
                let (frames, callers) = (Weights::default(), Callers::default());
                groups.push(Group { function: frame, samples: 0, frames, callers });
            }
            let group = &mut groups[at];
            group.samples = group.samples.saturating_add(stack.sampled.samples);
            group.frames.add(frame.clone(), of_stack_ns);
            add_callers(&mut group.callers, &stack.frames, frame, of_stack_ns);
        }
        let mut functions = Vec::with_capacity(groups.len());
        for group in groups {
            let Some(frame) = group.frames.heaviest().cloned() else { continue };
            let of_function_ns = group.frames.sum();
            let (callers, are_all_callers) = dominant_callers(&group.callers, of_function_ns);
            functions.push(ComputedIn {
                frame,
                callers,
                are_all_callers,
                samples: group.samples,
                cpu_ns: of_function_ns,
                share: share(of_function_ns, cpu_ns).unwrap_or_default(),
            });
        }
        crate::util::sort::by(&mut functions, |a, b| {
            let by_name = || a.frame.function.cmp(&b.frame.function);
            (b.cpu_ns.cmp(&a.cpu_ns))
                .then_with(by_name)
                .then_with(|| a.frame.file.cmp(&b.frame.file))
        });
        Self { functions, samples, cpu_ns }
    }

    /// Returns the function in which polls computed most, if its share is large enough to be worth a look, and if polls
    /// were seen to compute for a third or more of `busy_ns`. Otherwise they were blocked, or something else had the
    /// processors.
    pub(super) fn most(&self, busy_ns: u128) -> Option<&ComputedIn> {
        let seen_ns: u128 = self.functions.iter().map(|function| u128::from(function.cpu_ns)).sum();
        let is_named = |function: &&ComputedIn| {
            function.share >= NAMED && function.samples >= ENOUGH_OF_FUNCTION
        };
        self.functions.first().filter(is_named).filter(|_| seen_ns >= busy_ns / 3)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::CollectorConfig;
    use crate::symbols::FrameOrigin;
    use crate::trace::event::SpawnLocation;
    use crate::trace::state::{TaskState, WorkerState};
    use crate::trace::timeline::{CpuStack, Poll, Task, TaskKey, Worker};

    const MS: u64 = 1_000_000;

    /// Returns the text of the report in one line.
    fn text(busy_ms: u64) -> String {
        let text = timeline(busy_ms).report().to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn frame(function: &str, line: u32, origin: FrameOrigin) -> StackFrame {
        StackFrame {
            function: function.into(),
            file: Some("src/shop.rs".into()),
            line: Some(line),
            origin,
        }
    }

    fn stack(cpu_ns: u64, frames: Vec<StackFrame>) -> CpuStack {
        CpuStack { frames, sampled: Sampled { samples: cpu_ns / (10 * MS), cpu_ns } }
    }

    /// A second in which 30 tasks have 0.5 ms each, in turns, and the only worker is busy for `busy_ms` of it.
    fn timeline(busy_ms: u64) -> Timeline {
        let config = CollectorConfig::default();
        let mut timeline = Timeline::from_events(&[], &config, Duration::from_secs(1));
        (timeline.begin_ns, timeline.end_ns, timeline.events) = (0, 1000 * MS, 100);
        (timeline.settings.task_hooks, timeline.settings.schedule_latency) = (true, true);
        let tasks: Vec<_> = (0..30)
            .map(|id| Task {
                key: TaskKey::Spawned(id),
                location: Some(SpawnLocation { file: "src/main.rs", line: 3, column: 5 }),
                name: None,
                parent: None,
                spawned_ns: Some(0),
                first_ns: 0,
                first_state: TaskState::Spawned,
                terminated_ns: None,
                polls: (id..2 * busy_ms)
                    .step_by(30)
                    .map(|nth| Poll::open(nth * MS / 2, 0, Some(0)).ended((nth + 1) * MS / 2))
                    .collect(),
                carried_wait: None,
                waits_since_ns: None,
                ready_ns: None,
            })
            .collect();
        timeline.tasks = tasks.into();
        timeline.workers = vec![Worker {
            index: 0,
            transitions: vec![(0, WorkerState::Running), (busy_ms * MS, WorkerState::Parked)],
            parks: 1,
        }];
        let own = |name, line| frame(name, line, FrameOrigin::Program);
        let library = || frame("regex::find", 9, FrameOrigin::Dependency);
        timeline.cpu.stacks = vec![
            stack(300 * MS, vec![library(), own("shop::score", 8), own("shop::rank", 20)]),
            stack(
                150 * MS,
                vec![own("shop::score", 7), own("shop::rank", 21), own("shop::feed", 30)],
            ),
            stack(150 * MS, vec![own("shop::rank", 22)]),
            stack(100 * MS, vec![library()]),
            stack(50 * MS, vec![own("shop::score", 8), own("shop::other", 40)]),
        ];
        timeline.cpu.others = Sampled { samples: 15, cpu_ns: 150 * MS };
        timeline.cpu.outside = Sampled { samples: 1000, cpu_ns: 9000 * MS };
        timeline
    }

    #[test]
    fn each_function_has_the_time_of_what_it_called() {
        let computed = timeline(990).report().computed;
        assert_eq!((computed.samples, computed.cpu_ns), (90, 900 * MS));
        let all: Vec<_> = computed
            .functions
            .iter()
            .map(|f| {
                (&*f.frame.function, f.frame.line, f.samples, f.cpu_ns / MS, f.are_all_callers)
            })
            .collect();
        assert_eq!(
            all,
            [
                ("shop::score", Some(8), 50, 500, false),
                ("shop::rank", Some(22), 15, 150, true),
                ("regex::find", Some(9), 10, 100, true),
            ]
        );
        let callers = |at: usize| -> Vec<_> {
            computed.functions[at]
                .callers
                .iter()
                .map(|caller| (&*caller.function, caller.line))
                .collect()
        };
        assert_eq!(callers(0), [("shop::rank", Some(20))], "the other is seen in less than half");
        assert!(callers(1).is_empty() && callers(2).is_empty());
    }

    #[test]
    fn a_function_is_named_where_the_workers_are_busy() {
        let said = text(990);
        let begin = "The workers were busy 99.0 % of the time: 55.6 % of what polls computed was in shop::score at \
                     src/shop.rs:8. It was mostly called from shop::rank at src/shop.rs:20.";
        assert!(said.starts_with(begin), "{said}");
        assert!(said.contains("(share of 900 ms of CPU time, 90 samples)"), "{said}");

        // Nothing is wrong, but this is where the time went.
        let said = text(600);
        assert!(said.starts_with("Nothing held the runtime up: "), "{said}");
        let function = "Of what polls computed, 55.6 % was in shop::score at src/shop.rs:8. It was";
        assert!(said.contains(function), "{said}");
        // Idle workers compute little.
        let said = text(400);
        assert!(!said.contains("Of what polls computed"), "{said}");
        assert!(said.contains("Where polls computed"), "{said}");
    }

    #[test]
    fn workers_that_are_too_few_may_be_parked_at_times() {
        let said = |busy_ms, are_ready| {
            let mut timeline = timeline(busy_ms);
            for task in &mut *timeline.tasks {
                for poll in task.polls.iter_mut().filter(|_| are_ready) {
                    *poll = poll.ready(Some(poll.start_ns().saturating_sub(10 * MS)));
                }
            }
            timeline.report().verdict.to_string()
        };
        let all = said(850, true);
        let begin = "The workers were busy 85.0 % of the time: 55.6 % of what polls computed was in shop::score";
        assert!(all.starts_with(begin), "{all}");
        assert!(all.contains("1 worker is too few for the load: 1"), "{all}");
        for healthy in [said(850, false), said(700, true)] {
            assert!(healthy.starts_with("Nothing held the runtime up: "), "{healthy}");
        }
    }

    #[test]
    fn little_proves_nothing() {
        let mut few = timeline(990);
        for stack in &mut few.cpu.stacks {
            stack.sampled.samples = 1;
        }
        few.cpu.others.samples = 14;
        assert_eq!(few.report().computed, Computed::default());
        let mut part = timeline(990);
        part.lacking.time = true;
        assert_eq!(part.report().computed, Computed::default());
        // For most of the time they were blocked: they computed for 250 ms.
        let mut blocked = timeline(990);
        for stack in &mut blocked.cpu.stacks {
            stack.sampled.cpu_ns /= 3;
        }
        let report = blocked.report();
        assert!(
            report
                .verdict
                .to_string()
                .starts_with("The workers were busy 99.0 % of the time: 30 tasks"),
            "{report}"
        );
        let mut even = timeline(990);
        even.cpu.others = Sampled { samples: 1000, cpu_ns: 10_000 * MS };
        let report = even.report();
        assert!(report.computed.most(0).is_none() && !report.computed.functions.is_empty());
        assert!(!report.verdict.to_string().contains("shop::score"), "{report}");
    }
}
