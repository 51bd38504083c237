//! The places that time is attributed to, by number.

use crate::trace::event::SpawnLocation;
use crate::trace::requests::PartState;
use crate::trace::timeline::{Poll, StackFrame, Task, Timeline, WaitLine};
use crate::trace::wait_id::WaitId;
use crate::util::map::Map;
use crate::util::source_path::shown;

/// The places, each as text and by number.
#[derive(Default)]
pub(super) struct Places {
    numbers: Map<String, usize>,
    waits: Map<u16, Option<usize>>,
}

/// A stretch of a long poll in which its thread was in one place, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) place: usize,
}

impl Places {
    fn number(&mut self, place: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.get_or_insert_with(place, || next)
    }

    /// Returns the texts by number.
    pub(super) fn texts(&self) -> Vec<&str> {
        self.numbers.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Returns the line at which a task waits, if it is known.
    pub(super) fn of_wait(&mut self, timeline: &Timeline, wait: WaitId) -> Option<usize> {
        if let Some(&known) = self.waits.get(&wait.number()) {
            return known;
        }
        let lines = timeline.wait(wait).map(|wait| wait.lines()).unwrap_or_default();
        let number = lines.first().map(|first| {
            let more = match lines.len() - 1 {
                0 => String::new(),
                1 => " (and one other place)".to_owned(),
                more => format!(" (and {more} other places)"),
            };
            let at = shown_frame(first.at, first.at.line);
            self.number(format!("{}{more}", WaitLine { at: &at, ..*first }))
        });
        self.waits.insert(wait.number(), number);
        number
    }

    /// Adds the stretches of a long poll of `task`. A sample stands for the time since the one before, and the last one
    /// also for the time up to the poll's end. A poll without samples of the program's functions is known by its task's
    /// spawn location, if `by_task` is set.
    pub(super) fn stretches(
        &mut self,
        timeline: &Timeline,
        task: &Task,
        poll: &Poll,
        by_task: bool,
        stretches: &mut Vec<Stretch>,
    ) {
        let end_ns = poll.start_ns().saturating_add(timeline.held_ns(poll));
        let mut from_ns = poll.start_ns();
        let mut last = None;
        for sample in timeline.samples(poll) {
            let to_ns = sample.at_ns.clamp(from_ns, end_ns);
            if let Some(frame) = sample.blamed() {
                let place = self.number(named(frame, sample.blocked_in.is_some()));
                stretches.push(Stretch { from_ns, to_ns, place });
                last = Some(place);
            } else {
                last = None;
            }
            from_ns = to_ns;
        }
        if last.is_none() && by_task && from_ns == poll.start_ns() {
            last = task.location.map(|location| {
                let SpawnLocation { file, line, column } = location;
                self.number(format!("a task spawned at {}:{line}:{column}", shown(file)))
            });
        }
        if let Some(place) = last {
            stretches.push(Stretch { from_ns, to_ns: end_ns, place });
        }
    }
}

/// Returns the function and its file. Where it computes, each sample shows another line.
fn named(frame: &StackFrame, is_blocked: bool) -> String {
    shown_frame(frame, frame.line.filter(|_| is_blocked)).to_string()
}

/// Returns the function with its file as outputs show it: from its package on.
fn shown_frame(frame: &StackFrame, line: Option<u32>) -> StackFrame {
    let file = frame.file.as_ref().map(|file| shown(file).into());
    StackFrame { file, line, ..frame.clone() }
}

/// Sums of time by state and place.
#[derive(Default)]
pub(super) struct Sums(Map<(PartState, usize), u64>);

impl Sums {
    pub(super) fn add(&mut self, state: PartState, place: usize, ns: u64) {
        *self.0.get_or_default((state, place)) += ns;
    }

    pub(super) fn add_all(&mut self, others: &Self) {
        for (&(state, place), &ns) in others.0.iter() {
            self.add(state, place, ns);
        }
    }

    /// Returns the longest, by state, number of the place, and length.
    pub(super) fn longest(self, most: usize) -> Vec<(PartState, usize, u64)> {
        let mut all: Vec<_> = self.0.into_iter().map(|((s, place), ns)| (s, place, ns)).collect();
        crate::util::sort::by_key(&mut all, |&(state, place, ns)| (u64::MAX - ns, state, place));
        all.truncate(most);
        all
    }
}
