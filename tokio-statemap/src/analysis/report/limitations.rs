//! Sentences on what the report doesn't know.

use super::Report;
use crate::trace::timeline::{ClockChanges, NoStack, Sampling, SamplingState};
use crate::util::quantity::{count, human, moment};

impl Report {
    /// Returns the limitations of the report, a sentence each.
    pub(crate) fn limitations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let recording = &self.recording;
        if recording.lacking.time {
            let length = human(recording.end_ns.saturating_sub(recording.begin_ns));
            let begin = moment(recording.begin_ns);
            lines.push(format!("This is a part of what was recorded: {length}, from {begin} on."));
        }
        for line in self.not_recorded() {
            lines.push(line.to_owned());
        }
        lines.extend(self.not_sampled());
        lines.extend(self.clock_changes());
        lines
    }

    /// Returns what went wrong with the clock.
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
                "The clock jumped by {by}{times}, as when the machine sleeps. Nothing ran meanwhile."
            ));
        }
        if went_back {
            lines.push(
                "The processor's clock went back, so that some times around that may be wrong."
                    .to_owned(),
            );
        }
        if lost_source {
            lines.push(
                "The kernel no longer trusts the processor's clock: times may differ between processors."
                    .to_owned(),
            );
        }
        lines
    }

    /// Returns the reasons why functions aren't known, if there are long polls.
    fn not_sampled(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let Sampling { state, dropped, .. } = self.recording.sampling;
        let lacks_functions = self.blame.culprits.iter().any(|culprit| culprit.frame.is_none());
        let why = match state {
            SamplingState::On => None,
            SamplingState::Off => Some("stacks = false"),
            SamplingState::NotBuilt => Some("that needs the feature `stacks`"),
            SamplingState::NotSupported => Some("that needs Linux on x86-64 or aarch64"),
        };
        match why {
            Some(why) if lacks_functions => {
                lines.push(format!("Which functions held workers isn't known: {why}."));
            }
            _ => {}
        }
        if self.recording.is_stripped {
            lines.push(
                "Functions have no names: the program was stripped. Build it with strip = \"none\" in \
                 its profile, or have `tokio-statemap symbolize` name them."
                    .to_owned(),
            );
        }
        for (why, times) in self.recording.sampling.no_stacks.all() {
            lines.push(not_seen(why, times, self.recording.sampling.always_seen_ns()));
        }
        if dropped > 0 {
            let samples = count(dropped, "sample");
            lines.push(format!(
                "{samples} of shorter long polls were dropped: there is room for 4096."
            ));
        }
        lines
    }

    fn not_recorded(&self) -> Vec<&'static str> {
        let mut parts = Vec::new();
        let recording = &self.recording;
        let (tasks, workers) =
            (recording.trace_target.tracks_tasks(), recording.trace_target.tracks_workers());
        if !workers && !tasks {
            return vec!["Neither tasks nor workers were to be recorded."];
        }
        if !workers && !recording.task_hooks {
            return vec![
                "Neither workers nor tasks were recorded: tasks need --cfg tokio_unstable.",
            ];
        }
        if !workers {
            parts.push("Workers were not recorded: their shares aren't known.");
        } else if recording.lacking.workers {
            parts.push("The workers' file was not read: their shares aren't known.");
        }
        if !tasks {
            parts.push("Workers only: tasks were not recorded.");
        } else if !recording.task_hooks {
            parts.push("Workers only: task hooks need --cfg tokio_unstable.");
        } else if recording.lacking.tasks {
            parts.push("Workers only: the tasks' file was not read.");
        } else if !recording.schedule_latency {
            parts.push("Ready times were not recorded (schedule_latency is off).");
        }
        parts
    }
}

/// Returns a line on the functions that were not seen for this reason, this many times, with the remedy if there is one. Polls of
/// `always_seen_ns` or more are always sampled.
fn not_seen(why: NoStack, times: u64, always_seen_ns: u64) -> String {
    let times = count(times, "time");
    let reason = match why {
        NoStack::RareLooks => {
            return format!(
                "Threads were looked at less often ({times}), as the program used all processors: a long poll of less than {} \
                 may have no sample.",
                human(always_seen_ns),
            );
        }
        NoStack::NoProc => {
            "there is no /proc here, or only that of another pid namespace. Mount it"
        }
        NoStack::NoCall => {
            "/proc/self/task/*/syscall can't be read. Run the program outside of \
             sandboxes that hide that file"
        }
        NoStack::MemoryDenied => {
            "the system refuses process_vm_readv. Allow it in the container's seccomp profile"
        }
        NoStack::Filtered => {
            "a seccomp filter may end the program for the calls that sampling needs. Let the filter \
             return an error instead"
        }
        NoStack::SignalTaken => {
            "the program handles SIGURG itself, which samples threads. Use another signal"
        }
        NoStack::NoTimer => {
            "the system had no timer left to sample threads with. Raise the limit of pending \
             signals (ulimit -i)"
        }
        NoStack::SignalBlocked => {
            "its thread blocks SIGURG, which samples threads. Leave that signal unblocked"
        }
        NoStack::NoMemory => {
            "there was no memory left to sample threads. Raise the program's limit (ulimit -v)"
        }
        NoStack::NoSymbols => {
            "the program's own file could not be read. Keep it readable, and a file descriptor free"
        }
        NoStack::Emulated => {
            "the thread was not in code of the program, as under valgrind or qemu, in code \
             that is generated at run time, and while a process is created. Run the program by itself"
        }
    };
    format!("The function that held a worker wasn't seen ({times}): {reason}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;
    use crate::trace::timeline::{FrameOrigin, StackFrame, Timeline};

    #[test]
    fn reasons_for_missing_functions_are_said() {
        let (mut timeline, _) = explained("shop::compute");
        assert_eq!(timeline.report().not_sampled(), [""; 0]);
        let all = [
            (NoStack::NoProc, "no /proc"),
            (NoStack::NoCall, "/proc/self/task/*/syscall"),
            (NoStack::MemoryDenied, "process_vm_readv"),
            (NoStack::Filtered, "seccomp filter"),
            (NoStack::SignalTaken, "handles SIGURG"),
            (NoStack::SignalBlocked, "blocks SIGURG"),
            (NoStack::NoTimer, "ulimit -i"),
            (NoStack::NoMemory, "no memory left"),
            (NoStack::NoSymbols, "the program's own file"),
            (NoStack::Emulated, "valgrind or qemu"),
        ];
        // Rare looks have another line.
        assert_eq!(all.len() + 1, NoStack::ALL.len());
        for (times, (why, _)) in (1..).zip(all) {
            timeline.long_polls.sampling.no_stacks.add(why, times);
        }
        let lines = timeline.report().not_sampled();
        assert_eq!(lines.len(), all.len());
        for (line, (times, (_, words))) in lines.iter().zip((1..).zip(all)) {
            let times = count(times, "time");
            let begin = format!("The function that held a worker wasn't seen ({times}): ");
            assert!(line.starts_with(&begin) && line.contains(words), "{line}");
            // The line has a reason and a remedy.
            assert!(line.ends_with('.') && line.matches(". ").count() == 1, "{line}");
        }
    }

    #[test]
    fn rare_looks_are_said() {
        let (mut timeline, _) = explained("shop::compute");
        timeline.long_polls.sampling.no_stacks.add(NoStack::RareLooks, 7);
        assert_eq!(
            timeline.report().not_sampled(),
            [
                "Threads were looked at less often (7 times), as the program used all processors: a long poll of less than \
                 80.0 ms may have no sample."
            ]
        );
    }

    #[test]
    fn a_stripped_program_is_said_to_be_one() {
        let (mut timeline, _) = explained("shop::compute");
        let said = |timeline: &Timeline| timeline.report().not_sampled().concat();
        let address = |file: &str| StackFrame {
            function: format!("0x1f of {file} (build id 00ff)").into(),
            file: None,
            line: None,
            origin: FrameOrigin::System,
        };
        let (library, program) = (address("libc.so.6"), address("shop"));
        // Libraries don't name all of their functions.
        timeline
            .long_polls
            .samples
            .iter_mut()
            .for_each(|sample| sample.frames = vec![library.clone()]);
        assert_eq!(said(&timeline), "");
        timeline.long_polls.samples[0].frames.push(program);
        let line = said(&timeline);
        assert!(line.contains("stripped") && line.contains("strip = \"none\""), "{line}");
        assert!(line.contains("`tokio-statemap symbolize`"), "{line}");
    }
}
