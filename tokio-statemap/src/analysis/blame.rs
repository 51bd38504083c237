//! What a single poll is blamed on: the function that its samples show.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::act::{FROM_DISK, PageFaults, act};
use crate::trace::timeline::{FrameOrigin, Poll, PollSample, StackFrame, Timeline};

/// What a poll is blamed on, as its samples show.
pub(super) struct Blame {
    pub(super) function: Function,
    /// The function, with the lines at which it was seen.
    pub(super) frames: Weights<StackFrame>,
    /// What it was seen to do.
    pub(super) acts: Weights<String>,
}

/// A function and its file; where it was blocked also the line. Where it computes, each sample shows
/// another line of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    name: Arc<str>,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

impl Blame {
    /// `None` if there are no samples, or none has a function to blame.
    pub(super) fn of(timeline: &Timeline, poll: &Poll) -> Option<Self> {
        let mut blames: Vec<Self> = Vec::new();
        let faults = PageFaults::from_poll(timeline, poll);
        let mut known: HashMap<Function, usize> = HashMap::new();
        for (sample, since_ns) in weighted(timeline, poll) {
            let weight_ns = since_ns.max(1);
            let blamed = of_sample(sample, faults).filter(|_| !is_in_runtime(sample));
            let Some((function, frame, act)) = blamed else { continue };
            let place = *known.entry(function).or_insert_with_key(|function| {
                let (frames, acts) = (Weights::default(), Weights::default());
                blames.push(Self { function: function.clone(), frames, acts });
                blames.len() - 1
            });
            blames[place].frames.add(frame.clone(), weight_ns);
            blames[place].acts.add(act, weight_ns);
        }
        // Of equals the first.
        blames.into_iter().rev().max_by_key(|blame| blame.frames.sum())
    }
}

/// What a poll was seen to be blocked in, or waited for as its page faults say, where no function of the program was seen:
/// without line tables those that are compiled into one of the runtime's are not.
pub(super) fn blocked_acts(timeline: &Timeline, poll: &Poll) -> Weights<String> {
    let mut acts = Weights::default();
    let faults = PageFaults::from_poll(timeline, poll);
    for (sample, since_ns) in weighted(timeline, poll) {
        if sample.blocked_in.is_none() || is_in_runtime(sample) {
            continue;
        }
        let is_callee =
            |frame: &&StackFrame| matches!(frame.origin, FrameOrigin::System | FrameOrigin::Std);
        let callees = sample.frames.iter().take_while(is_callee).count();
        acts.add(act(sample, &sample.frames[..callees], faults), since_ns.max(1));
    }
    if acts.len() == 0 && faults.took_most {
        acts.add(FROM_DISK.to_owned(), 1);
    }
    acts
}

/// How long a poll waited for a lock of the runtime's own, or was held up by the recording itself, in ns: none
/// of the program's doing, as who holds such a lock does so for no longer than it takes, unless its processor
/// is taken away.
pub(super) fn in_runtime_ns(timeline: &Timeline, poll: &Poll, end_ns: u64) -> u64 {
    let waits = weighted(timeline, poll).filter(|(sample, _)| is_in_runtime(sample));
    let waited_ns = waits.fold(0, |sum: u64, (_, since_ns)| sum.saturating_add(since_ns));
    // What is behind the last one isn't known: it may have gone on.
    let last = timeline.samples(poll).last().filter(|sample| is_in_runtime(sample));
    waited_ns.saturating_add(last.map_or(0, |last| end_ns.saturating_sub(last.at_ns)))
}

/// The samples of a poll, and the time since the one before, which each stands for, in ns.
pub(super) fn weighted<'a>(
    timeline: &'a Timeline,
    poll: &Poll,
) -> impl Iterator<Item = (&'a PollSample, u64)> + use<'a> {
    let mut before_ns = poll.start_ns();
    timeline.samples(poll).iter().map(move |sample| {
        let since_ns = sample.at_ns.saturating_sub(before_ns);
        before_ns = sample.at_ns;
        (sample, since_ns)
    })
}

/// Whether a sample shows a wait for a lock that the runtime took for itself, or what is done once for each
/// place at which tasks wait: to follow the stack there takes over a millisecond in an unoptimised build.
pub(super) fn is_in_runtime(sample: &PollSample) -> bool {
    let is_lock = sample.blocked_in.as_deref() == Some("futex");
    let is_own = |frame: &StackFrame| frame.origin == FrameOrigin::Program;
    let inner: Vec<_> = sample.frames.iter().take_while(|frame| !is_own(frame)).collect();
    let is_runtimes = inner.iter().any(|frame| frame.origin == FrameOrigin::Runtime);
    // What the program calls to wait; `spawn_blocking` isn't, whose lock is the blocking pool's.
    let is_asked_for = inner.iter().any(|frame| {
        let function = frame.short();
        ["block_on", "blocking_", "block_in_place"].iter().any(|name| function.starts_with(name))
    });
    let is_recording = |frame: &&StackFrame| {
        frame.function.starts_with("tokio_statemap::recorder::waits::capture::")
    };
    is_lock && is_runtimes && !is_asked_for || inner.iter().any(is_recording)
}

fn of_sample(sample: &PollSample, faults: PageFaults) -> Option<(Function, &StackFrame, String)> {
    let blamed = sample.blamed()?;
    let place = sample.frames.iter().position(|frame| std::ptr::eq(frame, blamed))?;
    let function = Function {
        name: Arc::clone(&blamed.function),
        file: blamed.file.clone(),
        line: blamed.line.filter(|_| sample.blocked_in.is_some()),
    };
    Some((function, blamed, act(sample, &sample.frames[..place], faults)))
}

/// Things, and for how long each was seen, in ns. There may be any number of them.
#[derive(Clone, Debug)]
pub(super) struct Weights<T>(HashMap<T, Weight>);

#[derive(Clone, Copy, Debug)]
struct Weight {
    ns: u64,
    /// How many things were seen before it was.
    place: usize,
}

impl<T> Default for Weights<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Eq + Hash> Weights<T> {
    pub(super) fn add(&mut self, thing: T, ns: u64) {
        let place = self.0.len();
        let weight = self.0.entry(thing).or_insert(Weight { ns: 0, place });
        weight.ns = weight.ns.saturating_add(ns);
    }

    pub(super) fn add_all(&mut self, other: Self) {
        let mut all: Vec<_> = other.0.into_iter().collect();
        all.sort_unstable_by_key(|(_, weight)| weight.place);
        all.into_iter().for_each(|(thing, weight)| self.add(thing, weight.ns));
    }

    /// The things, in any order.
    pub(super) fn things(&self) -> impl Iterator<Item = &T> {
        self.0.keys()
    }

    /// How many things.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn sum(&self) -> u64 {
        self.0.values().fold(0, |sum, weight| sum.saturating_add(weight.ns))
    }

    /// That which was seen for longest, of equals the first.
    pub(super) fn heaviest(&self) -> Option<&T> {
        let by_weight = |(_, weight): &(&T, &Weight)| (weight.ns, Reverse(weight.place));
        self.0.iter().max_by_key(by_weight).map(|(thing, _)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_is_the_first_of_equals() {
        let of = |all: &[(&'static str, u64)]| {
            let mut weights = Weights::default();
            all.iter().for_each(|&(thing, ns)| weights.add(thing, ns));
            weights
        };
        assert_eq!(of(&[]).heaviest(), None);
        assert_eq!(of(&[("a", 1), ("b", 3), ("a", 1), ("c", 3)]).heaviest(), Some(&"b"));
        let names: Vec<_> = (0..100).map(|n| format!("{n}")).collect();
        // In whatever order they are kept.
        for first in 0..names.len() {
            let all = names[first..].iter().chain(&names[..first]);
            let (mut sum, mut other) = (Weights::default(), Weights::default());
            all.for_each(|name| other.add(name.as_str(), u64::MAX));
            sum.add_all(other);
            assert_eq!(sum.heaviest(), Some(&names[first].as_str()));
            assert_eq!((sum.len(), sum.sum()), (100, u64::MAX));
        }
    }

    #[test]
    fn what_the_recording_does_is_not_the_programs() {
        let frame = |function: &str, origin| StackFrame {
            function: function.into(),
            file: None,
            line: None,
            origin,
        };
        let leaf = || frame("tokio::time::sleep::Sleep::poll", FrameOrigin::Runtime);
        let own = || frame("async shop::handle", FrameOrigin::Program);
        let capture = "tokio_statemap::recorder::waits::capture::Captures::capture";
        let capture = || frame(capture, FrameOrigin::Runtime);
        let sample = |frames| PollSample {
            thread: 0,
            poll_start_ns: 0,
            at_ns: 0,
            blocked_in: None,
            frames,
            is_complete: true,
        };
        let follows = frame("gimli::read::cfi::UnwindTable::next_row", FrameOrigin::Dependency);
        assert!(is_in_runtime(&sample(vec![follows, capture(), leaf(), own()])));
        assert!(!is_in_runtime(&sample(vec![leaf(), own()])));
        // What the program does is its own, whatever polls it.
        assert!(!is_in_runtime(&sample(vec![own(), capture()])));
    }

    #[test]
    fn a_lock_of_the_blocking_pool_is_the_runtimes() {
        let frame = |function: &str, origin| StackFrame {
            function: function.into(),
            file: None,
            line: None,
            origin,
        };
        let runtime = |function: &str| frame(function, FrameOrigin::Runtime);
        let waits = |functions: Vec<StackFrame>| {
            let lock = frame("std::sync::Mutex<T>::lock", FrameOrigin::Std);
            let own = frame("async shop::crawl", FrameOrigin::Program);
            let frames = [vec![lock], functions, vec![own]].concat();
            let blocked_in = Some("futex".to_owned());
            PollSample {
                thread: 0,
                poll_start_ns: 0,
                at_ns: 0,
                blocked_in,
                frames,
                is_complete: true,
            }
        };
        let spawner = "tokio::runtime::blocking::pool::Spawner";
        assert!(is_in_runtime(&waits(vec![
            runtime(&format!("{spawner}::spawn_task")),
            runtime(&format!("{spawner}::spawn_blocking_inner<T>")),
            runtime("async tokio::net::lookup_host"),
        ])));
        // These the program calls to wait.
        let receives = runtime("tokio::sync::mpsc::Receiver<T>::blocking_recv");
        assert!(!is_in_runtime(&waits(vec![receives])));
    }

    /// To look through all others for each would take hours.
    #[test]
    #[ignore = "slow"]
    fn there_may_be_any_number_of_things() {
        let mut weights = Weights::default();
        let mut all = Weights::default();
        for n in 0..1_000_000_u64 {
            weights.add(n, n % 1_000);
        }
        all.add_all(weights);
        assert_eq!((all.len(), all.heaviest()), (1_000_000, Some(&999)));
    }
}
