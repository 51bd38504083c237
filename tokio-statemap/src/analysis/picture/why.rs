//! The reasons why long polls took long, and who is to blame for them.

use std::cmp::Reverse;
use std::sync::Arc;

use super::once::Once;
use super::threads::within;
use crate::analysis::Report;
use crate::analysis::blame::Blame;
use crate::analysis::culprits::Unattributed;
use crate::analysis::own_time::own_ns;
use crate::analysis::poll::{PollAt, length_ns};
use crate::trace::timeline::{Poll, PollCause, PollKey, PollSample, StackFrame, Timeline};
use crate::util::map::Map;

/// The most polls that are explained: the longest ones.
const MOST_POLLS: usize = 20_000;

/// The most samples of these polls in all. Samples that polls share count for each of them. A recording has at most
/// 4096, but in a file any number of polls may start at the same time on one thread.
const MOST_SAMPLES: usize = 1 << 16;

/// The reasons why the long polls of a section took long, and who is to blame for them. The other fields refer to
/// `polls`, `frames`, `calls` and `words` by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Why {
    /// The polls, the longest first.
    pub(crate) polls: Vec<WhyPoll>,
    /// The culprits, the worst first, as in the report.
    pub(crate) culprits: Vec<WhyCulprit>,
    /// The sums of the polls that are blamed on nobody.
    pub(crate) unattributed: Unattributed,
    /// The polls that the machine, or a lock of the runtime's, made long.
    pub(crate) unattributed_at: Vec<u32>,
    /// The polls in which no function was seen.
    pub(crate) unseen_at: Vec<u32>,
    pub(crate) frames: Vec<StackFrame>,
    /// The stacks of all samples, as a tree.
    pub(crate) calls: Vec<Call>,
    /// The words for what functions did, and the names of system calls.
    pub(crate) words: Vec<String>,
    /// The number of polls that are not explained because there are too many.
    pub(crate) left_out: usize,
}

/// A poll, and what is known of it beyond its states.
#[derive(Clone, Debug)]
pub(crate) struct WhyPoll {
    /// Its row, as an index into the source.
    pub(crate) row: u32,
    /// The start, in ns from the left edge, as in its transition.
    pub(crate) start_ns: u64,
    pub(crate) cause: Option<PollCause>,
    /// The part of the time that it held its worker which isn't its own, in ns.
    pub(crate) lost_ns: u64,
    /// The function to blame, and what it did, as indices of a frame and words.
    pub(crate) blame: Option<[u32; 2]>,
    /// The samples of the thread, in the order of time. Polls that start at the same time on one thread share them.
    pub(crate) samples: Arc<[WhySample]>,
}

/// A sample of a thread during a poll.
#[derive(Clone, Debug)]
pub(crate) struct WhySample {
    /// The time of the sample, in ns since the poll's start.
    pub(crate) after_ns: u64,
    /// The index of the name of the system call that it was blocked in.
    pub(crate) blocked_in: Option<u32>,
    /// The innermost call; `None` if nothing is known of the stack.
    pub(crate) call: Option<u32>,
}

/// A function that was called by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The function; `None` stands for the unknown callers of an incomplete stack.
    pub(crate) frame: Option<u32>,
    /// The call that contains this one; `None` for the outermost.
    pub(crate) within: Option<u32>,
}

/// A culprit of the report.
#[derive(Clone, Debug)]
pub(crate) struct WhyCulprit {
    /// The index among the culprits of the report.
    pub(crate) index: usize,
    pub(crate) frame: Option<u32>,
    /// The index of the words for what it did.
    pub(crate) blocking_cause: Option<u32>,
    /// The place where most of the tasks were spawned.
    pub(crate) place: String,
    /// The number of polls, and the time that they held workers by their own doing, in ns.
    pub(crate) polls: u64,
    pub(crate) own_ns: u64,
    /// The longest of these polls.
    pub(crate) longest: u32,
    /// Its polls that are explained here.
    pub(crate) at: Vec<u32>,
}

impl Why {
    /// `report` is that of `timeline`.
    pub(super) fn from_report(timeline: &Timeline, report: &Report) -> Self {
        let mut polls = explained(timeline);
        let mut room = Room::default();
        let told = polls.iter().position(|&at| !room.has(timeline, at)).unwrap_or(polls.len());
        let left_out = polls.len() - told;
        polls.truncate(told);
        let mut indices: Map<PollAt, u32> = Map::default();
        for &at in &polls {
            indices.insert(at, indices.len() as u32);
        }
        if left_out > 0 {
            // There is as much room again for the culprits' longest polls.
            let mut room = Room::default();
            for culprit in &report.blame.culprits {
                let at = *culprit.longest_at;
                if indices.get(&at).is_some() {
                    continue;
                }
                if !room.has(timeline, at) {
                    break;
                }
                indices.insert(at, polls.len() as u32);
                polls.push(at);
            }
        }
        let refer = |all: &[PollAt]| {
            let mut known = Vec::new();
            for at in all {
                known.extend(indices.get(at));
            }
            known
        };
        let mut tables = Tables::default();
        let mut told = Vec::with_capacity(polls.len());
        for at in polls {
            told.extend(tables.poll(timeline, at));
        }
        let mut culprits = Vec::new();
        for (index, culprit) in report.blame.culprits.iter().enumerate() {
            let frame = culprit.frame.as_ref().map(|frame| tables.frame(frame));
            let blocking_cause = match &*culprit.blocking_cause {
                "" => None,
                cause => Some(tables.words.index(cause.to_owned())),
            };
            let Some(&longest) = indices.get(&*culprit.longest_at) else { continue };
            culprits.push(WhyCulprit {
                index,
                frame,
                blocking_cause,
                place: culprit.place.to_string(),
                polls: culprit.polls,
                own_ns: culprit.own_ns,
                longest,
                at: refer(&culprit.at),
            });
        }
        Self {
            culprits,
            polls: told,
            unattributed: report.blame.unattributed,
            unattributed_at: refer(&report.blame.unattributed_at),
            unseen_at: refer(&report.blame.unseen_at),
            frames: tables.frames.all,
            calls: tables.calls.all,
            words: tables.words.all,
            left_out,
        }
    }

    /// Returns a note if some polls are not explained.
    pub(super) fn note(&self) -> Option<String> {
        let n = self.left_out;
        (n > 0).then(|| format!("Why polls took long is shown of the longest; {n} are left out."))
    }

    /// Returns the longest poll of a culprit.
    pub(crate) fn longest_of(&self, culprit: usize) -> Option<&WhyPoll> {
        self.polls.get(self.culprits.get(culprit)?.longest as usize)
    }

    /// Returns what is known of the poll of a row that starts at `start_ns`.
    pub(crate) fn poll_at(&self, row: u32, start_ns: u64) -> Option<&WhyPoll> {
        self.polls.iter().find(|poll| (poll.row, poll.start_ns) == (row, start_ns))
    }

    /// Returns the part of each poll that isn't its own, by row and start. Polls without such a part are left out.
    pub(crate) fn lost(&self) -> Map<(u32, u64), u64> {
        let mut lost = Map::default();
        for poll in &self.polls {
            if poll.lost_ns > 0 {
                lost.insert((poll.row, poll.start_ns), poll.lost_ns);
            }
        }
        lost
    }

    /// Returns the function to blame for a poll.
    pub(crate) fn blamed(&self, poll: &WhyPoll) -> Option<&StackFrame> {
        self.frames.get(poll.blame?[0] as usize)
    }

    /// Moves all polls to a later time.
    pub(super) fn shift(&mut self, by_ns: u64) {
        for poll in &mut self.polls {
            poll.start_ns = poll.start_ns.saturating_add(by_ns);
        }
    }
}

/// Returns the polls that can be explained: those that held workers for long, and those with a cause or samples. The
/// longest comes first.
fn explained(timeline: &Timeline) -> Vec<PollAt> {
    let long_poll_ns = timeline.settings.long_poll.as_nanos();
    let mut found: Vec<(Reverse<u64>, u64, PollAt)> = Vec::new();
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        for (i, poll) in task.polls.iter().enumerate() {
            let length_ns = length_ns(timeline, poll);
            let is_long = poll.worker().is_some() && u128::from(length_ns) > long_poll_ns;
            if is_long || timeline.cause(poll).is_some() || !timeline.samples(poll).is_empty() {
                found.push((Reverse(length_ns), poll.start_ns(), (index, i)));
            }
        }
    }
    crate::util::sort::sort(&mut found);
    let mut all = Vec::with_capacity(found.len());
    for (.., at) in found {
        all.push(at);
    }
    all
}

/// The numbers of polls and samples that are explained so far.
#[derive(Default)]
struct Room {
    polls: usize,
    samples: usize,
}

impl Room {
    /// Returns whether there is room for one more poll with its samples, and counts it.
    fn has(&mut self, timeline: &Timeline, (index, i): PollAt) -> bool {
        self.polls += 1;
        self.samples += timeline.samples(&timeline.tasks.seen()[index].polls[i]).len();
        self.polls <= MOST_POLLS && self.samples <= MOST_SAMPLES
    }
}

/// The tables that all polls refer to.
#[derive(Default)]
struct Tables {
    frames: Once<StackFrame>,
    calls: Once<Call>,
    words: Once<String>,
    shown: Map<PollKey, Shown>,
}

/// The content of the samples of a poll.
#[derive(Clone)]
struct Shown {
    blame: Option<[u32; 2]>,
    samples: Arc<[WhySample]>,
}

impl Tables {
    fn poll(&mut self, timeline: &Timeline, (index, i): PollAt) -> Option<WhyPoll> {
        let task = &timeline.tasks.seen()[index];
        let poll = &task.polls[i];
        let Shown { blame, samples } = self.shown(timeline, poll);
        Some(WhyPoll {
            row: timeline.tasks.position(task.key)? as u32,
            start_ns: within(timeline, poll.start_ns()),
            cause: timeline.cause(poll),
            lost_ns: length_ns(timeline, poll).saturating_sub(own_ns(timeline, poll)),
            blame,
            samples,
        })
    }

    /// Returns what the samples of a poll show, worked out once for all polls that share them.
    fn shown(&mut self, timeline: &Timeline, poll: &Poll) -> Shown {
        if let Some(shown) = self.shown.get(&poll.key()) {
            return shown.clone();
        }
        let mut blame = None;
        if let Some(of_poll) = Blame::from_samples(timeline, poll) {
            let (frame, cause) = (of_poll.frames.heaviest(), of_poll.causes.heaviest());
            if let (Some(frame), Some(cause)) = (frame, cause) {
                blame = Some([self.frame(frame), self.words.index(cause.to_string())]);
            }
        }
        let mut samples = Vec::new();
        for sample in timeline.samples(poll) {
            samples.push(self.sample(sample, poll.start_ns()));
        }
        let shown = Shown { blame, samples: samples.into() };
        self.shown.insert(poll.key(), shown.clone());
        shown
    }

    fn sample(&mut self, sample: &PollSample, start_ns: u64) -> WhySample {
        let mut call = None;
        if !sample.is_complete {
            call = Some(self.calls.index(Call { frame: None, within: None }));
        }
        for frame in sample.frames.iter().rev() {
            let frame = Some(self.frame(frame));
            call = Some(self.calls.index(Call { frame, within: call }));
        }
        WhySample {
            after_ns: sample.at_ns.saturating_sub(start_ns),
            blocked_in: sample.blocked_in.as_ref().map(|call| self.words.index(call.clone())),
            call,
        }
    }

    fn frame(&mut self, frame: &StackFrame) -> u32 {
        self.frames.index(frame.clone())
    }
}
