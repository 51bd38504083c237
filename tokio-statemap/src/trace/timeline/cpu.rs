//! The CPU time of polls, by stack.

use crate::recorder::watch::cpu::CpuSamples;
pub use crate::recorder::watch::cpu::Sampled;
use crate::symbols::{Address, StackFrame, with_resolver};
use crate::trace::timeline::sample::{blamed, frames_of};
use crate::trace::timeline::stack_end::up_to_task;

/// Samples of the stacks of workers that compute in polls, even in short ones, since recording was first started. A
/// sample stands for the CPU time of its thread since the sample before: 10 to 100 ms, as sampling has a budget.
///
/// Empty without the feature `stacks`, with `stacks = false`, and on systems other than Linux on x86-64 and aarch64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuTime {
    /// The stacks that were seen. Two may have the same functions and lines.
    pub stacks: Vec<CpuStack>,
    /// The CPU time that is attributed to no function: samples in which no function of the program or of a dependency
    /// was seen, samples of rare stacks beyond the 512 that are told apart, and CPU time without a sample nearby. Some
    /// of it may be outside of polls.
    pub others: Sampled,
    /// The samples of workers outside of polls, where the runtime looks for tasks and for I/O. They don't count as
    /// computing in polls.
    pub outside: Sampled,
}

/// A stack of functions that computed in polls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuStack {
    /// The functions, innermost first, up to the task's own. The runtime's are left out.
    pub frames: Vec<StackFrame>,
    /// The samples.
    pub sampled: Sampled,
}

/// The most functions of a stack that are kept, the innermost ones.
pub(crate) const MOST_FRAMES: usize = 1024;

impl CpuTime {
    /// Looks up the functions.
    pub(super) fn from_samples(samples: &CpuSamples) -> Self {
        let mut all = Self { others: samples.others, ..Self::default() };
        if !samples.stacks.is_empty() {
            with_resolver(|resolver| {
                for (addresses, sampled) in &samples.stacks {
                    let frames = frames_of(addresses, resolver);
                    all.stacks.push(CpuStack { frames, sampled: *sampled });
                }
            });
        }
        all.tidy();
        all
    }

    /// Removes samples outside of polls. It must be called once functions have their names, as nothing is known without
    /// them.
    pub(super) fn tidy(&mut self) {
        let (others, outside) = (&mut self.others, &mut self.outside);
        self.stacks.retain_mut(|CpuStack { frames, sampled }| {
            let is_in_task = up_to_task(frames);
            if !is_in_task && frames.iter().any(|frame| Address::parse(&frame.function).is_some()) {
                frames.truncate(MOST_FRAMES);
                return true;
            }
            // The stack of a worker outside of polls has the scheduler in it, as a worker is itself a task of the
            // blocking pool. So has a poll in `block_in_place`, a function of the scheduler: such a poll holds no
            // worker.
            let is_scheduler =
                |frame: &StackFrame| frame.function.contains("tokio::runtime::scheduler::");
            let is_in_poll = is_in_task && !frames.iter().any(is_scheduler);
            let is_kept = is_in_poll && blamed(frames).is_some();
            frames.truncate(MOST_FRAMES);
            if !is_kept {
                let to = if is_in_poll { &mut *others } else { &mut *outside };
                to.add(*sampled);
            }
            is_kept
        });
    }

    /// Returns the sum of all samples in polls.
    pub(crate) fn in_polls(&self) -> Sampled {
        let mut sum = self.others;
        for stack in &self.stacks {
            sum.add(stack.sampled);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::FrameOrigin::{self, Dependency, Program, Runtime, System};

    fn stack(frames: &[(&str, FrameOrigin)]) -> CpuStack {
        let frame = |&(function, origin): &(&str, FrameOrigin)| StackFrame {
            function: function.into(),
            file: None,
            line: None,
            origin,
        };
        let sampled = Sampled { samples: 1, cpu_ns: 10 };
        CpuStack { frames: frames.iter().map(frame).collect(), sampled }
    }

    const POLL: (&str, FrameOrigin) = ("tokio::runtime::task::harness::poll_future", Runtime);
    const SCHEDULER: (&str, FrameOrigin) =
        ("tokio::runtime::scheduler::multi_thread::worker::run", Runtime);
    const SCORE: (&str, FrameOrigin) = ("shop::score", Program);

    #[test]
    fn only_what_polls_compute_on_workers_is_kept() {
        let mut cpu = CpuTime {
            stacks: vec![
                stack(&[SCORE, ("async shop::feed", Program), POLL, SCHEDULER, POLL]),
                stack(&[("regex::find", Dependency), POLL, SCHEDULER, POLL]),
                // A timer of Tokio's in a task of its own.
                stack(&[("tokio::time::sleep::Sleep::poll", Runtime), POLL, SCHEDULER, POLL]),
                // A worker looks for I/O and for tasks.
                stack(&[("mio::poll::Poll::poll", Dependency), SCHEDULER, POLL]),
                stack(&[SCHEDULER, POLL]),
                // The worker of this poll moved to another thread.
                stack(&[
                    SCORE,
                    ("tokio::runtime::scheduler::multi_thread::worker::block_in_place", Runtime),
                    POLL,
                    SCHEDULER,
                    POLL,
                ]),
                // Between two calls of `block_on`.
                stack(&[SCORE, ("shop::main", Program)]),
            ],
            ..CpuTime::default()
        };
        cpu.tidy();
        let kept: Vec<Vec<_>> = cpu
            .stacks
            .iter()
            .map(|stack| stack.frames.iter().map(|frame| &*frame.function).collect())
            .collect();
        assert_eq!(kept, [vec!["shop::score", "async shop::feed"], vec!["regex::find"]]);
        assert_eq!((cpu.others.samples, cpu.outside.samples), (1, 4));
        assert_eq!(cpu.in_polls(), Sampled { samples: 3, cpu_ns: 30 });
    }

    /// Once functions have names, it turns out which samples are in polls.
    #[test]
    fn stacks_without_names_are_kept() {
        let unnamed = stack(&[("0x1f of service (build id 00ff)", System)]);
        let mut cpu = CpuTime { stacks: vec![unnamed], ..CpuTime::default() };
        cpu.tidy();
        assert_eq!((cpu.stacks.len(), cpu.outside.samples), (1, 0));
    }
}
