//! The function that a single poll is blamed on, as its samples show.

use std::hash::Hash;
use std::sync::Arc;

use super::blocking_cause::{BlockingCause, PageFaults};
use super::request::{is_of_watch, wakes_tasks};
use crate::trace::timeline::{FrameOrigin, Poll, PollSample, StackFrame, Timeline};
use crate::util::map::Map;

/// The function that a poll is blamed on.
pub(super) struct Blame {
    pub(super) function: Function,
    /// The function, once for each line at which it was seen.
    pub(super) frames: Weights<StackFrame>,
    /// The things that it was seen to do.
    pub(super) causes: Weights<BlockingCause>,
    /// The program's functions that called it, and the callers of these.
    pub(super) callers: Callers,
}

/// The number of callers that are named at most.
const MOST_CALLERS: usize = 2;

pub(super) type Callers = [Weights<StackFrame>; MOST_CALLERS];

/// A function and its file, and its line where it was blocked. Where it computes, each sample shows another line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Function {
    name: Arc<str>,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

impl Blame {
    /// Returns `None` if there are no samples, or none shows a function to blame.
    pub(super) fn from_samples(timeline: &Timeline, poll: &Poll) -> Option<Self> {
        let mut blames: Vec<Self> = Vec::new();
        let faults = PageFaults::from_poll(timeline, poll);
        let mut known: Map<Function, usize> = Map::default();
        for (sample, since_ns) in weighted(timeline, poll) {
            let weight_ns = since_ns.max(1);
            if is_internal(sample) {
                continue;
            }
            let Some((function, frame, cause)) = blamed_function(sample, faults) else { continue };
            let place = *known.get_or_insert_with(function.clone(), || {
                let (frames, causes) = (Weights::default(), Weights::default());
                blames.push(Self { function, frames, causes, callers: Callers::default() });
                blames.len() - 1
            });
            add_callers(&mut blames[place].callers, &sample.frames, frame, weight_ns);
            blames[place].frames.add(frame.clone(), weight_ns);
            blames[place].causes.add(cause, weight_ns);
        }
        let (mut heaviest, mut most_ns) = (0, 0);
        for (place, blame) in blames.iter().enumerate() {
            // If two are equal, the first stays.
            if blame.frames.sum() > most_ns {
                (heaviest, most_ns) = (place, blame.frames.sum());
            }
        }
        if blames.is_empty() { None } else { Some(blames.swap_remove(heaviest)) }
    }

    /// Returns the function, with its file, and with its line if it was blocked there.
    pub(super) fn place_in_file(self) -> Option<StackFrame> {
        let mut frame = self.frames.heaviest()?.clone();
        frame.line = frame.line.filter(|_| self.function.line.is_some());
        Some(frame)
    }

    /// Returns the function, with its file and line if it was blocked there. Where it computes, each sample shows another line.
    pub(super) fn place(self) -> Option<StackFrame> {
        let frame = self.place_in_file()?;
        let file = frame.file.filter(|_| frame.line.is_some());
        Some(StackFrame { file, ..frame })
    }
}

/// Returns what a poll was blocked in while no function of the program was seen. Without line tables, functions that
/// are inlined into the runtime's are not seen.
pub(super) fn causes_without_function(timeline: &Timeline, poll: &Poll) -> Weights<BlockingCause> {
    let mut causes = Weights::default();
    let faults = PageFaults::from_poll(timeline, poll);
    for (sample, since_ns) in weighted(timeline, poll) {
        if sample.blocked_in.is_none() || is_internal(sample) {
            continue;
        }
        let is_other =
            |frame: &StackFrame| !matches!(frame.origin, FrameOrigin::System | FrameOrigin::Std);
        let callees = sample.frames.iter().position(is_other).unwrap_or(sample.frames.len());
        let cause = BlockingCause::from_sample(sample, &sample.frames[..callees], faults);
        causes.add(cause, since_ns.max(1));
    }
    if causes.len() == 0 && faults.took_most {
        causes.add(BlockingCause::FromDisk, 1);
    }
    causes
}

/// Returns how long a poll waited for a lock of the runtime's own or of the C library's, or was held up by the recording itself, in
/// ns. None is the program's doing: such a lock is held for long only if the processor of its holder is taken away.
pub(super) fn internal_ns(timeline: &Timeline, poll: &Poll, end_ns: u64) -> u64 {
    let mut waited_ns: u64 = 0;
    // The wait that the last sample shows may have gone on to the end.
    let mut rest_ns = 0;
    let is_given_away = timeline.handover_of(poll).is_some();
    for (sample, since_ns) in weighted(timeline, poll) {
        rest_ns = 0;
        if is_internal(sample) || is_given_away && is_in_place(sample) {
            waited_ns = waited_ns.saturating_add(since_ns);
            rest_ns = end_ns.saturating_sub(sample.at_ns);
        }
    }
    waited_ns.saturating_add(rest_ns)
}

/// Returns whether a sample shows the poll in `block_in_place`, which gives the worker away. The thread that takes it may have no
/// processor at first.
fn is_in_place(sample: &PollSample) -> bool {
    let is_it = |frame: &StackFrame| {
        frame.origin == FrameOrigin::Runtime
            && frame.function.contains("multi_thread::worker::block_in_place")
    };
    sample.frames.iter().any(is_it)
}

/// Returns the samples of a poll, each with the time since the one before, in ns: the time that it stands for.
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

/// Functions of the C library and of other allocators that take locks for themselves. Their callers may be any.
const TAKE_LOCKS: [&str; 9] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "cfree",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "dl_iterate_phdr",
];
const ALLOCATORS: [&str; 3] = ["_rjem_", "je_", "mi_"];

fn takes_locks(frame: &StackFrame) -> bool {
    frame.origin == FrameOrigin::System
        && (TAKE_LOCKS.contains(&&*frame.function)
            || ALLOCATORS.iter().any(|prefix| frame.function.starts_with(prefix)))
}

/// Returns whether a sample shows a wait for a lock that the runtime or the C library takes for itself, or the recording at work. The
/// latter unwinds the stack once for each place at which tasks wait, which takes over a millisecond in an unoptimised
/// build.
pub(super) fn is_internal(sample: &PollSample) -> bool {
    let (mut is_runtimes, mut is_asked_for, mut wakes) = (false, false, false);
    for frame in &sample.frames {
        if takes_locks(frame) {
            return sample.waits_for_thread();
        }
        // Starting a thread of the blocking pool takes locks of the system's for memory.
        if frame.function.contains("blocking::pool::Spawner::spawn_thread") {
            return sample.blocked_in.is_some();
        }
        match frame.origin {
            FrameOrigin::Program => break,
            FrameOrigin::Runtime => is_runtimes = true,
            _ => {}
        }
        if frame.function.starts_with("tokio_statemap::recorder::chains::capture::") {
            return true;
        }
        // The program calls these functions to wait. `spawn_blocking` isn't one of them: its lock is the blocking
        // pool's.
        let function = frame.short();
        wakes |= wakes_tasks(frame);
        is_asked_for |= function.starts_with("block_on")
            || function.starts_with("blocking_")
            || function.starts_with("block_in_place")
            || !wakes && is_of_watch(frame);
    }
    sample.waits_for_thread() && is_runtimes && !is_asked_for
}

/// Adds the program's functions that called the blamed one of a stack.
pub(super) fn add_callers(
    to: &mut Callers,
    frames: &[StackFrame],
    blamed: &StackFrame,
    weight_ns: u64,
) {
    for (weights, caller) in to.iter_mut().zip(callers(frames, blamed)) {
        weights.add(caller.clone(), weight_ns);
    }
}

/// Returns the program's functions that called the blamed one of a stack, the innermost first.
fn callers<'a>(frames: &'a [StackFrame], blamed: &'a StackFrame) -> Vec<&'a StackFrame> {
    let mut callers = Vec::new();
    let place = frames.iter().position(|frame| std::ptr::eq(frame, blamed));
    let mut inner = blamed;
    for frame in &frames[place.map_or(0, |place| place + 1)..] {
        // A recursive function calls itself: whoever called it first is its caller.
        if frame.origin != FrameOrigin::Program || tells_no_more(frame, inner) {
            continue;
        }
        if callers.len() == MOST_CALLERS {
            break;
        }
        callers.push(frame);
        inner = frame;
    }
    callers
}

/// Returns the callers that were seen for more than half of `all_ns`, and whether no others were seen.
pub(super) fn dominant_callers(callers: &Callers, all_ns: u64) -> (Vec<StackFrame>, bool) {
    let (mut dominant, mut are_all) = (Vec::new(), true);
    for weights in callers {
        let Some((caller, is_all)) = weights.dominant(all_ns) else { break };
        dominant.push(caller.clone());
        are_all &= is_all;
    }
    (dominant, are_all)
}

/// Returns the function that a sample of a blocked thread blames, and what it did.
pub(super) fn blamed_for_blocking(sample: &PollSample) -> Option<(&StackFrame, BlockingCause)> {
    let (_, frame, cause) = blamed_function(sample, PageFaults::default())?;
    Some((frame, cause))
}

/// Returns the function that a sample blames, its frame, and what it did.
fn blamed_function(
    sample: &PollSample,
    faults: PageFaults,
) -> Option<(Function, &StackFrame, BlockingCause)> {
    let blamed = sample.blamed()?;
    let place = sample.frames.iter().position(|frame| std::ptr::eq(frame, blamed))?;
    let function = Function {
        name: Arc::clone(&blamed.function),
        file: blamed.file.clone(),
        line: if sample.blocked_in.is_some() { blamed.line } else { None },
    };
    Some((function, blamed, BlockingCause::from_sample(sample, &sample.frames[..place], faults)))
}

/// Things, and for how long each was seen, in ns. There may be millions of them.
pub(super) struct Weights<T>(Map<T, u64>);

impl<T> Default for Weights<T> {
    fn default() -> Self {
        Self(Map::default())
    }
}

impl<T: Eq + Hash> Weights<T> {
    pub(super) fn add(&mut self, thing: T, ns: u64) {
        let weight_ns = self.0.get_or_default(thing);
        *weight_ns = weight_ns.saturating_add(ns);
    }

    pub(super) fn add_all(&mut self, other: Self) {
        // A map yields its entries in the order in which they were added.
        for (thing, ns) in other.0 {
            self.add(thing, ns);
        }
    }

    /// Returns the things, in the order in which they were first seen.
    pub(super) fn into_things(self) -> Vec<T> {
        let mut things = Vec::with_capacity(self.len());
        for (thing, _) in self.0 {
            things.push(thing);
        }
        things
    }

    /// Returns the number of things.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sum(&self) -> u64 {
        let mut sum_ns: u64 = 0;
        for ns in self.0.values() {
            sum_ns = sum_ns.saturating_add(*ns);
        }
        sum_ns
    }

    /// Returns the thing that was seen for longest, and of equals the first.
    pub(super) fn heaviest(&self) -> Option<&T> {
        self.heaviest_with_ns().map(|(thing, _)| thing)
    }

    /// Returns the same, and for how long it was seen, in ns.
    #[inline(never)]
    pub(super) fn heaviest_with_ns(&self) -> Option<(&T, u64)> {
        let mut heaviest = None;
        for (thing, &ns) in self.0.iter() {
            if heaviest.is_none_or(|(_, most_ns)| ns > most_ns) {
                heaviest = Some((thing, ns));
            }
        }
        heaviest
    }
}

impl Weights<BlockingCause> {
    /// Returns what polls did for longest. If they waited for a lock, and others of them did something else for a quarter of the
    /// time or more, that comes first: one of these may have held the lock meanwhile. Empty if nothing is known.
    pub(super) fn told(&self) -> Vec<&BlockingCause> {
        const PART: u64 = 4;
        let Some(longest) = self.heaviest() else { return Vec::new() };
        let (mut first, mut most_ns, least_ns) = (None, 0, self.sum() / PART);
        for (cause, &ns) in self.0.iter() {
            let is_other = longest.is_wait() && !cause.is_wait() && ns >= least_ns;
            if is_other && (first.is_none() || ns > most_ns) {
                (first, most_ns) = (Some(cause), ns);
            }
        }
        first.into_iter().chain([longest]).collect()
    }
}

impl Weights<StackFrame> {
    /// Returns the function that makes up more than half of `all_ns`, at the line at which it was seen longest, and
    /// whether it makes up all of it.
    fn dominant(&self, all_ns: u64) -> Option<(&StackFrame, bool)> {
        // Each frame is compared with all others.
        const MOST: usize = 1000;
        if self.len() > MOST {
            return None;
        }
        for (frame, _) in self.0.iter() {
            let (mut sum_ns, mut longest) = (0_u64, (frame, 0));
            for (other, &ns) in self.0.iter() {
                if is_same(other, frame) {
                    sum_ns = sum_ns.saturating_add(ns);
                    longest = if ns > longest.1 { (other, ns) } else { longest };
                }
            }
            if sum_ns > all_ns / 2 {
                return Some((longest.0, sum_ns >= all_ns));
            }
        }
        None
    }
}

/// Returns whether both frames are of one function, at any line.
pub(super) fn is_same(one: &StackFrame, other: &StackFrame) -> bool {
    one.function == other.function && one.file == other.file
}

/// Returns whether a caller is the function itself, or the one around a closure, at the same line.
pub(super) fn tells_no_more(caller: &StackFrame, inner: &StackFrame) -> bool {
    // A function and its closure may have the same file by paths from different folders.
    let is_in_file = match (&caller.file, &inner.file) {
        (Some(one), Some(other)) => one.ends_with(&**other) || other.ends_with(&**one),
        (one, other) => one == other,
    };
    let is_at_line = caller.line.is_some() && caller.line == inner.line;
    is_same(caller, inner) || is_at_line && is_in_file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_writes_with_a_lock_comes_before_who_waits_for_it() {
        let within = Some("a::Mutex::lock".to_owned());
        let locked = &BlockingCause::Blocked { within, call: "futex".to_owned() };
        let wrote =
            &BlockingCause::Called { act: "wrote", kind: " a socket", call: "write".to_owned() };
        let told = |all: &[(&BlockingCause, u64)], expected: &[&BlockingCause]| {
            let mut causes = Weights::default();
            for &(cause, ns) in all {
                causes.add(cause.clone(), ns);
            }
            assert_eq!(causes.told(), expected);
        };
        told(&[(locked, 60), (wrote, 40)], &[wrote, locked]);
        told(&[(&BlockingCause::Computed, 30), (locked, 60), (wrote, 40)], &[wrote, locked]);
        told(&[(locked, 90), (wrote, 10)], &[locked]);
        told(&[(locked, 40), (wrote, 60)], &[wrote]);
        told(&[], &[]);
    }

    #[test]
    fn the_heaviest_is_the_first_of_equals() {
        let weighed = |all: &[(&'static str, u64)]| {
            let mut weights = Weights::default();
            all.iter().for_each(|&(thing, ns)| weights.add(thing, ns));
            weights
        };
        assert_eq!(weighed(&[]).heaviest(), None);
        assert_eq!(weighed(&[("a", 1), ("b", 3), ("a", 1), ("c", 3)]).heaviest(), Some(&"b"));
        let names: Vec<_> = (0..100).map(|n| format!("{n}")).collect();
        // The order in which the names are added decides.
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
        let capture = "tokio_statemap::recorder::chains::capture::Captures::capture";
        let capture = || frame(capture, FrameOrigin::Runtime);
        let follows = frame("gimli::read::cfi::UnwindTable::next_row", FrameOrigin::Dependency);
        assert!(is_internal(&sample(vec![follows, capture(), leaf(), own()])));
        assert!(!is_internal(&sample(vec![leaf(), own()])));
        // A function of the program is never the runtime's, whatever polls it.
        assert!(!is_internal(&sample(vec![own(), capture()])));
    }

    /// A sample of a thread that runs in these functions, the innermost first.
    fn sample(frames: Vec<StackFrame>) -> PollSample {
        PollSample {
            thread: 0,
            poll_start_ns: 0,
            at_ns: 0,
            blocked_in: None,
            frames,
            is_complete: true,
        }
    }

    fn at_line(function: &str, line: u32, origin: FrameOrigin) -> StackFrame {
        let file = Some("src/shop.rs".into());
        StackFrame { function: function.into(), file, line: Some(line), origin }
    }

    #[test]
    fn callers_are_the_programs_functions_from_outside() {
        let program = |function, line| at_line(function, line, FrameOrigin::Program);
        let frames = vec![
            at_line("std::thread::sleep", 1, FrameOrigin::Std),
            program("shop::nap", 3),
            program("shop::nap", 9),
            at_line("<T as Iterator>::map", 1, FrameOrigin::Std),
            program("shop::pay", 20),
            program("async shop::order", 30),
            program("async shop::handle", 40),
        ];
        let sample = PollSample {
            thread: 0,
            poll_start_ns: 0,
            at_ns: 0,
            blocked_in: None,
            frames,
            is_complete: true,
        };
        let lines = |blamed: usize| {
            let callers = callers(&sample.frames, &sample.frames[blamed]);
            callers.iter().filter_map(|frame| frame.line).collect::<Vec<_>>()
        };
        assert_eq!(lines(1), [20, 30]);
        assert_eq!(lines(5), [40]);
        assert_eq!(lines(6), [0; 0]);
    }

    #[test]
    fn one_of_many_is_not_dominant() {
        let frame = |function: &str, line| at_line(function, line, FrameOrigin::Program);
        let dominant = |all: &[(&str, u32, u64)], all_ns| {
            let mut weights = Weights::default();
            all.iter().for_each(|&(name, line, ns)| weights.add(frame(name, line), ns));
            weights.dominant(all_ns).and_then(|(frame, is_all)| Some((frame.line?, is_all)))
        };
        assert_eq!(dominant(&[], 0), None);
        assert_eq!(dominant(&[("a", 1, 5)], 5), Some((1, true)));
        // Each of three lines of `a` has less weight than the line of `c`, but not their sum.
        let lines = [("a", 1, 2), ("c", 9, 5), ("a", 2, 3), ("a", 3, 2)];
        assert_eq!(dominant(&lines, 12), Some((2, false)));
        assert_eq!(dominant(&[("a", 1, 2), ("b", 2, 2)], 4), None);
        // It was also called from nowhere.
        assert_eq!(dominant(&[("a", 1, 2)], 4), None);
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
            PollSample { blocked_in: Some("futex".to_owned()), ..sample(frames) }
        };
        let spawner = "tokio::runtime::blocking::pool::Spawner";
        assert!(is_internal(&waits(vec![
            runtime(&format!("{spawner}::spawn_task")),
            runtime(&format!("{spawner}::spawn_blocking_inner<T>")),
            runtime("async tokio::net::lookup_host"),
        ])));
        // The program may hold the value of this channel.
        let sends = runtime("tokio::sync::watch::Sender<T>::send_modify");
        assert!(!is_internal(&waits(vec![sends])));
        let wakes = runtime("tokio::runtime::scheduler::inject::Shared<T>::push");
        let sends = runtime("tokio::sync::watch::Sender<T>::send");
        assert!(is_internal(&waits(vec![wakes, sends])));
        let file = Some("/tokio-1.54.1/src/sync/watch.rs".into());
        assert!(!is_internal(&waits(vec![StackFrame { file, ..runtime("send_modify<…>") }])));
        // The program calls these functions to wait.
        let receives = runtime("tokio::sync::mpsc::Receiver<T>::blocking_recv");
        assert!(!is_internal(&waits(vec![receives])));
        // It frees memory, and another thread has the allocator's lock.
        let named = |function: &str, origin| StackFrame {
            function: function.into(),
            ..at_line("", 1, origin)
        };
        let drops = || named("drop_in_place<alloc::vec::Vec<u8>>", FrameOrigin::Std);
        assert!(is_internal(&waits(vec![named("cfree", FrameOrigin::System), drops()])));
        assert!(!is_internal(&waits(vec![drops()])));
        let computes = PollSample {
            blocked_in: None,
            ..waits(vec![named("malloc", FrameOrigin::System), drops()])
        };
        assert!(!is_internal(&computes));
        // It starts a thread, for which the system maps memory.
        let starts = |blocked_in: Option<&str>| PollSample {
            blocked_in: blocked_in.map(str::to_owned),
            ..waits(vec![runtime(&format!("{spawner}::spawn_thread"))])
        };
        assert!(is_internal(&starts(Some("mmap"))) && !is_internal(&starts(None)));
    }

    #[test]
    fn a_poll_in_block_in_place_has_no_worker() {
        let frame = |function: &str, origin| at_line(function, 1, origin);
        let own = frame("shop::render", FrameOrigin::Program);
        let gives = frame(
            "tokio::runtime::scheduler::multi_thread::worker::block_in_place<F, R>",
            FrameOrigin::Runtime,
        );
        let outer = frame("async shop::handle", FrameOrigin::Program);
        assert!(is_in_place(&sample(vec![own.clone(), gives, outer.clone()])));
        assert!(!is_in_place(&sample(vec![own, outer])));
    }

    /// Comparing each frame with all others would take hours.
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
