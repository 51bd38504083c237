//! Who is to blame for long polls: the function and line that blocked or computed, by the harm done.
//!
//! What the machine took of a poll is nobody's: it is subtracted first. A poll that is not long without it
//! is nobody's either.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use super::blame::{Blame, Function, Weights, blocked_acts};
use super::harm::Delay;
use super::issues::Lengths;
use super::locations::LocationRow;
use super::long_polls::{self, LongPoll, PollAt, Unsaid};
use super::own::Own;
use super::place::Place;
use super::witness::{self, Unwitnessed};
use crate::trace::timeline::{StackFrame, Timeline};

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
    /// How many polls: those in which a sample shows the function. Where no function is known, those of the spawn
    /// location.
    pub polls: u64,
    /// How many polls of tasks that were spawned at the same locations held workers for long by their own doing: these
    /// polls, those in which another function was seen, and those in which none was.
    pub location_polls: u64,
    /// In how many of those no function was seen. What these did isn't known, so they count for nobody.
    pub unseen_polls: u64,
    /// How long these held workers, in ns, without what the machine took.
    pub unseen_ns: u64,
    /// How long the polls held workers, in ns, without what the machine took.
    pub own_ns: u64,
    /// How long each of them did, without what the machine took.
    pub lengths: Lengths,
    /// How others were delayed meanwhile.
    pub delay: Delay,
    /// The longest of the polls, without what the machine took.
    pub longest: LongPoll,
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
    /// In how many more no function was seen, and nobody is accused of them without: they are few, or a function was
    /// seen in others of their spawn location, which proves nothing for these.
    pub unseen_polls: u64,
    /// How long these took without what the machine took, in ns.
    pub unseen_ns: u64,
    /// How many more are not kept in detail, nor is any other of their spawn locations: they are too few to accuse those.
    pub dropped_polls: u64,
    /// How long these held workers, in ns.
    pub dropped_ns: u64,
}

/// The long polls of which nobody is accused: those that the machine made long, and those in which no function was seen.
#[derive(Debug, Default)]
pub(super) struct Nobodys {
    pub(super) excused: Excused,
    pub(super) at: Vec<PollAt>,
    pub(super) unseen_at: Vec<PollAt>,
}

impl Excused {
    fn add_unseen(&mut self, polls: u64, own_ns: u64) {
        self.unseen_polls += polls;
        self.unseen_ns = self.unseen_ns.saturating_add(own_ns);
    }
}

/// Long polls of a spawn location: how long they held workers in the whole run, and those of them that are kept in
/// detail, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InRun {
    pub(super) all_ns: u64,
    pub(super) kept_ns: u64,
}

/// A long poll, and how much of it is its own.
pub(super) struct Held {
    pub(super) at: PollAt,
    from_ns: u64,
    to_ns: u64,
    own_ns: u64,
    delay: Delay,
}

/// The polls of a function, or those of a place in which none was seen.
#[derive(Default)]
struct Group {
    polls: Vec<Held>,
    own_ns: u64,
    frames: Weights<StackFrame>,
    acts: Weights<String>,
    /// How long its polls held workers, by place.
    places: Weights<Place>,
}

/// All culprits of the polls, those that did harm first, and of these the worst of the whole run; others were delayed by
/// these polls as `delays` say, and `rows` are of all locations. The polls that are nobody's go to `nobodys`.
pub(super) fn culprits(
    timeline: &Timeline,
    held: Vec<Held>,
    delays: &[Delay],
    rows: &[LocationRow],
    nobodys: &mut Nobodys,
) -> Vec<Culprit> {
    let mut functions: HashMap<Function, Group> = HashMap::new();
    let mut unseen: BTreeMap<Place, Group> = BTreeMap::new();
    let mut at_places: HashMap<Place, u64> = HashMap::new();
    for (mut poll, &delay) in held.into_iter().zip(delays) {
        poll.delay = delay.part(poll.own_ns, poll.to_ns - poll.from_ns);
        let task = &timeline.tasks.seen()[poll.at.0];
        let place = Place::of(task);
        *at_places.entry(place).or_default() += 1;
        let of_task = &task.polls[poll.at.1];
        match Blame::of(timeline, of_task) {
            Some(blame) => {
                functions.entry(blame.function.clone()).or_default().add_seen(place, poll, blame);
            }
            None => {
                let group = unseen.entry(place).or_default();
                group.add(place, poll);
                group.acts.add_all(blocked_acts(timeline, of_task));
            }
        }
    }
    let rows: HashMap<Place, &LocationRow> = rows.iter().map(|row| (row.place, row)).collect();
    let mut found: Vec<(Culprit, Vec<Place>)> =
        functions.into_values().filter_map(|group| group.finish(timeline, &rows)).collect();
    // The places of which functions were seen, and whether one of these did harm.
    let mut seen: HashMap<Place, bool> = HashMap::new();
    for (culprit, places) in &found {
        let did_harm = culprit.did_harm(timeline.long_poll);
        places.iter().for_each(|place| *seen.entry(*place).or_default() |= did_harm);
    }
    let mut unknown: HashMap<Place, (u64, u64)> = HashMap::new();
    for (place, group) in unseen {
        let Some((culprit, places)) = group.finish(timeline, &rows) else { continue };
        // That others did something proves nothing for these. Only where they are too many and too long for what was seen
        // to be all, the place is told.
        let is_told = seen.get(&place).is_none_or(|did_harm| {
            let polls = rows.get(&place).map_or(0, |row| row.polls);
            !did_harm
                && culprit.did_harm(timeline.long_poll)
                && witness::is_regular(culprit.polls, polls)
        });
        if is_told {
            found.push((culprit, places));
        } else {
            unknown.insert(place, (culprit.polls, culprit.own_ns));
            culprit.at.iter().for_each(|&at| nobodys.unseen_at.push(at));
            nobodys.excused.add_unseen(culprit.polls, culprit.own_ns);
        }
    }
    let culprits = found.into_iter().map(|(mut culprit, places)| {
        for place in places {
            culprit.location_polls += at_places.get(&place).copied().unwrap_or_default();
            let (polls, ns) = unknown.get(&place).copied().unwrap_or_default();
            culprit.unseen_polls += polls;
            culprit.unseen_ns = culprit.unseen_ns.saturating_add(ns);
        }
        culprit
    });
    let mut culprits: Vec<Culprit> = culprits.collect();
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
pub(super) fn held(timeline: &Timeline) -> (Vec<Held>, Nobodys) {
    let limit = timeline.long_poll;
    let is_long = |ns: u64| u128::from(ns) > limit.as_nanos();
    let mut nobodys = Nobodys::default();
    let Nobodys { excused, at, unseen_at } = &mut nobodys;
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
                at.push((index, i));
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
            excused.add_unseen(1, poll.own_ns);
            unseen_at.push(poll.at);
        }
        !is_excused
    });
    (held, nobodys)
}

impl Held {
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
        self.frames.add_all(blame.frames);
        self.acts.add_all(blame.acts);
    }

    /// The culprit, and all places of its tasks.
    fn finish(
        self,
        timeline: &Timeline,
        rows: &HashMap<Place, &LocationRow>,
    ) -> Option<(Culprit, Vec<Place>)> {
        let mut delay = Delay::default();
        self.polls.iter().for_each(|poll| delay.add(poll.delay));
        // Of equals the earliest.
        let longest =
            self.polls.iter().min_by_key(|poll| (Reverse(poll.own_ns), poll.from_ns, poll.at))?;
        let place = *self.places.heaviest()?;
        let in_run = rows
            .get(&place)
            .map(|row| InRun { all_ns: row.long_polls_ns, kept_ns: row.kept_long_polls_ns });
        let culprit = Culprit {
            frame: self.frames.heaviest().cloned(),
            act: self.acts.heaviest().cloned().unwrap_or_default(),
            place,
            in_run: in_run.unwrap_or_default(),
            other_places: self.places.len() - 1,
            polls: self.polls.len() as u64,
            location_polls: 0,
            unseen_polls: 0,
            unseen_ns: 0,
            own_ns: self.own_ns,
            lengths: Lengths::of(self.polls.iter().map(|poll| poll.own_ns).collect()),
            delay,
            longest: long_polls::describe(timeline, longest.at, longest.delay),
            at: Unsaid(self.polls.iter().map(|poll| poll.at).collect()),
            longest_at: Unsaid(longest.at),
        };
        Some((culprit, self.places.things().copied().collect()))
    }
}

impl Culprit {
    /// Whether it did real harm: others were delayed by ten times `long_poll` or more in sum, in the whole run as far as
    /// that can be told from what is kept in detail, or one of its polls took a hundred times that.
    pub fn did_harm(&self, long_poll: Duration) -> bool {
        let is_known = self.delay.waited_ns.is_some();
        let delay_ns = if is_known { self.delay.total_ns() } else { self.own_ns };
        is_harm(self.in_run.scale(delay_ns), self.longest.own_ns, long_poll)
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
