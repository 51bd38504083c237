//! What a report can't know, in sentences.

use super::report::Report;

impl Report {
    /// What can't be known, each in a line of its own.
    pub(crate) fn unknown(&self) -> Vec<&'static str> {
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
        }
        if !tasks {
            parts.push("Workers only: tasks were not recorded.");
        } else if !self.task_hooks {
            parts.push("Workers only: task hooks need --cfg tokio_unstable.");
        } else if !self.schedule_latency {
            parts.push("Ready times were not recorded (schedule_latency is off).");
        }
        parts
    }
}
