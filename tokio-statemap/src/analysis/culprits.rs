//! Who is to blame for long polls: the function and line that blocked or computed, by the harm done.
//!
//! What the machine took of a poll is nobody's: it is subtracted first. A poll that is not long without it
//! is nobody's either.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::blame::{Blame, Function, Weights, blocked_acts, in_runtime_ns};
use super::harm::Delay;
use super::issues::Lengths;
use super::locations::LocationRow;
use super::long_polls::{self, LongPoll, PollAt, Unsaid};
use super::place::Place;
use super::witness::Unwitnessed;
use crate::trace::timeline::{Poll, StackFrame, Timeline};

/// A function and line that held workers in long polls; where no stack is known, tasks of a spawn location. What is said
/// of its polls is of those that are kept in detail.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Culprit {
    /// The function to blame: the program's own innermost one, or that of a dependency where it has
    /// none on the stack. `None` if no such stack is known.
    pub frame: Option<StackFrame>,
    /// What it did, in words behind its name: `computed`, `blocked in std::thread::sleep
    /// (clock_nanosleep)`. Empty if that isn't known.
    pub act: String,
    /// Where most of the tasks were spawned, by the time that they held workers.
    pub place: Place,
    /// How many other spawn locations have such polls.
    pub other_places: usize,
    /// How many polls.
    pub polls: u64,
    /// In how many of these a sample shows the function. The others have none, and are of tasks that were
    /// spawned at the same line as those that have.
    pub sampled_polls: u64,
    /// How long the polls held workers, in ns, without what the machine took.
    pub own_ns: u64,
    /// How long each of them did, without what the machine took.
    pub lengths: Lengths,
    /// How others were delayed meanwhile.
    pub delay: Delay,
    /// The longest of the polls, without what the machine took.
    pub longest: LongPoll,
    /// How long that one held its worker without what the machine took, in ns.
    pub longest_own_ns: u64,
    /// How long polls of its spawn location held workers in the whole run, and in what is kept in detail: its harm in the
    /// whole run is taken to be so many times that in detail.
    pub(crate) in_run: InRun,
    /// The polls, by their tasks.
    pub(crate) at: Unsaid<Vec<PollAt>>,
    /// The longest of them.
    pub(crate) longest_at: Unsaid<PollAt>,
}

/// Long polls of which nobody is accused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excused {
    /// How many are long only by what the machine took, or by waits for locks of the runtime's own, of
    /// which the holder had no processor.
    pub polls: u64,
    /// How long the processor was taken away in them, in ns.
    pub taken_ns: u64,
    /// How long they waited for locks of the runtime's own, in ns.
    pub waited_ns: u64,
    /// How many more were never seen to do anything, though stacks were sampled, and nor was any other of
    /// their spawn location: they are too few to be seen, or the machine stood still for a reason
    /// that it doesn't count.
    pub unseen_polls: u64,
    /// How long these took without what the machine took, in ns.
    pub unseen_ns: u64,
    /// How many more are not kept in detail, nor is any other of their spawn locations: they are too few to accuse those.
    pub dropped_polls: u64,
    /// How long these held workers, in ns.
    pub dropped_ns: u64,
}

/// Long polls of a spawn location: how long they held workers in the whole run, and those of them that are kept in
/// detail, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InRun {
    pub(super) all_ns: u64,
    pub(super) kept_ns: u64,
}

/// Which part of a poll's length the measure of what the machine took may be wrong by.
const SLACK_PART: u64 = 20;

/// What became of the time for which a poll held its worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    length_ns: u64,
    /// How long the machine took the processor.
    taken_ns: u64,
    /// How long it waited for locks of the runtime's own.
    waited_ns: u64,
}

impl Own {
    pub(super) fn of(timeline: &Timeline, poll: &Poll) -> Self {
        let length_ns = long_polls::length_ns(timeline, poll);
        let end_ns = poll.start_ns().saturating_add(length_ns);
        let taken_ns = timeline.cause(poll).map_or(0, |cause| cause.taken_ns()).min(length_ns);
        let waited_ns = in_runtime_ns(timeline, poll, end_ns).min(length_ns - taken_ns);
        Self { length_ns, taken_ns, waited_ns }
    }

    /// How long it took by its own doing.
    pub(super) fn own_ns(self) -> u64 {
        self.length_ns - self.taken_ns - self.waited_ns
    }

    /// Whether that is certainly longer than `limit`.
    pub(super) fn is_over(self, limit: Duration) -> bool {
        // What was taken is measured near a poll's edges, not at them.
        let slack_ns = if self.taken_ns > 0 { self.length_ns / SLACK_PART } else { 0 };
        u128::from(self.own_ns().saturating_sub(slack_ns)) > limit.as_nanos()
    }
}

/// A long poll, and how much of it is its own.
pub(super) struct Held {
    pub(super) at: PollAt,
    from_ns: u64,
    to_ns: u64,
    own_ns: u64,
    delay: Delay,
}

/// Who or what a poll is blamed on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Function(Function),
    Place(Place),
}

/// The polls of one key.
#[derive(Default)]
struct Group {
    polls: Vec<Held>,
    sampled_polls: u64,
    own_ns: u64,
    frames: Weights<StackFrame>,
    acts: Weights<String>,
    /// How long its polls held workers, by place.
    places: Weights<Place>,
}

/// All culprits of the polls, those that did harm first, and of these the worst of the whole run; others were delayed by these polls as `delays` say, and
/// `rows` are of all locations.
pub(super) fn culprits(
    timeline: &Timeline,
    held: Vec<Held>,
    delays: &[Delay],
    rows: &[LocationRow],
) -> Vec<Culprit> {
    let mut groups: HashMap<Key, Group> = HashMap::new();
    // Those of which nothing was seen, by place.
    let mut unseen: BTreeMap<Place, Vec<Held>> = BTreeMap::new();
    // The function that was seen in polls of each place; `None` where it was more than one.
    let mut seen: HashMap<Place, Option<Key>> = HashMap::new();
    for (mut poll, &delay) in held.into_iter().zip(delays) {
        poll.delay = delay.part(poll.own_ns, poll.to_ns - poll.from_ns);
        let task = &timeline.tasks.seen()[poll.at.0];
        let place = Place::of(task);
        let Some(blame) = Blame::of(timeline, &task.polls[poll.at.1]) else {
            unseen.entry(place).or_default().push(poll);
            continue;
        };
        let key = Key::Function(blame.function.clone());
        let only = seen.entry(place).or_insert_with(|| Some(key.clone()));
        only.take_if(|only| *only != key);
        groups.entry(key).or_default().add_seen(place, poll, blame);
    }
    for (place, polls) in unseen {
        for poll in polls {
            // What the others of this line do, these do, too, if they all do the same.
            let key = match seen.get(&place) {
                Some(Some(only)) => only.clone(),
                _ => Key::Place(place),
            };
            let acts = match key {
                Key::Place(_) => {
                    let (task, poll) = poll.at;
                    blocked_acts(timeline, &timeline.tasks.seen()[task].polls[poll])
                }
                Key::Function(_) => Weights::default(),
            };
            let group = groups.entry(key).or_default();
            group.add(place, poll);
            group.acts.add_all(acts);
        }
    }
    let in_run: HashMap<Place, InRun> = rows
        .iter()
        .map(|row| {
            let of = InRun { all_ns: row.long_polls_ns, kept_ns: row.kept_long_polls_ns };
            (row.place, of)
        })
        .collect();
    let mut culprits: Vec<Culprit> =
        groups.into_values().filter_map(|group| group.finish(timeline, &in_run)).collect();
    culprits.sort_by(|a, b| {
        let in_run = |c: &Culprit, ns| Reverse(c.in_run.scale(ns));
        let harmless = |c: &Culprit| !c.did_harm(timeline.long_poll);
        let rank = |c: &Culprit| {
            (harmless(c), in_run(c, c.delay.total_ns()), in_run(c, c.own_ns), c.place)
        };
        let name =
            |c: &Culprit| c.frame.as_ref().map(|f| (f.function.clone(), f.file.clone(), f.line));
        // Of equals the first by name, not the first that happened to be hashed.
        rank(a).cmp(&rank(b)).then_with(|| name(a).cmp(&name(b)))
    });
    culprits
}

/// The polls that held a worker over `long_poll` by their own doing, and those that did not.
pub(super) fn held(timeline: &Timeline) -> (Vec<Held>, Excused, Unsaid<Vec<PollAt>>) {
    let limit = timeline.long_poll;
    let is_long = |ns: u64| u128::from(ns) > limit.as_nanos();
    let (mut excused, mut excused_at) = (Excused::default(), Vec::new());
    let mut held = Vec::new();
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        for (i, poll) in task.polls.iter().enumerate().filter(|(_, poll)| poll.worker().is_some()) {
            let length_ns = timeline.held_ns(poll);
            if !is_long(length_ns) {
                continue;
            }
            let from_ns = poll.start_ns();
            let to_ns = from_ns.saturating_add(length_ns);
            let own = Own::of(timeline, poll);
            if !own.is_over(limit) {
                let Own { taken_ns, waited_ns, .. } = own;
                excused.polls += 1;
                excused.taken_ns = excused.taken_ns.saturating_add(taken_ns);
                excused.waited_ns = excused.waited_ns.saturating_add(waited_ns);
                excused_at.push((index, i));
                continue;
            }
            let own_ns = own.own_ns();
            held.push(Held { at: (index, i), from_ns, to_ns, own_ns, delay: Delay::default() });
        }
    }
    let unwitnessed = Unwitnessed::of(timeline, held.iter().map(|poll| poll.at));
    held.retain(|poll| {
        let task = &timeline.tasks.seen()[poll.at.0];
        let is_excused = unwitnessed.has(Place::of(task), &task.polls[poll.at.1]);
        if is_excused {
            excused.unseen_polls += 1;
            excused.unseen_ns = excused.unseen_ns.saturating_add(poll.own_ns);
            excused_at.push(poll.at);
        }
        !is_excused
    });
    (held, excused, Unsaid(excused_at))
}

impl Held {
    /// Its length, or what is its own of it where the machine took more than a tenth.
    fn rank_ns(&self) -> u64 {
        let length_ns = self.to_ns - self.from_ns;
        if length_ns - self.own_ns > length_ns / 10 { self.own_ns } else { length_ns }
    }

    /// From when to when it held its worker, in ns.
    pub(super) fn time(&self) -> (u64, u64) {
        (self.from_ns, self.to_ns)
    }
}

impl Group {
    fn add(&mut self, place: Place, poll: Held) {
        self.own_ns = self.own_ns.saturating_add(poll.own_ns);
        self.places.add(place, poll.own_ns);
        self.polls.push(poll);
    }

    fn add_seen(&mut self, place: Place, poll: Held, blame: Blame) {
        self.add(place, poll);
        self.sampled_polls += 1;
        self.frames.add_all(blame.frames);
        self.acts.add_all(blame.acts);
    }

    fn finish(self, timeline: &Timeline, in_run: &HashMap<Place, InRun>) -> Option<Culprit> {
        let mut delay = Delay::default();
        self.polls.iter().for_each(|poll| delay.add(poll.delay));
        // Of equals the earliest.
        let longest = self
            .polls
            .iter()
            .min_by_key(|poll| (Reverse(poll.rank_ns()), poll.from_ns, poll.at))?;
        let place = *self.places.heaviest()?;
        Some(Culprit {
            frame: self.frames.heaviest().cloned(),
            act: self.acts.heaviest().cloned().unwrap_or_default(),
            place,
            in_run: in_run.get(&place).copied().unwrap_or_default(),
            other_places: self.places.len() - 1,
            polls: self.polls.len() as u64,
            sampled_polls: self.sampled_polls,
            own_ns: self.own_ns,
            lengths: Lengths::of(self.polls.iter().map(|poll| poll.own_ns).collect()),
            delay,
            longest: long_polls::describe(timeline, longest.at, longest.delay),
            longest_own_ns: longest.own_ns,
            at: Unsaid(self.polls.iter().map(|poll| poll.at).collect()),
            longest_at: Unsaid(longest.at),
        })
    }
}

impl Culprit {
    /// Whether it did real harm: others were delayed by ten times `long_poll` or more in sum, in the whole run as far as
    /// that can be told from what is kept in detail, or one of its polls took a hundred times that.
    pub fn did_harm(&self, long_poll: Duration) -> bool {
        let is_known = self.delay.waited_ns.is_some();
        let delay_ns = if is_known { self.delay.total_ns() } else { self.own_ns };
        is_harm(self.in_run.scale(delay_ns), self.longest_own_ns, long_poll)
    }

    /// The harm that it did in the whole run, in ns, where that of others is known by the time that they held workers alone.
    pub(super) fn harm_ns(&self) -> u128 {
        self.in_run.scale(self.delay.total_ns().max(self.own_ns))
    }
}

/// Whether so much delay of others in sum is harm, or else the longest poll.
pub(super) fn is_harm(delay_ns: u128, longest_ns: u64, long_poll: Duration) -> bool {
    let long_poll_ns = long_poll.as_nanos();
    delay_ns >= long_poll_ns.saturating_mul(10)
        || u128::from(longest_ns) >= long_poll_ns.saturating_mul(100)
}

impl InRun {
    /// What is `ns` in detail, in the whole run.
    fn scale(self, ns: u64) -> u128 {
        let ns = u128::from(ns);
        match self.kept_ns {
            0 => ns,
            kept_ns => (ns * u128::from(self.all_ns) / u128::from(kept_ns)).max(ns),
        }
    }
}
