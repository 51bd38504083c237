//! The samples of long polls' stacks.

use std::io;

use crate::recorder::watch::{NoStack, NoStacks, Sample, Samples};
use crate::symbols::{FrameOrigin, Resolver, StackFrame, system_call, with_resolver};
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::poll::PollKey;
use crate::trace::timeline::stack_end::up_to_task;
use crate::util::quantity::count;
use crate::util::slow::Slow;

/// The maximum number of functions of all samples and of one sample when data is read. A recording
/// keeps 4096 samples, some of which have 200 functions with inlined ones.
pub(crate) const MOST_FRAMES: usize = 1 << 21;
pub(crate) const MOST_FRAMES_OF_SAMPLE: usize = 1 << 16;

/// The system call in which a thread waits for another one.
pub(crate) const FUTEX: &str = "futex";

/// The word between a system call and the file of its descriptor.
const OF: &str = " of ";

/// A sample of a long poll's stack: the functions that its thread was in at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollSample {
    /// The poll's thread.
    pub(crate) thread: u32,
    /// The start of the poll, in ns.
    pub(crate) poll_start_ns: u64,
    /// The time of the sample, in ns.
    pub at_ns: u64,
    /// The system call that the thread was blocked in, such as `clock_nanosleep` or `read of
    /// /dev/random`; `None` if it was on a processor or ready to run.
    pub blocked_in: Option<String>,
    /// The functions, innermost first, up to the task's own. The runtime's are left out.
    pub frames: Vec<StackFrame>,
    /// `true` if [`frames`](Self::frames) reaches up to the task's own function; otherwise the
    /// stack was too deep or could not be followed.
    pub is_complete: bool,
}

impl PollSample {
    /// Returns the function to blame: the innermost one of the program, or else of a dependency.
    pub fn blamed(&self) -> Option<&StackFrame> {
        blamed(&self.frames)
    }

    /// Returns the name of the system call that the thread was blocked in, and the file of its descriptor.
    pub(crate) fn call(&self) -> Option<(&str, Option<&str>)> {
        let blocked_in = self.blocked_in.as_deref()?;
        Some(blocked_in.split_once(OF).map_or((blocked_in, None), |(call, of)| (call, Some(of))))
    }

    /// Returns whether the thread waited for another one.
    pub(crate) fn waits_for_thread(&self) -> bool {
        self.call().is_some_and(|(call, _)| call == FUTEX)
    }

    /// Returns the sort key of samples: thread, start of the poll, time.
    pub(crate) fn order(&self) -> (u32, u64, u64) {
        (self.thread, self.poll_start_ns, self.at_ns)
    }
}

/// Returns the function of a stack to blame.
pub(crate) fn blamed(frames: &[StackFrame]) -> Option<&StackFrame> {
    let of = |origin| frames.iter().find(move |frame| frame.origin == origin);
    of(FrameOrigin::Program).or_else(|| of(FrameOrigin::Dependency))
}

impl PollSample {
    /// Returns the key of its poll.
    pub(crate) fn poll_key(&self) -> PollKey {
        (self.thread, self.poll_start_ns)
    }
}

/// Returns an upper bound of the time that a poll was blocked, from its samples in order of time. A
/// blocked sample covers the time from the sample before it, or the poll's start, to the next one,
/// or the poll's end.
pub(super) fn blocked_at_most_ns(samples: &[PollSample], end_ns: u64) -> u64 {
    let mut blocked_ns = 0;
    // The time up to which it is decided, and the state there.
    let Some(mut from_ns) = samples.first().map(|sample| sample.poll_start_ns) else { return 0 };
    let mut was_blocked = false;
    for sample in samples {
        let is_blocked = sample.blocked_in.is_some();
        if was_blocked || is_blocked {
            blocked_ns += sample.at_ns.saturating_sub(from_ns);
        }
        (from_ns, was_blocked) = (sample.at_ns, is_blocked);
    }
    if was_blocked {
        blocked_ns += end_ns.saturating_sub(from_ns);
    }
    blocked_ns
}

/// Looks up and sorts the samples of a snapshot, and those of what other threads did beside. Counts the reasons why
/// samples have no functions although their addresses are known.
pub(super) fn resolve(
    snapshot: &Snapshot,
    no_stacks: &mut NoStacks,
) -> (Vec<PollSample>, Vec<PollSample>) {
    let Samples { all, beside, .. } = &snapshot.capture.samples;
    let number = all.len() + beside.len();
    let slow =
        || Slow::begin(format!("looking up the functions of {}", count(number as u64, "stack")));
    let _slow = (number > 0).then(slow).flatten();
    let mut samples = Vec::with_capacity(number);
    // All samples are one use of the resolver, and share its time limit.
    let problem = with_resolver(|resolver| {
        for (nth, sample) in all.iter().chain(beside).enumerate() {
            let stack = Stack::from_sample(sample, resolver);
            // A thread of the program's own that sleeps or reads is most likely idle.
            if nth >= all.len() && stack.blocked_in.is_some() && !stack.is_of_task {
                continue;
            }
            samples.push(PollSample {
                thread: sample.stream,
                poll_start_ns: snapshot.ns(sample.start_ticks),
                at_ns: snapshot.ns(sample.ticks),
                blocked_in: stack.blocked_in,
                frames: stack.frames,
                is_complete: stack.is_complete,
            });
        }
        resolver.problem()
    });
    let mut beside = samples.split_off(all.len());
    if let Some(problem) = problem {
        let why = match problem {
            io::ErrorKind::OutOfMemory => NoStack::NoMemory,
            _ => NoStack::NoSymbols,
        };
        let mut unnamed = 0;
        for (nth, sample) in samples.iter().enumerate() {
            unnamed += u64::from(all[nth].addresses.len() > 1 && sample.blamed().is_none());
        }
        no_stacks.add(why, unnamed);
    }
    for samples in [&mut samples, &mut beside] {
        limit_stacks(samples);
        crate::util::sort::by_key(samples, PollSample::order);
    }
    (samples, beside)
}

/// Cuts off the outermost functions of stacks where there are more than a reader of data accepts, in one sample or in all.
pub(crate) fn limit_stacks(samples: &mut [PollSample]) {
    let sum: usize = samples.iter().map(|sample| sample.frames.len()).sum();
    let most = match sum > MOST_FRAMES {
        true => (MOST_FRAMES / samples.len()).min(MOST_FRAMES_OF_SAMPLE),
        false => MOST_FRAMES_OF_SAMPLE,
    };
    for sample in samples {
        if sample.frames.len() > most {
            sample.frames.truncate(most);
            sample.is_complete = false;
        }
    }
}

/// Looks up the functions at the addresses of a stack.
pub(super) fn frames_of(addresses: &[u64], resolver: &mut Resolver) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    for &address in addresses {
        frames.extend_from_slice(&resolver.frames(address));
    }
    frames
}

/// A sample with the names of its functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    pub(crate) blocked_in: Option<String>,
    pub(crate) frames: Vec<StackFrame>,
    pub(crate) is_complete: bool,
    /// `true` if its thread runs a task, or a blocking task.
    is_of_task: bool,
}

impl Stack {
    pub(crate) fn from_sample(sample: &Sample, resolver: &mut Resolver) -> Self {
        let mut frames = frames_of(&sample.addresses, resolver);
        let is_cut = up_to_task(&mut frames);
        let mut blocked_in = None;
        if let Some(call) = &sample.blocked {
            let name = system_call(call.number);
            blocked_in = Some(match &call.descriptor {
                Some(descriptor) => format!("{name}{OF}{descriptor}"),
                None => name.into_owned(),
            });
        }
        let is_complete = is_cut || sample.is_complete;
        Self { blocked_in, frames, is_complete, is_of_task: is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_sample_stands_for_the_time_around_it() {
        let at = |at_ns, is_blocked: bool| PollSample {
            thread: 1,
            poll_start_ns: 100,
            at_ns,
            blocked_in: is_blocked.then(|| "read".to_owned()),
            frames: Vec::new(),
            is_complete: true,
        };
        for (samples, expected) in [
            (vec![], 0),
            (vec![at(105, false)], 0),
            (vec![at(105, true)], 100),
            (vec![at(105, true), at(110, true), at(120, true)], 100),
            (vec![at(105, true), at(110, false), at(120, false)], 10),
            (vec![at(105, false), at(110, true), at(120, false)], 15),
            (vec![at(105, true), at(110, false), at(120, true)], 100),
            (vec![at(105, false), at(110, false), at(120, true)], 90),
        ] {
            assert_eq!(blocked_at_most_ns(&samples, 200), expected, "{samples:?}");
        }
    }
}
