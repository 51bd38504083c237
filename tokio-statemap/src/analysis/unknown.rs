//! What a report can't know, in sentences.

use super::report::Report;
use crate::util::quantity::{human, moment};

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
