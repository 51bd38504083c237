//! What a report can't know, in sentences.

use super::report::Report;
use crate::trace::timeline::{ClockChanges, NoStack, Sampling, SamplingState};
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
        let Sampling { state, dropped, .. } = self.sampling;
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
        if self.is_stripped {
            lines.push(
                "Functions have no names: the program was stripped. Build it with strip = \"none\" in \
                 its profile, or have `tokio-statemap symbolize` name them."
                    .to_owned(),
            );
        }
        lines.extend(self.sampling.no_stacks.all().map(|(why, times)| {
            let times = count(times, "time");
            format!("The function that held a worker wasn't seen ({times}): {}.", reason(why))
        }));
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

/// Why the function that held a worker wasn't seen, and what to do about it.
fn reason(why: NoStack) -> &'static str {
    match why {
        NoStack::NoProc => {
            "there is no /proc here, or only that of another pid namespace. Mount it"
        }
        NoStack::NoCall => {
            "/proc/self/task/*/syscall can't be read. Run the program without set-uid and file \
             capabilities, and outside of sandboxes that lack that file"
        }
        NoStack::MemoryDenied => {
            "the system refuses process_vm_readv. Allow it in the container's seccomp profile"
        }
        NoStack::Filtered => {
            "a seccomp filter is in force that may end the program for what it takes. Let the filter \
             return an error instead"
        }
        NoStack::SignalTaken => {
            "the program handles SIGURG itself, by which threads are asked. Use another signal"
        }
        NoStack::NoTimer => {
            "the system had no timer left by which threads are asked. Raise the limit of pending \
             signals (ulimit -i)"
        }
        NoStack::SignalBlocked => {
            "its thread blocks SIGURG, by which it is asked. Leave that signal unblocked"
        }
        NoStack::NoMemory => {
            "there was no memory left to find out. Raise the program's limit (ulimit -v)"
        }
        NoStack::NoSymbols => {
            "the program's own file could not be read. Keep it readable, and a file descriptor free"
        }
        NoStack::Emulated => {
            "the thread was not in code of the program: that is so under valgrind or qemu, in code \
             that is made at run time, and while a process is created. Run the program by itself"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;
    use crate::trace::timeline::{FrameOrigin, StackFrame, Timeline};

    #[test]
    fn it_is_said_why_no_function_was_seen() {
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
        assert_eq!(all.len(), NoStack::ALL.len());
        for (times, (why, _)) in (1..).zip(all) {
            timeline.sampling.no_stacks.add(why, times);
        }
        let lines = timeline.report().not_sampled();
        assert_eq!(lines.len(), all.len());
        for (line, (times, (_, words))) in lines.iter().zip((1..).zip(all)) {
            let times = count(times, "time");
            let begin = format!("The function that held a worker wasn't seen ({times}): ");
            assert!(line.starts_with(&begin) && line.contains(words), "{line}");
            // A reason and a cure.
            assert!(line.ends_with('.') && line.matches(". ").count() == 1, "{line}");
        }
    }

    #[test]
    fn it_is_said_that_a_program_was_stripped() {
        let (mut timeline, _) = explained("shop::compute");
        let said = |timeline: &Timeline| timeline.report().not_sampled().concat();
        let address = |file: &str| StackFrame {
            function: format!("0x1f of {file} (build id 00ff)").into(),
            file: None,
            line: None,
            origin: FrameOrigin::System,
        };
        let (library, program) = (address("libc.so.6"), address("shop"));
        // What a library doesn't name is no reason.
        timeline.samples.iter_mut().for_each(|sample| sample.frames = vec![library.clone()]);
        assert_eq!(said(&timeline), "");
        timeline.samples[0].frames.push(program);
        let line = said(&timeline);
        assert!(line.contains("stripped") && line.contains("strip = \"none\""), "{line}");
        assert!(line.contains("`tokio-statemap symbolize`"), "{line}");
    }
}
