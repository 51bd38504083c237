//! Finds who is to blame for long polls: the function and line that blocked or computed, ranked by the harm done.
//!
//! The time that the machine took of a poll is subtracted first. A poll that isn't long without this time is blamed on
//! nobody.

use std::cmp::Reverse;
use std::time::Duration;

use super::behind_lock::BehindLock;
use super::beside::SeenBeside;
use super::blame::{Blame, Callers, Function, Weights, causes_without_function, dominant_callers};
use super::blocking_cause::BlockingCause;
use super::delay::{Delay, is_harm};
use super::lengths::Lengths;
use super::let_go::LetGo;
use super::locations::LocationRow;
use super::long_polls::{self, LongPoll, NotCompared};
use super::own_time::OwnTime;
use super::place::Place;
use super::poll::PollAt;
use super::resumed::last_waited_in;
use super::sampled::{self, Unsampled};
use super::spelling::Spelling;
use super::waits::place_label;
use crate::trace::timeline::{StackFrame, Timeline};
use crate::util::map::Map;

/// A function and line that held workers in long polls; where no stack is known, the tasks of a spawn location. The
/// figures of its polls cover only those that are kept in detail.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Culprit {
    /// The function to blame: the program's own innermost one, or that of a dependency where none of the program's is
    /// on the stack. `None` if no such stack is known.
    pub frame: Option<StackFrame>,
    /// The program's functions that called it for more than half of the time, the innermost first, each at the line at
    /// which it was seen longest: up to two. Empty if there are none, or no stack is known.
    pub callers: Vec<StackFrame>,
    /// `true` if no other function was ever seen to call it.
    pub are_all_callers: bool,
    /// The words for what the function did, which follow its name: `computed`, `blocked in std::thread::sleep
    /// (clock_nanosleep)`. Empty if that isn't known.
    pub blocking_cause: String,
    /// The function that another thread was in while the polls waited for a lock, which it may hold. `None` if they waited
    /// for no lock or other thread, or if no function was seen in most of them.
    pub beside: Option<SeenBeside>,
    /// The line at which tasks may have awaited something while they held the lock. `None` if the polls waited for no
    /// lock, if another thread may hold it, if nothing points to such a task, or if 16 culprits are worse.
    pub let_go: Option<LetGo>,
    /// The program's functions in which the tasks of most of the polls had waited before, the innermost first, up to two.
    /// Empty if that isn't known, or if an async function of the program is seen in the polls themselves.
    pub waited_in: Vec<StackFrame>,
    /// The place where most of the tasks were spawned, by the time that they held workers.
    pub place: Place,
    /// The number of other spawn locations with such polls.
    pub other_places: usize,
    /// The number of polls in which a sample shows the function. Where no function is known, the number of polls of the
    /// spawn location.
    pub polls: u64,
    /// The number of polls of tasks of the same spawn locations that held workers for long by their own doing: these
    /// polls, those in which another function was seen, and those in which none was.
    pub location_polls: u64,
    /// The number of polls among these in which no function was seen. What they did isn't known, so they are blamed on
    /// nobody.
    pub unseen_polls: u64,
    /// The time that these unseen polls held workers, in ns, without the time that the machine took.
    pub unseen_ns: u64,
    /// The time that the polls of the culprit held workers, in ns, without the time that the machine took.
    pub own_ns: u64,
    /// The lengths of the polls, without the time that the machine took.
    pub lengths: Lengths,
    /// The delay of other tasks during the polls.
    pub delay: Delay,
    /// The line at which these waited longest for a lock that the polls gave back: see [`Delay::locked_ns`]. `None` if none did.
    pub locked_at: Option<String>,
    /// The longest of the polls, without the time that the machine took.
    pub longest: LongPoll,
    /// The thing that usually helps; `None` if it isn't known what they did.
    pub(super) advice: Option<&'static str>,
    /// `true` if the polls waited for a lock, and did nothing else in which one of them may have held it.
    pub(super) is_for_a_lock: bool,
    /// The time that polls of its spawn location held workers, in the whole run and in what is kept: see
    /// [`InRun::scale`].
    pub(crate) in_run: InRun,
    /// The polls, by their tasks.
    pub(crate) at: NotCompared<Vec<PollAt>>,
    /// The longest of them.
    pub(crate) longest_at: NotCompared<PollAt>,
}

/// The functions and spawn locations to blame for the polls that held a worker over `long_poll`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LongPollBlame {
    /// The functions or spawn locations to blame, the worst first: those that did harm come first, then those that
    /// delayed others more in sum.
    pub culprits: Vec<Culprit>,
    /// The spawn locations that are to blame as well, although none of their long polls is kept in detail, or not the
    /// one that did harm. The one that held workers longest comes first.
    pub unexplained: Vec<LocationRow>,
    /// The long polls that are blamed on nobody.
    pub unattributed: Unattributed,
    /// The ones that [`Unattributed::polls`] counts.
    pub(crate) unattributed_at: NotCompared<Vec<PollAt>>,
    /// The ones that [`Unattributed::unseen_polls`] counts.
    pub(crate) unseen_at: NotCompared<Vec<PollAt>>,
}

/// Long polls that are blamed on nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unattributed {
    /// The number of polls that are long only because of the time that the machine took, or because they waited for a
    /// lock of the runtime's own whose holder had no processor.
    pub polls: u64,
    /// The time that the machine took the processor from these polls, in ns.
    pub taken_ns: u64,
    /// The time that these polls waited for locks of the runtime's own, in ns.
    pub waited_ns: u64,
    /// The number of further polls in which no function was seen. Either they are few, or a function was seen in other
    /// polls of their spawn location, which proves nothing about these.
    pub unseen_polls: u64,
    /// The time that these further polls took, in ns, without the time that the machine took.
    pub unseen_ns: u64,
    /// The number of further polls that are not kept in detail, of spawn locations without a culprit. Either they are
    /// too few to blame the location, or the machine accounts for those of its polls that are kept.
    pub dropped_polls: u64,
    /// The time that these dropped polls held workers, in ns.
    pub dropped_ns: u64,
}

/// The time that long polls of a spawn location held workers, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InRun {
    /// In the whole run.
    all_ns: u64,
    /// In what is kept in detail.
    kept_ns: u64,
}

/// The polls that held workers over `long_poll`.
pub(super) struct LongPolls {
    /// The polls that did so by their own doing.
    held: Vec<Held>,
    /// The other polls.
    unattributed: Unattributed,
    unattributed_at: Vec<PollAt>,
    unseen_at: Vec<PollAt>,
}

/// A long poll.
struct Held {
    at: PollAt,
    from_ns: u64,
    to_ns: u64,
    own_ns: u64,
    delay: Delay,
    behind: Option<BehindLock>,
}

/// The polls of a function, or the polls of a place in which no function was seen.
#[derive(Default)]
struct Group {
    polls: Vec<Held>,
    own_ns: u64,
    frames: Weights<StackFrame>,
    causes: Weights<BlockingCause>,
    callers: Callers,
    /// The time that its polls held workers, by place.
    places: Weights<Place>,
}

/// The long polls of a place, and whether functions were seen in them.
#[derive(Default)]
struct AtPlace<'a> {
    row: Option<&'a LocationRow>,
    /// The number of long polls of its tasks.
    polls: u64,
    /// `true` if a function was seen in one of the polls.
    is_seen: bool,
    /// `true` if one of these functions did harm.
    did_harm: bool,
    /// The number of polls in which no function was seen, and which are blamed on nobody.
    unseen_polls: u64,
    unseen_ns: u64,
}

/// The advice if others mostly waited for a lock that the polls held.
const WITHOUT_LOCK: &str = "Do it while no lock is held: if it is only moved to spawn_blocking, the others still wait for the lock.";

/// The most culprits, the worst first, for which all polls are searched for a task that may hold their lock.
const MOST_WITH_HOLDER: usize = 16;

/// Returns who is to blame for the long polls. `delays` has the delay of other tasks by each, `behind` the lines at which tasks waited for
/// a lock meanwhile, and `rows` has all locations.
pub(super) fn blame(
    timeline: &Timeline,
    spelling: &Spelling,
    long: LongPolls,
    (delays, behind): (&[Delay], &[Option<BehindLock>]),
    rows: &[LocationRow],
) -> LongPollBlame {
    let LongPolls { held, mut unattributed, unattributed_at, mut unseen_at } = long;
    let mut functions: Map<Function, Group> = Map::default();
    let mut unseen: Map<Place, Group> = Map::default();
    let mut at_places: Map<Place, AtPlace<'_>> = Map::default();
    for row in rows {
        at_places.get_or_default(row.place).row = Some(row);
    }
    for (nth, mut poll) in held.into_iter().enumerate() {
        poll.delay = delays[nth].due_to(poll.own_ns, poll.to_ns - poll.from_ns);
        poll.behind = behind[nth];
        let task = &timeline.tasks.seen()[poll.at.0];
        let place = spelling.place(task);
        at_places.get_or_default(place).polls += 1;
        let of_task = &task.polls[poll.at.1];
        match Blame::from_samples(timeline, of_task) {
            Some(blame) => {
                let group = functions.get_or_default(blame.function.clone());
                group.add(place, poll);
                group.frames.add_all(blame.frames);
                group.causes.add_all(blame.causes);
                for (of_group, of_poll) in group.callers.iter_mut().zip(blame.callers) {
                    of_group.add_all(of_poll);
                }
            }
            None => {
                let group = unseen.get_or_default(place);
                group.add(place, poll);
                group.causes.add_all(causes_without_function(timeline, of_task));
            }
        }
    }
    let mut found: Vec<(Culprit, Vec<Place>)> = Vec::new();
    for (_, group) in functions {
        let Some((culprit, places)) = group.finish(timeline, spelling, &at_places) else {
            continue;
        };
        let did_harm = culprit.did_harm(timeline.settings.long_poll);
        for place in &places {
            let at = at_places.get_or_default(*place);
            (at.is_seen, at.did_harm) = (true, at.did_harm || did_harm);
        }
        found.push((culprit, places));
    }
    for (place, group) in unseen.into_sorted() {
        let Some((culprit, places)) = group.finish(timeline, spelling, &at_places) else {
            continue;
        };
        let at = at_places.get_or_default(place);
        // Other polls prove nothing about these. The place is only named if these polls are too many and too long to be
        // explained by the functions that were seen.
        let is_named = !at.is_seen
            || !at.did_harm
                && culprit.did_harm(timeline.settings.long_poll)
                && sampled::is_regular(culprit.polls, at.row.map_or(0, |row| row.polls));
        if is_named {
            found.push((culprit, places));
        } else {
            (at.unseen_polls, at.unseen_ns) = (culprit.polls, culprit.own_ns);
            unseen_at.extend_from_slice(&culprit.at);
            unattributed.add_unseen(culprit.polls, culprit.own_ns);
        }
    }
    for (culprit, places) in &mut found {
        for place in places {
            let at = at_places.get_or_default(*place);
            culprit.location_polls += at.polls;
            culprit.unseen_polls += at.unseen_polls;
            culprit.unseen_ns = culprit.unseen_ns.saturating_add(at.unseen_ns);
        }
    }
    let mut culprits = Vec::with_capacity(found.len());
    for (culprit, _) in found {
        culprits.push(culprit);
    }
    crate::util::sort::by(&mut culprits, |a, b| {
        let rank = |c: &Culprit| {
            let in_run = |ns| Reverse(c.in_run.scale(ns));
            let is_harmless = !c.did_harm(timeline.settings.long_poll);
            (is_harmless, in_run(c.delay.total_ns()), in_run(c.own_ns), c.place)
        };
        // Equals are sorted by name, not by the order of a hash map.
        rank(a).cmp(&rank(b)).then_with(|| {
            let (Some(a), Some(b)) = (&a.frame, &b.frame) else {
                return a.frame.is_some().cmp(&b.frame.is_some());
            };
            let files = || a.file.as_deref().cmp(&b.file.as_deref());
            a.function.cmp(&b.function).then_with(files).then_with(|| a.line.cmp(&b.line))
        })
    });
    for culprit in culprits.iter_mut().take(MOST_WITH_HOLDER) {
        if culprit.is_for_a_lock && culprit.beside.as_ref().is_none_or(SeenBeside::is_seldom) {
            culprit.let_go = LetGo::find(timeline, &culprit.at);
            culprit.beside.take_if(|_| culprit.let_go.is_some());
            if culprit.let_go.is_some() {
                culprit.advice =
                    Some("Drop the guard before the await, or use tokio::sync::Mutex.");
            }
        }
    }
    LongPollBlame {
        culprits,
        unexplained: Vec::new(),
        unattributed,
        unattributed_at: NotCompared(unattributed_at),
        unseen_at: NotCompared(unseen_at),
    }
}

/// Finds the polls that held a worker over `long_poll`.
pub(super) fn find_long_polls(timeline: &Timeline) -> LongPolls {
    let limit = timeline.settings.long_poll;
    let mut unattributed = Unattributed::default();
    let (mut held, mut unattributed_at, mut unseen_at) = (Vec::new(), Vec::new(), Vec::new());
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        for (i, poll) in task.polls.iter().enumerate() {
            let length_ns = timeline.held_ns(poll);
            if poll.worker().is_none() || u128::from(length_ns) <= limit.as_nanos() {
                continue;
            }
            let own = OwnTime::from_poll(timeline, poll);
            if own.is_over(limit) {
                let from_ns = poll.start_ns();
                let (to_ns, own_ns) = (from_ns.saturating_add(length_ns), own.own_ns());
                let delay = Delay::default();
                let at = (index, i);
                held.push(Held { at, from_ns, to_ns, own_ns, delay, behind: None });
            } else {
                unattributed.polls += 1;
                unattributed.taken_ns = unattributed.taken_ns.saturating_add(own.taken_ns);
                unattributed.waited_ns = unattributed.waited_ns.saturating_add(own.waited_ns);
                unattributed_at.push((index, i));
            }
        }
    }
    let unsampled = Unsampled::from_long_polls(timeline, &mut held.iter().map(|poll| poll.at));
    let mut seen = Vec::new();
    for poll in held {
        let task = &timeline.tasks.seen()[poll.at.0];
        if unsampled.has(Place::of_task(task), &task.polls[poll.at.1]) {
            unattributed.add_unseen(1, poll.own_ns);
            unseen_at.push(poll.at);
        } else {
            seen.push(poll);
        }
    }
    LongPolls { held: seen, unattributed, unattributed_at, unseen_at }
}

impl LongPolls {
    /// Returns the polls.
    pub(super) fn at(&self) -> impl Iterator<Item = PollAt> {
        self.held.iter().map(|poll| poll.at)
    }

    /// Returns the time in which each poll held its worker by its own doing: from and to, in ns.
    pub(super) fn spans_ns(&self) -> Vec<(u64, u64)> {
        let mut spans = Vec::with_capacity(self.held.len());
        for poll in &self.held {
            spans.push((poll.from_ns, poll.to_ns));
        }
        spans
    }
}

impl Unattributed {
    fn add_unseen(&mut self, polls: u64, own_ns: u64) {
        self.unseen_polls += polls;
        self.unseen_ns = self.unseen_ns.saturating_add(own_ns);
    }
}

impl Group {
    fn add(&mut self, place: Place, poll: Held) {
        self.own_ns = self.own_ns.saturating_add(poll.own_ns);
        self.places.add(place, poll.own_ns);
        self.polls.push(poll);
    }

    /// Returns the culprit, and the places of all its tasks.
    fn finish(
        self,
        timeline: &Timeline,
        spelling: &Spelling,
        at_places: &Map<Place, AtPlace<'_>>,
    ) -> Option<(Culprit, Vec<Place>)> {
        let mut delay = Delay::default();
        let mut longest = self.polls.first()?;
        let (mut lengths_ns, mut at) = (Vec::new(), Vec::new());
        let mut locked_at = Weights::default();
        for poll in &self.polls {
            delay.add(poll.delay);
            if let Some(behind) = poll.behind {
                locked_at.add(behind.wait, poll.delay.locked_ns);
            }
            lengths_ns.push(poll.own_ns);
            at.push(poll.at);
            // The earliest of equals comes first.
            let rank = |poll: &Held| (Reverse(poll.own_ns), poll.from_ns, poll.at);
            if rank(poll) < rank(longest) {
                longest = poll;
            }
        }
        let place = *self.places.heaviest()?;
        let mut in_run = InRun::default();
        if let Some(row) = at_places.get(&place).and_then(|at| at.row) {
            in_run = InRun { all_ns: row.long_polls_ns, kept_ns: row.kept_long_polls_ns };
        }
        let frame = self.frames.heaviest().cloned();
        let told = self.causes.told();
        let in_words: Vec<_> = told.iter().map(ToString::to_string).collect();
        let waiter = frame.as_ref().filter(|_| told.iter().any(|cause| cause.is_wait()));
        let beside = waiter.and_then(|frame| SeenBeside::find(timeline, &at, frame));
        let (callers, are_all_callers) = dominant_callers(&self.callers, self.frames.sum());
        let mut seen = frame.iter().chain(&callers);
        let waited_in = match frame.is_none() || seen.any(StackFrame::is_async) {
            true => Vec::new(),
            false => last_waited_in(timeline, self.polls.iter().map(|poll| (poll.at, poll.own_ns))),
        };
        let culprit = Culprit {
            frame,
            waited_in,
            callers,
            are_all_callers,
            blocking_cause: in_words.join(", and "),
            advice: match delay.locked_ns > delay.total_ns() / 2 {
                true => Some(WITHOUT_LOCK),
                false => told.first().map(|cause| cause.advice()),
            },
            is_for_a_lock: matches!(told[..], [cause] if cause.is_for_a_lock()),
            let_go: None,
            beside,
            place,
            in_run,
            other_places: self.places.len() - 1,
            polls: self.polls.len() as u64,
            location_polls: 0,
            unseen_polls: 0,
            unseen_ns: 0,
            own_ns: self.own_ns,
            lengths: Lengths::from_ns(lengths_ns),
            delay,
            locked_at: (locked_at.heaviest().filter(|_| delay.locked_ns > 0))
                .and_then(|&id| Some(place_label(timeline.wait(id)?))),
            longest: long_polls::describe(timeline, spelling, longest.at, longest.delay),
            at: NotCompared(at),
            longest_at: NotCompared(longest.at),
        };
        Some((culprit, self.places.into_things()))
    }
}

impl Culprit {
    /// Returns whether it did real harm. Either it delayed others by ten times `long_poll` or more in sum, in the whole
    /// run as estimated from what is kept in detail; or one of its polls took a hundred times `long_poll`.
    pub fn did_harm(&self, long_poll: Duration) -> bool {
        let is_known = self.delay.waited_ns.is_some();
        let delay_ns = if is_known { self.delay.total_ns() } else { self.own_ns };
        is_harm(self.in_run.scale(delay_ns), self.longest.own_ns, long_poll)
    }

    /// Returns the harm that it did in the whole run, in ns, to be compared with the time that others held workers.
    pub(super) fn harm_ns(&self) -> u128 {
        self.in_run.scale(self.delay.total_ns().max(self.own_ns))
    }
}

impl InRun {
    /// Scales `ns` from what is kept in detail to the whole run, by the ratio of the times that the location's long
    /// polls held workers.
    fn scale(self, ns: u64) -> u128 {
        let ns = u128::from(ns);
        match self.kept_ns {
            0 => ns,
            kept_ns => (ns * u128::from(self.all_ns) / u128::from(kept_ns)).max(ns),
        }
    }
}
