//! What a report can't know, in sentences.

use super::report::Report;
use crate::trace::timeline::{ClockChanges, Sampling, SamplingState};
use crate::util::quantity::{count, human, moment};

impl Report {
    /// What can't be known, each in a line of its own.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.lacking.time {
            let length = human(self.end_ns.saturating_sub(self.begin_ns));
            let begin = moment(self.begin_ns);
            lines.push(format!("A part of what was recorded: {length}, from {begin} on."));
        }
        lines.extend(self.not_recorded().into_iter().map(str::to_owned));
        lines.extend(self.not_sampled());
        lines.extend(self.clock_changes());
        lines
    }

    /// What became of the clock.
    fn clock_changes(&self) -> Vec<String> {
        let ClockChanges { jumps, jumped_ns, went_back, lost_source } = self.machine.clock;
        let mut lines = Vec::new();
        if jumps > 0 {
            let times = match jumps {
                1 => String::new(),
                n => format!(", {n} times in all"),
            };
            let by = human(jumped_ns);
            lines.push(format!(
                "The clock jumped by {by}{times}: the machine slept, say. Nothing ran meanwhile."
            ));
        }
        if went_back {
            lines.push(
                "The processor's clock went back: some polls around that may have wrong times."
                    .to_owned(),
            );
        }
        if lost_source {
            lines.push(
                "The kernel gave up the processor's clock: times may differ between processors."
                    .to_owned(),
            );
        }
        lines
    }

    /// Why functions aren't known, where there are long polls to have some.
    fn not_sampled(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let Sampling { state, dropped, signal_taken, .. } = self.sampling;
        let lacks_functions = self.culprits.iter().any(|culprit| culprit.frame.is_none());
        let why = match state {
            SamplingState::On => None,
            SamplingState::Off => Some("stacks = false"),
            SamplingState::NotBuilt => Some("it takes the feature `stacks`"),
            SamplingState::NotSupported => Some("it takes Linux on x86-64 or aarch64"),
        };
        if let Some(why) = why.filter(|_| lacks_functions) {
            lines.push(format!("Which functions held workers isn't known: {why}."));
        }
        if signal_taken > 0 {
            let times = count(signal_taken, "time");
            lines.push(format!(
                "The program handles SIGURG itself: {times} a function that ran wasn't seen."
            ));
        }
        if dropped > 0 {
            let samples = count(dropped, "sample");
            lines.push(format!(
                "{samples} of the shorter long polls dropped: there is room for 4096."
            ));
        }
        lines
    }

    fn not_recorded(&self) -> Vec<&'static str> {
        let mut parts = Vec::new();
        let (tasks, workers) =
            (self.trace_target.tracks_tasks(), self.trace_target.tracks_workers());
        if !workers && !tasks {
            return vec!["Neither tasks nor workers were to be recorded."];
        }
        if !workers && !self.task_hooks {
            return vec![
                "Neither workers nor tasks were recorded: tasks need --cfg tokio_unstable.",
            ];
        }
        if !workers {
            parts.push("Workers were not recorded: their shares aren't known.");
        } else if self.lacking.workers {
            parts.push("The workers' file is not here: their shares aren't known.");
        }
        if !tasks {
            parts.push("Workers only: tasks were not recorded.");
        } else if !self.task_hooks {
            parts.push("Workers only: task hooks need --cfg tokio_unstable.");
        } else if self.lacking.tasks {
            parts.push("Workers only: the tasks' file is not here.");
        } else if !self.schedule_latency {
            parts.push("Ready times were not recorded (schedule_latency is off).");
        }
        parts
    }
}
