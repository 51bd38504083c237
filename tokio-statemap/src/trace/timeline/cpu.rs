//! What polls computed.

use crate::recorder::watch::cpu::CpuSamples;
pub use crate::recorder::watch::cpu::Sampled;
use crate::symbols::{StackFrame, with_resolver};
use crate::trace::timeline::sample::blamed;
use crate::trace::timeline::stack_end::up_to_task;

/// What polls computed, since recording was first started: samples of the stacks of their threads, however short the polls
/// were. A sample stands for the CPU time of its thread since the sample before, some 10 ms.
///
/// Empty without the feature `stacks`, with `stacks = false`, and on systems other than Linux on x86-64 and aarch64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuTime {
    /// The stacks that were seen. Two may have the same functions and lines.
    pub stacks: Vec<CpuStack>,
    /// The further samples: they show no function of the program or of a dependency, or were of stacks that took little, of which 512 are told
    /// apart.
    pub others: Sampled,
    /// The samples outside of polls, where the runtime looks for tasks. They are not part of what polls computed.
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
                    let mut frames = Vec::new();
                    for &address in addresses {
                        frames.extend_from_slice(&resolver.frames(address));
                    }
                    all.stacks.push(CpuStack { frames, sampled: *sampled });
                }
            });
        }
        all.tidy();
        all
    }

    /// Removes what is outside of tasks. To be called when functions got their names.
    pub(super) fn tidy(&mut self) {
        let (others, outside) = (&mut self.others, &mut self.outside);
        self.stacks.retain_mut(|CpuStack { frames, sampled }| {
            // A worker is itself a task of the blocking pool, below which is the scheduler.
            let is_scheduler =
                |frame: &StackFrame| frame.function.contains("tokio::runtime::scheduler::");
            let is_in_poll = up_to_task(frames) && !frames.iter().any(is_scheduler);
            frames.truncate(MOST_FRAMES);
            let is_blamed = blamed(frames).is_some();
            match is_in_poll {
                _ if is_blamed => {}
                true => others.add(*sampled),
                false => outside.add(*sampled),
            }
            is_blamed
        });
    }

    /// Returns what all samples in polls are in sum.
    pub(crate) fn in_polls(&self) -> Sampled {
        let mut sum = self.others;
        for stack in &self.stacks {
            sum.add(stack.sampled);
        }
        sum
    }
}
