//! A line at which tasks queue: for a lock, a permit, room in a channel, or an answer.

use std::cmp::Reverse;

use super::Facts;
use super::evidence::{Evidence, Explanation, Finding};
use super::meanwhile::Meanwhile;
use super::never_finished::{NeverFinished, Stuck};
use crate::analysis::blockers::{
    Awaited, Chain, ComeFrom, HeldBy, Joins, KeptBy, LastWaits, WaitSet, receives_messages,
    wait_to_the_end,
};
use crate::analysis::long_polls::LongPoll;
use crate::analysis::place::Place;
use crate::analysis::spelling::Spelling;
use crate::analysis::spots::{Spot, Spots};
use crate::analysis::statement::{Statement, off_worker_sentence, tasks_origin};
use crate::analysis::waits::{Holder, WaitRow, Waits, awaited_module, for_each_wait, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human, human_sum};

/// A line at which tasks queued for a lock, for permits, for room in a channel, or for an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contended {
    /// The line at which they waited: `src/shop.rs:17, Mutex::lock`.
    pub at: String,
    /// The number of waits.
    pub times: u64,
    /// The time that these waits took in sum, in ns.
    pub total_ns: u128,
    /// The longest wait, in ns.
    pub longest_ns: u64,
    /// The number of tasks that waited there at the end.
    pub now: u64,
    /// The time for which no wait had ended there at the end, in ns: see [`WaitRow::none_ended_for_ns`].
    pub none_ended_for_ns: Option<u64>,
    /// Other such lines at which no wait had ended for long, by the sum of their waits, the longest first.
    pub none_ended_at: Vec<String>,
    /// The task that has waited longest for the same kind of lock, and where, if that is another line at which no wait ends: what the
    /// others wait for may be behind it in a queue.
    pub first: Option<(TaskKey, String)>,
    /// The line at which the holders waited for most of the time that they held what is awaited, if there is one.
    pub holder: Option<Holder>,
    /// The tasks that waited up to the end for most of the time, if no issue is worse than a queue that goes on.
    pub stuck: Option<Stuck>,
    queue: Queue,
    /// `true` if it is a queue for a `Mutex` or a `RwLock` of Tokio.
    is_for_a_guard: bool,
    /// `true` if nothing else was found.
    pub(super) is_alone: bool,
    /// The function and the line of the queue.
    frame: StackFrame,
    /// `true` if no wait ends any more and a poll goes on that has taken about as long: nobody else polls that task, so what it holds is
    /// not released.
    is_poll_as_long: bool,
    /// The poll that goes on, if it holds no worker: one that does is an issue of its own.
    off_worker: Option<LongPoll>,
    come_from: ComeFrom,
    meanwhile: Meanwhile,
    spots: Vec<Spot>,
}

/// A wait of less than this is no reason to look at a lock.
const LONG_NS: u64 = 10_000_000;

/// The number of tasks that must wait for room in a channel, on average, while others still get some. With fewer, a pipeline is as
/// fast as its slowest part.
const MANY: u128 = 4;

/// The most further lines that are named.
const MOST_LINES: usize = 3;

/// The most waits at a line for which holders are looked for.
const MOST_WAITS: usize = 8;

/// Finds the line at which tasks queued longest in sum, if one task or more waited there on average: of those lines at which no wait
/// ends any more, and of the others. Lines in `told` are left out. At the end a poll had gone on for `running_ns`; 0 if none did.
pub(super) fn find(
    timeline: &Timeline,
    facts: &Facts<'_>,
    (waits, last): (&Waits, &LastWaits<'_>),
    told: &[String],
    (has_long_polls, running_ns): (bool, u64),
) -> Vec<Contended> {
    let shutdown = Shutdown::from_timeline(timeline);
    let places = Places::new(timeline, shutdown, facts.spelling);
    // Only waits that are kept in detail are counted.
    let kept_ns = u128::from(facts.recording.kept_ns());
    let mut found = Vec::new();
    for is_still in [true, false] {
        // A single task that waits for ever may have begun to wait late.
        let is_long = |row: &WaitRow| {
            row.total_ns >= kept_ns || is_still && (row.is_for_a_lock() || row.is_for_room())
        };
        let worst = waits.lines.iter().find_map(|row| {
            let is_one = row.none_ended_for_ns.is_some() == is_still && is_long(row);
            if !is_one || told.contains(&row.label()) {
                return None;
            }
            let is_crowded = row.total_ns >= MANY * kept_ns;
            let queue = Queue::find(timeline, shutdown, (&places, last), row, is_crowded)?;
            // Many that waited once, at the start, are no queue.
            (is_still || 2 * places.waited_ns(row) >= kept_ns).then_some((row, queue))
        });
        let Some((row, queue)) = worst else { continue };
        // Two kinds of waits at one line may have the same name.
        let label = row.label();
        let is_told = |of: &Contended| of.at == label || of.none_ended_at.contains(&label);
        if found.iter().any(is_told) {
            continue;
        }
        let others: Vec<_> = waits
            .lines
            .iter()
            .filter(|other| is_still && is_another_still(row, other))
            .filter(|other| !places.are_turns(last, other))
            .collect();
        let mut none_ended_at = Vec::new();
        for other in others.iter().filter(|other| places.kind(last, other).is_some()) {
            let other = other.label();
            if other != label && !none_ended_at.contains(&other) {
                none_ended_at.push(other);
            }
            if none_ended_at.len() == MOST_LINES {
                break;
            }
        }
        let is_as_long =
            |poll_ns| row.none_ended_for_ns.is_some_and(|none_ns| poll_ns >= none_ns / 2);
        found.push(Contended {
            at: label,
            times: row.times,
            total_ns: row.total_ns,
            longest_ns: row.longest_ns,
            now: row.now,
            none_ended_for_ns: row.none_ended_for_ns,
            none_ended_at,
            first: places.first_of(row, &others),
            holder: row.holder.clone(),
            stuck: None,
            is_alone: false,
            queue,
            is_for_a_guard: matches!(
                module(row),
                Some("tokio::sync::mutex" | "tokio::sync::rwlock")
            ),
            frame: row.at.clone(),
            off_worker: facts
                .off_worker
                .clone()
                .filter(|poll| poll.is_running && is_as_long(poll.own_ns)),
            come_from: match row.none_ended_for_ns {
                Some(_) => ComeFrom::find(last, (&row.at, row.awaits.as_deref()), &|_| true),
                None => ComeFrom::default(),
            },
            is_poll_as_long: is_as_long(running_ns),
            meanwhile: Meanwhile::new(facts, has_long_polls),
            spots: spots(timeline, shutdown, places.at(row)).longest,
        });
    }
    crate::util::sort::by_key(&mut found, |of: &Contended| Reverse(of.total_ns));
    found
}

/// Returns whether no wait ends at `other` either, which is another line.
fn is_another_still(row: &WaitRow, other: &WaitRow) -> bool {
    let is_long = other.none_ended_for_ns.is_some() && other.longest_ns >= LONG_NS;
    is_long && !std::ptr::eq(other, row)
}

/// Returns whether the holder of a lock waits at the same line for a message, most likely by a receiver that the lock guards: nobody
/// owes it a message.
fn is_idle(holder: &Holder, row: &WaitRow) -> bool {
    let is_at_line = (&holder.at.file, holder.at.line) == (&row.at.file, row.at.line);
    is_at_line && !holder.is_for_room && holder.awaits.as_deref().is_some_and(receives_messages)
}

/// Returns the module of what is awaited at a line.
fn module(row: &WaitRow) -> Option<&str> {
    row.awaits.as_deref().map(awaited_module)
}

/// The thing that tasks queue for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One task has it: a lock, or a future of a library that waits for itself.
    Lock,
    /// Several tasks have one each. They may wait for something outside, as connections do if their number is limited.
    Permit,
    Room,
    Answer,
}

/// The thing that tasks queue for, and who may have it.
#[derive(Clone, Debug, PartialEq)]
struct Queue {
    kind: Kind,
    /// The tasks that may hold it, if no wait ends any more, or that may have held it during the longest wait that no task ended.
    held_by: Option<HeldBy>,
    /// The tasks that used to end the waits, if no wait ends any more.
    chain: Option<Chain>,
    /// The tasks that got it and are not known to have given it back. Only one of the three is there.
    kept_by: Option<KeptBy>,
    /// For a lock: the task that waits for the end of one that waits for it, if none of the three is there.
    joins: Option<Joins>,
    /// The place where the waiting tasks were spawned, and the number of other tasks from there, if all of these have
    /// ended.
    all_ended: Option<(Place, u64)>,
}

impl Queue {
    /// Finds the thing that tasks at this line queue for. `None` if they may be waiting for nothing that another task
    /// has.
    fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        (places, last): (&Places<'_>, &LastWaits<'_>),
        row: &WaitRow,
        is_crowded: bool,
    ) -> Option<Self> {
        if row.longest_ns < LONG_NS {
            return None;
        }
        let kind = places.kind(last, row)?;
        let mut found =
            Self { kind, held_by: None, chain: None, kept_by: None, joins: None, all_ended: None };
        let Some(none_ended_for_ns) = row.none_ended_for_ns else {
            match kind {
                // Whoever has the lock waits for something to do, and the others for their turn.
                Kind::Lock if row.holder.as_ref().is_some_and(|holder| is_idle(holder, row)) => {
                    return None;
                }
                Kind::Lock | Kind::Permit => {}
                Kind::Room => return (is_crowded && row.holder.is_some()).then_some(found),
                Kind::Answer => return None,
            }
            if row.holder.is_none() {
                found.held_by = places.held_during_longest(row);
            }
            return Some(found);
        };
        let (all, long_ns) = (places.at(row), none_ended_for_ns / 2);
        if places.are_turns(last, row) {
            return None;
        }
        found.held_by =
            all.iter().take(MOST_WAITS).find_map(|&(_, wait)| HeldBy::find(last, wait, long_ns));
        let is_lock = matches!(kind, Kind::Lock | Kind::Permit);
        if found.held_by.is_none() {
            found.chain = Chain::find(timeline, shutdown, (all, is_lock), long_ns);
        }
        if is_lock && found.held_by.is_none() {
            found.kept_by = KeptBy::find(last, shutdown, all, long_ns);
            found.keep_one();
            if kind == Kind::Lock && found.chain.is_none() && found.kept_by.is_none() {
                found.joins = Joins::find(last, shutdown, all, long_ns);
            }
        }
        let is_inside = || found.chain.as_ref().is_some_and(Chain::is_inside);
        let is_queue = match kind {
            Kind::Lock => true,
            // A single peer may be slow to read.
            Kind::Room => row.now > 1 || is_inside(),
            // A single task that waits may be a server with as many connections as it may have.
            Kind::Permit => row.now > 1 || found.names_holder(),
            // The answer may depend on something outside, or nothing may have been asked.
            Kind::Answer => is_inside(),
        };
        // A lock is given back when its guard is dropped, at the latest with the task. Who ended before what is kept isn't known.
        if is_queue
            && kind == Kind::Permit
            && !found.names_holder()
            && timeline.lost.dropped_events == 0
        {
            found.all_ended = places.all_others_ended(row);
        }
        is_queue.then_some(found)
    }

    /// Keeps only one of those who used to end the waits and those who got it last. Whoever got a mutex last counts more than whoever
    /// released it most, unless that is the same task: then it is known for whom it waits.
    fn keep_one(&mut self) {
        let (Some(chain), Some(kept_by)) = (&self.chain, &self.kept_by) else { return };
        match kept_by.is_of_mutex() && !chain.begins_with(kept_by.task()) {
            true => self.chain = None,
            false => self.kept_by = None,
        }
    }

    fn names_holder(&self) -> bool {
        self.chain.is_some()
            || self.kept_by.as_ref().is_some_and(KeptBy::is_of_mutex)
            || self.held_by.as_ref().is_some_and(HeldBy::is_at_end)
    }
}

/// The waits that are at only one line, with that line.
struct Places<'a> {
    timeline: &'a Timeline,
    shutdown: Shutdown,
    spelling: &'a Spelling,
    at_lines: Map<Line<'a>, Vec<(WaitId, &'a Wait)>>,
}

/// A line, and the future that is awaited there.
type Line<'a> = (&'a StackFrame, Option<&'a str>);

impl<'a> Places<'a> {
    fn new(timeline: &'a Timeline, shutdown: Shutdown, spelling: &'a Spelling) -> Self {
        let mut at_lines: Map<Line<'a>, Vec<(WaitId, &'a Wait)>> = Map::default();
        for (id, wait) in timeline.all_waits() {
            if let [line] = wait.lines()[..] {
                at_lines.get_or_default(line_of(line)).push((id, wait));
            }
        }
        Self { timeline, shutdown, spelling, at_lines }
    }

    fn at<'s>(&'s self, row: &'s WaitRow) -> &'s [(WaitId, &'a Wait)] {
        self.at_lines.get(&(&row.at, row.awaits.as_deref())).map_or(&[], |all| all)
    }

    /// Returns whether tasks at this line wait for their turn to receive.
    fn are_turns(&self, last: &LastWaits<'_>, row: &WaitRow) -> bool {
        self.at(row).iter().any(|(_, wait)| last.turns().has(wait))
    }

    /// Returns for how long one task or more waited at this line, in ns.
    fn waited_ns(&self, row: &WaitRow) -> u128 {
        let mut spans = Vec::new();
        for_each_spot(self.timeline, self.shutdown, self.at(row), &mut |spot| {
            spans.push((spot.start_ns, spot.start_ns.saturating_add(spot.length_ns)));
        });
        crate::util::sort::sort(&mut spans);
        let (mut until_ns, mut sum_ns) = (0, 0_u128);
        for (from_ns, to_ns) in spans {
            sum_ns += u128::from(to_ns.saturating_sub(from_ns.max(until_ns)));
            until_ns = to_ns.max(until_ns);
        }
        sum_ns
    }

    /// Returns the thing that tasks at this line may queue for.
    fn kind(&self, last: &LastWaits<'_>, row: &WaitRow) -> Option<Kind> {
        if row.is_for_room() {
            return Some(Kind::Room);
        }
        let all = self.at(row);
        let queue = all.iter().find_map(|&(_, wait)| Awaited::queue(wait));
        let is_for_queue =
            || row.none_ended_for_ns.is_some() || self.are_mostly_for_a_pool(row.total_ns, all);
        if row.is_for_a_lock() || queue.is_some() && is_for_queue() {
            let is_permit = queue == Some(Awaited::Permit);
            return Some(if is_permit { Kind::Permit } else { Kind::Lock });
        }
        if row.is_for_an_answer() {
            return Some(Kind::Answer);
        }
        let is_within = row.none_ended_for_ns.is_some()
            && all.iter().any(|&(_, wait)| Awaited::at(wait) == Awaited::Task)
            && HeldBy::is_within(last, (&row.at, row.awaits.as_deref()));
        is_within.then_some(Kind::Lock)
    }
}

impl Places<'_> {
    /// Returns whether most of the time that these waits took in sum was spent waiting for a lock or a permit: a library's pool
    /// of connections has a semaphore within, and the other waits at the line are for the connection.
    fn are_mostly_for_a_pool(&self, total_ns: u128, all: &[(WaitId, &Wait)]) -> bool {
        let for_pool: Vec<_> =
            all.iter().filter(|(_, wait)| Awaited::is_pool(wait)).copied().collect();
        !for_pool.is_empty()
            && 2 * spots(self.timeline, self.shutdown, &for_pool).sum_ns >= total_ns
    }

    /// Returns where the tasks that wait at this line were spawned, and how many others from there have ended; `None` if one of
    /// these is alive, if there are none, or if the waiting ones were spawned at several places.
    fn all_others_ended(&self, row: &WaitRow) -> Option<(Place, u64)> {
        let is_at = WaitSet::new(self.timeline, self.at(row).iter().map(|&(id, _)| id));
        let waits = |task: &Task| {
            let wait = wait_to_the_end(self.timeline, self.shutdown, task);
            wait.map(|_| is_at.has(task.polls.last().and_then(|last| last.wait())))
        };
        let mut place = None;
        for task in self.timeline.tasks.seen() {
            if waits(task) == Some(true) {
                let of_task = self.spelling.place(task);
                if place.is_some_and(|place| place != of_task) {
                    return None;
                }
                place = Some(of_task);
            }
        }
        let place = place?;
        let mut ended = 0;
        for task in self.timeline.tasks.one_by_one() {
            if self.spelling.place(&task) != place {
                continue;
            }
            match waits(&task) {
                Some(true) => {}
                None if task.terminated_ns.is_some() => ended += 1,
                _ => return None,
            }
        }
        (ended > 0).then_some((place, ended))
    }

    /// Returns the task that has waited longest for such a lock at these lines, and its line, if it is one of the `others`.
    fn first_of(&self, row: &WaitRow, others: &[&WaitRow]) -> Option<(TaskKey, String)> {
        let is_like = |other: &&&WaitRow| row.is_for_a_lock() && module(other) == module(row);
        let others: Vec<_> = others.iter().filter(is_like).collect();
        if others.is_empty() {
            return None;
        }
        // By the index of a wait: the one that has been in it for longest.
        let mut first: Vec<Option<(u64, u64, TaskKey)>> =
            vec![None; self.timeline.places.waits.len()];
        for task in self.timeline.tasks.one_by_one() {
            let Some(last) = task.polls.last() else { continue };
            let Some(first) = last.wait().and_then(|id| first.get_mut(id.index())) else {
                continue;
            };
            if let Some((spot, _)) = wait_to_the_end(self.timeline, self.shutdown, &task) {
                let since = (spot.start_ns, last.start_ns(), task.key);
                *first = Some(first.map_or(since, |first| first.min(since)));
            }
        }
        let first_at = |row: &WaitRow| {
            let all = self.at(row).iter();
            all.filter_map(|(id, _)| first[id.index()]).min()
        };
        let of_row = first_at(row)?;
        let of_others = others.into_iter().filter_map(|other| Some((first_at(other)?, other)));
        let ((since_ns, _, task), other) = of_others.min_by_key(|&(since, _)| since)?;
        // A task begins to wait within its poll: of two polls at the same time it isn't known which was first.
        let (_, polled_ns, _) = of_row;
        (since_ns <= polled_ns).then(|| (task, other.label()))
    }

    /// Returns the tasks that may have held what was awaited at this line during the longest wait that no task ended, as one with a
    /// timeout. Whoever ended one had it, or had a part of it.
    fn held_during_longest(&self, row: &WaitRow) -> Option<HeldBy> {
        let is_at = WaitSet::new(self.timeline, self.at(row).iter().map(|&(id, _)| id));
        let mut longest: Option<(Spot, WaitId)> = None;
        for task in self.timeline.tasks.seen() {
            for pair in task.polls.windows(2) {
                let (before, next) = (&pair[0], &pair[1]);
                if !is_at.has(before.wait()) || next.woken_by() != Some(WokenBy::Runtime) {
                    continue;
                }
                let (Some(id), Some(start_ns), Some(ready_ns)) =
                    (before.wait(), before.end_ns(), next.ready_ns())
                else {
                    continue;
                };
                let length_ns = ready_ns.saturating_sub(start_ns);
                if longest.is_none_or(|(most, _)| length_ns > most.length_ns) {
                    longest = Some((Spot { task: task.key, start_ns, length_ns }, id));
                }
            }
        }
        let (spot, id) = longest.filter(|(spot, _)| spot.length_ns >= row.longest_ns / 2)?;
        HeldBy::during(self.timeline, self.timeline.wait(id)?, &spot)
    }
}

/// Returns these waits: their sum, and the longest of them.
fn spots(timeline: &Timeline, shutdown: Shutdown, waits: &[(WaitId, &Wait)]) -> Spots {
    let mut spots = Spots::default();
    for_each_spot(timeline, shutdown, waits, &mut |spot| spots.add(spot));
    spots
}

/// Calls `each` for each time that a task was in one of these waits.
fn for_each_spot(
    timeline: &Timeline,
    shutdown: Shutdown,
    waits: &[(WaitId, &Wait)],
    each: &mut dyn FnMut(Spot),
) {
    let is_at = WaitSet::new(timeline, waits.iter().map(|&(id, _)| id));
    for task in timeline.tasks.one_by_one() {
        for_each_wait(timeline, &task, shutdown, &mut |wait, start_ns, length_ns, _| {
            if is_at.has(wait) {
                each(Spot { task: task.key, start_ns, length_ns });
            }
        });
    }
}

impl Contended {
    /// Returns whether the issue says who may have what is awaited at the end.
    pub(super) fn names_holder(&self) -> bool {
        self.queue.names_holder()
    }

    /// Returns whether this issue says all that the other one says. Its line is this one's, or one of those mentioned by the way.
    pub(super) fn covers(&self, never: &NeverFinished) -> bool {
        let Some(at) = &never.at else { return false };
        let (is_certain, names_holder) = (self.is_certain(), self.names_holder());
        if *at == self.at {
            let says_more = self.now > never.tasks || !self.none_ended_at.is_empty();
            // A channel may be full because whoever receives is slow.
            let is_room = self.queue.kind == Kind::Room;
            return names_holder
                || is_room
                || self.queue.kept_by.is_some()
                || self.queue.joins.is_some()
                || is_certain && says_more;
        }
        self.none_ended_at.contains(at) && !never.names_holder() && (is_certain || names_holder)
    }

    /// Returns whether waits still ended at the end, as far as is known.
    pub(super) fn goes_on(&self) -> bool {
        self.none_ended_for_ns.is_none()
    }

    /// Returns whether tasks are known to queue neither because of long polls nor because of an intended limit.
    #[inline(never)]
    pub(in crate::analysis) fn is_by_itself(&self) -> bool {
        match self.queue.kind {
            // If the holder, or whoever receives, is in a long poll, that is the issue. A `holder` waited elsewhere most of the time.
            Kind::Lock | Kind::Room if self.goes_on() => self.holder.is_some(),
            Kind::Lock => self.names_holder() || !self.is_poll_as_long,
            Kind::Permit => !self.goes_on() && self.names_holder(),
            // Whoever receives may be slow, and of an unknown task nothing is said.
            Kind::Room => {
                let chain = self.queue.chain.as_ref();
                chain.is_some_and(|chain| !chain.is_outside())
            }
            Kind::Answer => !self.goes_on(),
        }
    }
}

impl Contended {
    fn advice(&self) -> &'static str {
        let Queue { held_by, chain, kept_by, joins, .. } = &self.queue;
        if joins.is_some() {
            return "Await no task while holding what the task may need: give it back before, or hand it over.";
        }
        if self.off_worker.is_some() && held_by.is_none() && chain.is_none() && kept_by.is_none() {
            return "Block in no poll, not in main's either: use the async counterpart, or spawn_blocking.";
        }
        let is_inside = self.queue.chain.as_ref().is_some_and(Chain::is_inside);
        match self.queue.kind {
            Kind::Lock if self.is_for_a_guard => {
                "Drop the guard before a slow await, take locks in one order, put a timeout around what is awaited meanwhile."
            }
            Kind::Lock => "Put a timeout around what is awaited meanwhile.",
            Kind::Permit if self.goes_on() => {
                "Raise the limit, or do less with a permit or connection."
            }
            Kind::Permit => {
                "Give each back on all paths, take no second one while holding one, put a timeout around the wait."
            }
            Kind::Room if is_inside => {
                "Let no task that receives send into a full channel: use try_send, or another task for one of both."
            }
            Kind::Room => {
                "Speed up whoever receives, or have several; a larger channel fills up as well."
            }
            Kind::Answer => {
                "Let no task ask itself, or one that waits for it: answer first, or ask in another task."
            }
        }
    }
}

impl Finding for Contended {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "queue",
            noun: "wait",
            meaning: "Tasks queued at this line for what other tasks had: a lock, a permit, room in a channel, an answer.",
            advice: self.advice(),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            frame: Some(&self.frame),
            number: self.times,
            total_ns: u64::try_from(self.total_ns).unwrap_or(u64::MAX),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn is_certain(&self) -> bool {
        let is_inside = || self.queue.chain.as_ref().is_some_and(Chain::is_inside);
        !self.goes_on() && self.is_by_itself() && (self.queue.kind != Kind::Room || is_inside())
    }

    fn statement(&self) -> Statement {
        let (at, longest) = (clean(&self.at), human(self.longest_ns));
        let mut said = match self.none_ended_for_ns {
            None => {
                let (waits, total) = (count(self.times, "wait"), human_sum(self.total_ns));
                // The limit may be intended.
                let begin = match self.queue.kind {
                    Kind::Permit | Kind::Room if self.is_alone => {
                        "Nothing held the runtime up, but tasks"
                    }
                    _ => "Tasks",
                };
                Statement::new(format!(
                    "{begin} queued at {at}: {waits}, {total} in sum, up to {longest}."
                ))
            }
            Some(none_ended_for_ns) => {
                let waited = match self.now {
                    1 => format!("1 task waits at {at}, for {longest} now"),
                    n => format!("{n} tasks wait at {at}, for up to {longest} now"),
                };
                let ended = human(none_ended_for_ns);
                Statement::new(format!("{waited}: no wait there ended in the last {ended}."))
            }
        };
        said.add(off_worker_sentence(self.off_worker.as_ref()));
        said.add(self.come_from.to_string());
        let mut others = String::new();
        for (nth, at) in self.none_ended_at.iter().enumerate() {
            others.push_str(if nth == 0 { "Nor did any at " } else { ", nor at " });
            others.push_str(&clean(at));
        }
        if !others.is_empty() {
            said.add(format!("{others}."));
        }
        if let Some((task, at)) = &self.first {
            said.add(format!("{task} has waited longest for such a lock, at {}.", clean(at)));
        }
        let Queue { kind: _, held_by, chain, kept_by, joins, all_ended } = &self.queue;
        if let Some(held_by) = held_by {
            said.add(held_by.to_string());
        }
        if let Some(chain) = chain {
            said.add(chain.to_string());
            if self.queue.kind == Kind::Room && chain.is_first_for_a_message() {
                said.add(
                    "If it receives from the same channel, that is empty: the room went to a send that is no longer polled, or to a \
                     permit that is kept.",
                );
            }
        }
        if let Some(kept_by) = kept_by {
            said.add(kept_by.to_string());
        }
        if let Some(joins) = joins {
            said.add(joins.to_string());
        }
        if self.is_for_a_guard
            && !self.goes_on()
            && !self.names_holder()
            && kept_by.is_none()
            && joins.is_none()
        {
            said.add(
                "It isn't known who holds it. That may be a task that took it without a wait, a thread, or one of these tasks, if each \
                 keeps a lock that another one waits for.",
            );
        }
        if let Some((place, ended)) = *all_ended {
            let (others, have) = match ended {
                1 => ("Another task", "has"),
                _ => (&*format!("{ended} other tasks"), "have"),
            };
            let origin = tasks_origin(place).unwrap_or_default();
            said.add(format!(
                "{others} {origin} {have} ended, and none is further on. So what is awaited was not given back, or these tasks have \
                 it themselves, or others that were spawned elsewhere, or a thread."
            ));
        }
        // It is known of waits that ended.
        if let (Some(holder), None, true) = (&self.holder, held_by, self.goes_on()) {
            said.add(holder.sentence(None));
        }
        said.add(self.meanwhile.to_string());
        if let Some(stuck) = &self.stuck {
            said.add(stuck.sentence());
        }
        said
    }
}
