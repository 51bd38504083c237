//! Why long polls took long, and who is to blame for them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::once::Once;
use super::threads::within;
use crate::analysis::Report;
use crate::analysis::blame::Blame;
use crate::analysis::culprits::Excused;
use crate::analysis::long_polls::{PollAt, length_ns};
use crate::analysis::own::own_ns;
use crate::trace::timeline::{Poll, PollCause, PollKey, PollSample, StackFrame, Timeline};

/// Of how many polls it is told why they took long: of the longest.
const MOST_POLLS: usize = 20_000;

/// How many samples are told of them in all, those that polls share for each. A recording has 4096; of a file,
/// any number of polls may start at the same time on one thread.
const MOST_SAMPLES: usize = 1 << 16;

/// Why the long polls of a section took long, and who is to blame for them. All else refers to `polls`,
/// `frames`, `calls` and `words` by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Why {
    /// The longest first.
    pub(crate) polls: Vec<WhyPoll>,
    /// The worst first, as in the report.
    pub(crate) culprits: Vec<WhyCulprit>,
    /// The polls of which nobody is accused, in sum.
    pub(crate) excused: Excused,
    /// Those of them that the machine made long.
    pub(crate) excused_at: Vec<u32>,
    /// Those of them in which no function was seen.
    pub(crate) unseen_at: Vec<u32>,
    pub(crate) frames: Vec<StackFrame>,
    /// The stacks of all samples, as a tree.
    pub(crate) calls: Vec<Call>,
    /// What functions did, and system calls.
    pub(crate) words: Vec<String>,
    /// How many polls it is not told of, as there are too many.
    pub(crate) left_out: usize,
}

/// A poll, and what is known of it beyond its states.
#[derive(Clone, Debug)]
pub(crate) struct WhyPoll {
    /// Its row, as an index into the source.
    pub(crate) row: u32,
    /// When it starts, in ns from the left edge, as its transition does.
    pub(crate) start_ns: u64,
    pub(crate) cause: Option<PollCause>,
    /// How much of the time for which it held its worker isn't its own, in ns.
    pub(crate) lost_ns: u64,
    /// The function to blame, and what it did: a frame and words.
    pub(crate) blame: Option<[u32; 2]>,
    /// What the thread was doing, by time. Polls that start at the same time on one thread share it.
    pub(crate) samples: Arc<[WhySample]>,
}

/// What a thread was doing at a moment of a poll.
#[derive(Clone, Debug)]
pub(crate) struct WhySample {
    /// When, in ns since the poll's start.
    pub(crate) after_ns: u64,
    /// The system call that it was blocked in: words.
    pub(crate) blocked_in: Option<u32>,
    /// The innermost call; `None` if nothing is known of the stack.
    pub(crate) call: Option<u32>,
}

/// A function that was called by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The function; `None` where it isn't known what called.
    pub(crate) frame: Option<u32>,
    /// The call that it is within; `None` if it is the task's own function.
    pub(crate) within: Option<u32>,
}

/// Who is to blame for long polls, as the report has it.
#[derive(Clone, Debug)]
pub(crate) struct WhyCulprit {
    /// Which of the report's it is.
    pub(crate) index: usize,
    pub(crate) frame: Option<u32>,
    /// What it did: words.
    pub(crate) act: Option<u32>,
    /// Where most of the tasks were spawned.
    pub(crate) place: String,
    /// How many polls, and how long they held workers by their own doing.
    pub(crate) polls: u64,
    pub(crate) own_ns: u64,
    /// The longest of them.
    pub(crate) longest: u32,
    /// Those that are among the polls here.
    pub(crate) at: Vec<u32>,
}

impl Why {
    /// What `report` knows of `timeline`.
    pub(super) fn of(timeline: &Timeline, report: &Report) -> Self {
        let mut polls = explained(timeline);
        let mut room = Room::default();
        let told = polls.iter().take_while(|&&at| room.has(timeline, at)).count();
        let left_out = polls.len() - told;
        polls.truncate(told);
        if left_out > 0 {
            let listed: HashSet<PollAt> = polls.iter().copied().collect();
            let longest = report.culprits.iter().map(|culprit| *culprit.longest_at);
            // There is as much room for these again.
            let mut room = Room::default();
            let unlisted = longest.filter(|at| !listed.contains(at));
            polls.extend(unlisted.take_while(|&at| room.has(timeline, at)));
        }
        let indices: HashMap<PollAt, u32> = polls.iter().copied().zip(0..).collect();
        let refer = |all: &[PollAt]| all.iter().filter_map(|at| indices.get(at).copied()).collect();
        let mut tables = Tables::default();
        let polls = polls.iter().filter_map(|&at| tables.poll(timeline, at)).collect();
        let culprits = report.culprits.iter().enumerate().filter_map(|(index, culprit)| {
            Some(WhyCulprit {
                index,
                frame: culprit.frame.as_ref().map(|frame| tables.frame(frame)),
                act: (!culprit.act.is_empty()).then(|| tables.words.index(culprit.act.clone())),
                place: culprit.place.to_string(),
                polls: culprit.polls,
                own_ns: culprit.own_ns,
                longest: *indices.get(&*culprit.longest_at)?,
                at: refer(&culprit.at),
            })
        });
        Self {
            culprits: culprits.collect(),
            polls,
            excused: report.excused,
            excused_at: refer(&report.excused_at),
            unseen_at: refer(&report.unseen_at),
            frames: tables.frames.all,
            calls: tables.calls.all,
            words: tables.words.all,
            left_out,
        }
    }

    /// What is said where not all of it is told.
    pub(super) fn note(&self) -> Option<String> {
        let n = self.left_out;
        (n > 0).then(|| format!("Why polls took long is told of the longest; {n} are left out."))
    }

    /// The longest poll of a culprit.
    pub(crate) fn longest_of(&self, culprit: usize) -> Option<&WhyPoll> {
        self.polls.get(self.culprits.get(culprit)?.longest as usize)
    }

    /// What is known of the poll of a row that starts then.
    pub(crate) fn poll_at(&self, row: u32, start_ns: u64) -> Option<&WhyPoll> {
        self.polls.iter().find(|poll| (poll.row, poll.start_ns) == (row, start_ns))
    }

    /// How much of each poll isn't its own, by row and start: those of which that is anything.
    pub(crate) fn lost(&self) -> HashMap<(u32, u64), u64> {
        let lost = self.polls.iter().filter(|poll| poll.lost_ns > 0);
        lost.map(|poll| ((poll.row, poll.start_ns), poll.lost_ns)).collect()
    }

    /// The function to blame for a poll.
    pub(crate) fn blamed(&self, poll: &WhyPoll) -> Option<&StackFrame> {
        self.frames.get(poll.blame?[0] as usize)
    }

    /// The same at a later time.
    #[cfg(feature = "read")]
    pub(super) fn shift(&mut self, by_ns: u64) {
        for poll in &mut self.polls {
            poll.start_ns = poll.start_ns.saturating_add(by_ns);
        }
    }
}

/// The polls of which there is something to tell: those that held workers for long, and those that have a
/// cause or samples. The longest first.
fn explained(timeline: &Timeline) -> Vec<PollAt> {
    let long_poll_ns = timeline.long_poll.as_nanos();
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
    found.sort_unstable();
    found.into_iter().map(|(.., at)| at).collect()
}

/// How many polls and samples were told of.
#[derive(Default)]
struct Room {
    polls: usize,
    samples: usize,
}

impl Room {
    /// Whether there is room for one more poll, with its samples.
    fn has(&mut self, timeline: &Timeline, (index, i): PollAt) -> bool {
        self.polls += 1;
        self.samples += timeline.samples(&timeline.tasks.seen()[index].polls[i]).len();
        self.polls <= MOST_POLLS && self.samples <= MOST_SAMPLES
    }
}

/// What all polls refer to.
#[derive(Default)]
struct Tables {
    frames: Once<StackFrame>,
    calls: Once<Call>,
    words: Once<String>,
    shown: HashMap<PollKey, Shown>,
}

/// What the samples of a poll show.
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

    /// What the samples of a poll show: found out once for all that share them.
    fn shown(&mut self, timeline: &Timeline, poll: &Poll) -> Shown {
        if let Some(shown) = self.shown.get(&poll.key()) {
            return shown.clone();
        }
        let blame = Blame::of(timeline, poll).and_then(|blame| {
            let frame = self.frame(blame.frames.heaviest()?);
            Some([frame, self.words.index(blame.acts.heaviest()?.clone())])
        });
        let samples = timeline.samples(poll).iter();
        let samples = samples.map(|sample| self.sample(sample, poll.start_ns())).collect();
        let shown = Shown { blame, samples };
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
