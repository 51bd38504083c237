//! Tasks that seem never to finish: they still wait at the end, and have waited for most of the recording.
//!
//! An idle connection waits like a task in a deadlock, so a long wait alone doesn't show that a task should have
//! finished. The evidence is what the task waits for, that other tasks of its spawn location finished, or that
//! everything waits.

use std::cell::LazyCell;
use std::cmp::Reverse;

use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::blockers::{
    Asked, Awaited, ComeFrom, HeldBy, Holds, LastWaits, StillThere, WokenFrom, wait_to_the_end,
    waits_to_the_end,
};
use crate::analysis::place::{Place, Places, bare_name};
use crate::analysis::resumed::waited_in;
use crate::analysis::spelling::Spelling;
use crate::analysis::spots::{Spot, Spots};
use crate::analysis::statement::{Statement, capitalized, n_tasks_of};
use crate::analysis::usual::long_wait_ns;
use crate::analysis::waits::{WaitRow, Waits, line_of, place_label};
use crate::trace::timeline::{
    FrameOrigin, Shutdown, StackFrame, Task, TaskKey, Timeline, Wait, Waiting,
};
use crate::util::clean::clean;
use crate::util::quantity::{count, human};

/// Tasks of a spawn location that had waited for most of the recording when it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// The place where they were spawned.
    pub place: Place,
    /// The number of tasks.
    pub tasks: u64,
    /// The longest wait of one of them, in ns.
    pub waited_ns: u64,
    /// The line at which the one waits that has waited longest of those whose line is known: `src/shop.rs:17, Receiver::recv`.
    pub at: Option<String>,
    /// `true` if all of them are known to wait there; of more than a hundred, those that have waited longest.
    pub are_all_there: bool,
    /// `true` if it waits for a lock, a permit, room in a channel, or the answer to a request, which somebody owes it.
    pub is_owed: bool,
    /// The line at which the root future waits for other tasks, if nothing was polled any more.
    main_at: Option<String>,
    /// The tasks that it waits for, most likely, if it waits until others end.
    still_there: Option<StillThere>,
    /// The task that they asked, most likely, if they wait for an answer.
    asked: Option<Asked>,
}

impl Stuck {
    pub(in crate::analysis) fn sentence(&self) -> String {
        let (tasks, waited) = (n_tasks_of(self.tasks, self.place), self.waited());
        format!("At the end, {tasks} had waited longest, for {waited}.{}", self.more())
    }

    /// Returns whom they wait for, most likely, as sentences after others.
    pub(in crate::analysis) fn more(&self) -> String {
        let main = self.main_at.as_ref().map(|at| {
            format!(
                " The root future waits for other tasks, at {}, and nothing was polled any more: only I/O, a timer or a thread can wake \
                 one of them.",
                clean(at)
            )
        });
        let still_there = self.still_there.as_ref().map(|there| format!(" {there}"));
        let asked = self.asked.as_ref().map(|asked| format!(" {asked}"));
        [main, still_there, asked].into_iter().flatten().collect()
    }

    /// Returns the first sentence of a verdict, if nothing is worse than this.
    pub(in crate::analysis) fn headline(&self) -> String {
        let tasks = capitalized(&n_tasks_of(self.tasks, self.place));
        format!("{tasks} still waited at the end, for {}.", self.waited())
    }

    /// Returns for how long they waited, and where.
    fn waited(&self) -> String {
        let up_to = if self.tasks > 1 { "up to " } else { "" };
        let which = if self.are_all_there { "" } else { "one of them " };
        let at = self.at.as_ref().map(|at| format!(", {which}at {}", clean(at)));
        let at = at.unwrap_or_default();
        format!("{up_to}{}{at}", human(self.waited_ns))
    }

    fn sum_ns(&self) -> u128 {
        u128::from(self.tasks) * u128::from(self.waited_ns)
    }
}

/// Tasks of one spawn location that waited for most of the recording, up to its end, and should have finished.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NeverFinished {
    /// The place where they were spawned.
    pub place: Place,
    /// The number of tasks.
    pub tasks: u64,
    /// The number of other tasks of the same spawn location that finished.
    pub finished: u64,
    /// The longest wait of one of them, in ns.
    pub waited_ns: u64,
    /// The sum of their waits, in ns.
    pub total_ns: u128,
    /// The reason why they should have finished.
    pub why: WhyNever,
    /// The line at which the task with the longest wait waits: `src/shop.rs:17, Mutex::lock`; `None` if that isn't
    /// known.
    pub at: Option<String>,
    come_from: ComeFrom,
    held_by: Option<HeldBy>,
    holds: Option<Holds>,
    before: Option<Before>,
    spots: Vec<Spot>,
}

/// The function and the line in which a task had waited before its last poll, if it isn't known where it has waited
/// since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Before {
    task: TaskKey,
    function: StackFrame,
    at: String,
}

impl Before {
    fn find(timeline: &Timeline, task: TaskKey) -> Option<Self> {
        let of_task = timeline.tasks.at(timeline.tasks.position(task)?);
        for poll in of_task.polls.iter().rev() {
            let Some((id, wait)) = poll.wait().and_then(|id| Some((id, timeline.wait(id)?))) else {
                continue;
            };
            let function = waited_in(timeline, id).into_iter().next()?;
            return Some(Self { task, function, at: label_of(wait)? });
        }
        None
    }

    fn sentence(&self) -> String {
        let Self { task, function, at } = self;
        format!("Before that, {task} had waited in {} at {}.", bare_name(function), clean(at))
    }
}

/// The reason why tasks should have finished.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNever {
    /// They wait for something that another task must release: a lock, a permit, room in a channel.
    Lock,
    /// Nothing kept their wakers, so nothing will wake them.
    NothingWakes,
    /// The root future waits for other tasks, and nothing was polled for just as long.
    MainWaits {
        /// The line at which it waits.
        at: String,
        /// `true` if all of these tasks are known to wait for other tasks, too. If not, they may wait for I/O or a
        /// timer.
        is_known: bool,
    },
    /// Many others of the same spawn location finished long ago.
    OthersFinished {
        /// The longest lifetime of those that finished, in ns.
        longest_life_ns: u64,
    },
}

impl NeverFinished {
    /// Returns whether it says who may hold what is awaited, or what these tasks may hold.
    pub(super) fn names_holder(&self) -> bool {
        self.held_by.is_some() || self.holds.is_some()
    }

    /// Returns whether the thing that they wait for proves it. Other tasks of a spawn location may be of another kind,
    /// and a task may wait for I/O or a timer for ever.
    pub(crate) fn is_sure(&self) -> bool {
        !matches!(
            self.why,
            WhyNever::OthersFinished { .. } | WhyNever::MainWaits { is_known: false, .. }
        )
    }
}

impl Finding for NeverFinished {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "never finished",
            noun: "task",
            meaning: "Tasks waited up to the end that should have finished.",
            advice: match self.why {
                WhyNever::NothingWakes => {
                    "Clone the waker before returning Pending, or await something that does."
                }
                WhyNever::Lock => {
                    "Drop the guard before a slow await, take locks in one order, give back what is taken, set timeouts."
                }
                WhyNever::MainWaits { .. } | WhyNever::OthersFinished { .. } => {
                    "Drop senders that nobody uses, see that each request is answered, set timeouts."
                }
            },
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            place: Some(self.place),
            number: self.tasks,
            total_ns: u64::try_from(self.total_ns).unwrap_or(u64::MAX),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn is_certain(&self) -> bool {
        self.is_sure()
    }

    fn statement(&self) -> Statement {
        let (they, them, up_to) = match self.tasks {
            1 => ("it", "it", ""),
            _ => ("they", "them", "up to "),
        };
        let tasks = capitalized(&n_tasks_of(self.tasks, self.place));
        let waited = format!("{up_to}{}", human(self.waited_ns));
        if let WhyNever::MainWaits { at, is_known: false } = &self.why {
            let mut said = Statement::new(format!(
                "{tasks} still waited at the end: {they} had waited for {waited}, and so had the root future."
            ));
            said.add(format!(
                "The root future waits for other tasks, at {}, and nothing was polled any more.",
                clean(at)
            ));
            said.add(
                "If nothing outside of the runtime wakes one of them, such as I/O, a timer or a thread, this is a deadlock.",
            );
            return said;
        }
        let mut said = Statement::new(match &self.at {
            Some(at) => {
                format!("{tasks} never finished: {they} waited {waited} at {}.", clean(at))
            }
            None => format!("{tasks} never finished: {they} waited {waited}, up to the end."),
        });
        said.add(match &self.why {
            WhyNever::Lock => format!("Another task must release what {they} waited for."),
            WhyNever::NothingWakes => {
                format!("Nothing kept the waker, so nothing will wake {them}.")
            }
            WhyNever::MainWaits { at, .. } => format!(
                "The root future waits for other tasks, too, at {}, and nothing was polled any more.",
                clean(at)
            ),
            WhyNever::OthersFinished { longest_life_ns } => format!(
                "{} spawned there finished within {}.",
                count(self.finished, "other task"),
                human(*longest_life_ns),
            ),
        });
        said.add(self.come_from.to_string());
        if let Some(before) = &self.before {
            said.add(before.sentence());
        }
        if let Some(held_by) = &self.held_by {
            said.add(held_by.to_string());
        }
        if let Some(holds) = &self.holds {
            said.add(holds.to_string());
        }
        said
    }
}

/// The least number of other tasks of the spawn location that must have finished.
const OTHERS: u64 = 9;
/// The least ratio of the tasks that finished to those that wait.
const OTHERS_TIMES: u64 = 4;
/// The least ratio of the shortest wait to the longest life of a task that finished.
const TIMES_AS_FAST: u64 = 10;

/// The most spawn locations for which holders are looked for, and the most places where the tasks of one of them wait.
const MOST_SEARCHED: usize = 4;
const MOST_WAITS: usize = 4;

#[derive(Default)]
pub(super) struct Found {
    /// The tasks that should have finished, those that waited longest first.
    pub(super) never: Vec<NeverFinished>,
    /// The other tasks that waited longest in sum, if they waited for long: those to whom something is owed, or else those that
    /// may wait for a client that never came.
    pub(super) stuck: Option<Stuck>,
    /// All other tasks that waited for long, with the longest of their waits.
    others: Vec<(Stuck, Vec<Spot>)>,
    /// The same of those that waited for a peer to read, or to end.
    for_peers: Vec<(Stuck, Vec<Spot>)>,
}

/// The tasks of one spawn location.
#[derive(Default)]
struct Group {
    finished: u64,
    longest_life_ns: u64,
    /// The tasks that waited for long for something inside of the program, by what they wait for.
    for_locks: Spots,
    for_permits: Spots,
    for_nothing: Spots,
    for_others: Spots,
    /// The tasks that waited for long for a peer to read, or to end.
    for_peers: Spots,
    /// The number of `for_others` that wait for something unknown.
    unknown: u64,
    /// The tasks that waited for long for other tasks to end.
    for_ends: Spots,
    /// The tasks that waited for long for a message or a signal, which nobody owes them.
    idle: Spots,
}

pub(super) fn find(
    timeline: &Timeline,
    spelling: &Spelling,
    waits: &Waits,
    last: &LastWaits<'_>,
) -> Found {
    let whole_ns = match timeline.whole_run() {
        Some(sums) => timeline.end_ns.saturating_sub(sums.begin_ns),
        None => timeline.length_ns(),
    };
    let long_ns = long_wait_ns(whole_ns);
    let shutdown = Shutdown::from_timeline(timeline);
    let woken_from = LazyCell::new(|| WokenFrom::new(timeline));
    let (mut places, mut groups) = (Places::default(), Vec::new());
    let (mut last_polled_ns, mut is_any_polled) = (0, false);
    // A task that holds a permit may wait for something outside.
    let mut may_be_outside = false;
    let (mut is_any_outside, mut is_any_idle) = (false, false);
    for task in timeline.tasks.one_by_one() {
        if matches!(task.key, TaskKey::Root(_)) {
            continue;
        }
        if let Some(last) = task.polls.last() {
            is_any_polled |= last.end_ns().is_none();
            last_polled_ns = last.end_ns().unwrap_or(timeline.end_ns).max(last_polled_ns);
        }
        let number = places.number(spelling.place(&task));
        if number == groups.len() {
            groups.push(Group::default());
        }
        let group = &mut groups[number];
        match wait_to_the_end(timeline, shutdown, &task) {
            Some((spot, waiting)) if spot.length_ns >= long_ns => {
                let mut awaited = Awaited::from_waiting(waiting);
                let is_unsure = matches!(awaited, Awaited::Task | Awaited::Unknown);
                if is_unsure && woken_from.is_outside(shutdown, &task) {
                    awaited = Awaited::Outside;
                }
                may_be_outside |= matches!(awaited, Awaited::Outside | Awaited::Unknown);
                is_any_outside |= awaited == Awaited::Outside;
                match waiting {
                    Waiting::At(wait) if Awaited::is_for_peer(wait) => group.for_peers.add(spot),
                    Waiting::At(wait)
                        if awaited == Awaited::Task && Awaited::is_for_anything_to_do(wait) =>
                    {
                        group.idle.add(spot);
                        is_any_idle = true;
                    }
                    Waiting::At(wait) if awaited == Awaited::Task && Awaited::is_for_ends(wait) => {
                        group.for_ends.add(spot);
                    }
                    Waiting::At(wait) if last.turns().has(wait) => group.idle.add(spot),
                    _ => group.add_waiting(spot, awaited),
                }
            }
            Some(_) => {}
            None => group.add_other(shutdown, &task),
        }
    }
    let is_silent = !is_any_polled && timeline.end_ns.saturating_sub(last_polled_ns) >= long_ns;
    // If a task waits for a client, all others may wait for that.
    let is_hung = is_silent && !is_any_outside;
    let main = if is_hung { main_waits(timeline, long_ns) } else { None };
    let mut found = Found::default();
    for (place, number) in places.sorted() {
        let group = &mut groups[number];
        let permits = std::mem::take(&mut group.for_permits);
        match may_be_outside {
            true => {
                group.unknown += permits.n;
                group.for_others.append(permits);
            }
            false => group.for_locks.append(permits),
        }
        // If any task waits for a message, those that wait for the end of others may wait for that.
        if main.is_none() || !is_any_idle {
            group.for_others.append(std::mem::take(&mut group.for_ends));
        }
        found.judge(place, group, main.as_deref());
    }
    let rank = |never: &NeverFinished| (!never.is_sure(), Reverse(never.total_ns), never.place);
    crate::util::sort::by_key(&mut found.never, rank);
    let wait_of = |spot: &Spot| wait_of(timeline, shutdown, spot);
    for (nth, never) in found.never.iter_mut().enumerate() {
        let is_searched = never.why == WhyNever::Lock && nth < MOST_SEARCHED;
        let most = if is_searched { MOST_WAITS } else { 1 };
        let mut waits: Vec<&Wait> = Vec::new();
        for wait in never.spots.iter().filter_map(wait_of) {
            if waits.len() == most {
                break;
            }
            if !waits.iter().any(|&other| std::ptr::eq(other, wait)) {
                waits.push(wait);
            }
        }
        never.at = waits.first().copied().and_then(label_of);
        if never.why == WhyNever::NothingWakes {
            never.before = never.spots.first().and_then(|spot| Before::find(timeline, spot.task));
        }
        if is_searched {
            if let Some([line]) = waits.first().map(|wait| wait.lines()).as_deref() {
                let mut tasks: Vec<TaskKey> = never.spots.iter().map(|spot| spot.task).collect();
                crate::util::sort::sort(&mut tasks);
                let is_meant = |task| tasks.binary_search(&task).is_ok();
                never.come_from = ComeFrom::find(last, line_of(*line), &is_meant);
            }
            let held_by = |&wait: &&Wait| HeldBy::find(last, wait, long_ns);
            never.held_by = waits.iter().find_map(held_by);
            let first = waits.first();
            never.holds = first.and_then(|wait| Holds::find(last, wait, long_ns));
        }
    }
    for others in [std::mem::take(&mut found.others), std::mem::take(&mut found.for_peers)] {
        found.stuck =
            found.stuck.take().or_else(|| most_stuck(timeline, shutdown, (waits, last), others));
    }
    found
}

/// Returns the wait that the task of a spot was in at the end.
fn wait_of<'a>(timeline: &'a Timeline, shutdown: Shutdown, spot: &Spot) -> Option<&'a Wait> {
    Some(waits_to_the_end(timeline, shutdown, spot.task)?.1)
}

/// Returns the line of a wait, and what is awaited there.
fn label_of(wait: &Wait) -> Option<String> {
    Some(place_label(wait)).filter(|at| !at.is_empty())
}

/// The most spawn locations whose tasks are looked at: the tasks of the others waited for less time in sum.
const MOST_STUCK: usize = 64;

/// Returns the tasks that waited longest in sum: those to whom something is owed, or else those that may wait for a client that
/// never came.
fn most_stuck(
    timeline: &Timeline,
    shutdown: Shutdown,
    (waits, last): (&Waits, &LastWaits<'_>),
    mut others: Vec<(Stuck, Vec<Spot>)>,
) -> Option<Stuck> {
    let wait_of = |spot: &Spot| wait_of(timeline, shutdown, spot);
    // The first of equals stays the first.
    crate::util::sort::by_key(&mut others, |(stuck, _)| Reverse(stuck.sum_ns()));
    let mut most = None;
    let finish = |(stuck, spots): (Stuck, Vec<Spot>)| {
        let first = spots.first();
        let still_there = first.and_then(|spot| StillThere::find(last, shutdown, spot.task));
        let is_asking = first.and_then(wait_of).is_some_and(Awaited::is_answer);
        let asked =
            if is_asking { Asked::find(timeline, shutdown, (&spots, stuck.tasks)) } else { None };
        Stuck { still_there, asked, ..stuck }
    };
    for (mut stuck, spots) in others.into_iter().take(MOST_STUCK) {
        let Some(wait) = spots.iter().find_map(wait_of) else {
            // A connection that is idle, most likely, if a library spawned it.
            if !stuck.place.is_of_dependency() {
                most = most.or(Some((stuck, Vec::new())));
            }
            continue;
        };
        // A library's own task that waits in the library is its own affair.
        let is_own = |line| line_of(line).0.origin == FrameOrigin::Program;
        if stuck.place.is_of_dependency() && !wait.lines().into_iter().any(is_own) {
            continue;
        }
        // A library's function without a name may wait for the next connection.
        if wait.lines().into_iter().all(|line| line.awaits.is_some_and(is_nameless)) {
            continue;
        }
        stuck.at = label_of(wait);
        // If all of them wait there.
        let is_same = |spot| wait_of(spot).is_some_and(|other| std::ptr::eq(other, wait));
        let is_at = |row: &WaitRow| stuck.at.as_ref().is_some_and(|at| row.label() == *at);
        stuck.are_all_there = spots.iter().all(is_same);
        stuck.is_owed =
            stuck.are_all_there && waits.lines.iter().any(|row| is_at(row) && is_owed(wait, row));
        if stuck.is_owed {
            return Some(finish((stuck, spots)));
        }
        most = most.or(Some((stuck, spots)));
    }
    most.map(finish)
}

/// Returns whether a function is a library's whose name tells nothing, as in an optimised build.
fn is_nameless(frame: &StackFrame) -> bool {
    frame.origin == FrameOrigin::Dependency
        && (frame.short() == "poll" || frame.function.starts_with("an async fn"))
}

/// Returns whether another task must act to end this wait: release a lock or a permit, make room in a channel, or send
/// an answer, if earlier ones were sent there. (A signal to shut down is the first and the last of its kind.) Messages
/// to an idle consumer don't count, as nobody owes it any. Neither does a queue that moves on, in which somebody must
/// be the last.
fn is_owed(wait: &Wait, row: &WaitRow) -> bool {
    row.is_still()
        && (Awaited::queue(wait).is_some() || Awaited::is_answer(wait) && row.times > row.now)
}

/// Returns where the root future waits for other tasks, if it has waited for long.
fn main_waits(timeline: &Timeline, long_ns: u64) -> Option<String> {
    let mut main = None;
    for task in timeline.tasks.seen() {
        if !matches!(task.key, TaskKey::Root(_)) {
            continue;
        }
        if main.is_some() && task.terminated_ns.is_none() {
            return None;
        }
        main = main.or(Some(task));
    }
    let main = main?;
    let since_ns = main.polls.last()?.end_ns()?;
    let is_long =
        main.terminated_ns.is_none() && timeline.end_ns.saturating_sub(since_ns) >= long_ns;
    let Waiting::At(wait) = timeline.waiting_at_end(main) else { return None };
    let is_for_others =
        matches!(Awaited::at(wait), Awaited::Task | Awaited::Lock | Awaited::Permit);
    (is_long && is_for_others).then(|| place_label(wait))
}

impl Group {
    fn add_waiting(&mut self, spot: Spot, awaited: Awaited) {
        match awaited {
            Awaited::Outside => {}
            Awaited::Lock => self.for_locks.add(spot),
            Awaited::Permit => self.for_permits.add(spot),
            Awaited::Nothing => self.for_nothing.add(spot),
            Awaited::Task => self.for_others.add(spot),
            Awaited::Unknown => {
                self.unknown += 1;
                self.for_others.add(spot);
            }
        }
    }

    fn add_other(&mut self, shutdown: Shutdown, task: &Task) {
        let (Some(ended_ns), None) = (task.terminated_ns, shutdown.cut_wait(task)) else { return };
        self.finished += 1;
        let began_ns = task.spawned_ns.unwrap_or(task.first_ns);
        self.longest_life_ns = ended_ns.saturating_sub(began_ns).max(self.longest_life_ns);
    }

    /// Returns why its tasks should have finished, and which tasks.
    fn why(&self, place: Place, main: Option<&str>) -> Option<(WhyNever, &Spots)> {
        if self.for_locks.n > 0 {
            return Some((WhyNever::Lock, &self.for_locks));
        }
        if self.for_nothing.n > 0 {
            return Some((WhyNever::NothingWakes, &self.for_nothing));
        }
        let others = &self.for_others;
        if others.n == 0 {
            return None;
        }
        if let Some(at) = main {
            let (at, is_known) = (at.to_owned(), self.unknown == 0);
            return Some((WhyNever::MainWaits { at, is_known }, others));
        }
        let longest_life_ns = self.longest_life_ns;
        let is_odd = self.finished >= OTHERS.max(others.n.saturating_mul(OTHERS_TIMES))
            && others.least_ns / TIMES_AS_FAST >= longest_life_ns
            // Most tasks that a library spawns are connections, some of which are idle.
            && !place.is_of_dependency();
        is_odd.then_some((WhyNever::OthersFinished { longest_life_ns }, others))
    }
}

impl Found {
    fn judge(&mut self, place: Place, group: &mut Group, main: Option<&str>) {
        let Some((why, spots)) = group.why(place, main) else {
            group.for_others.append(std::mem::take(&mut group.for_ends));
            group.for_others.append(std::mem::take(&mut group.idle));
            for (spots, others) in
                [(&group.for_others, &mut self.others), (&group.for_peers, &mut self.for_peers)]
            {
                let (tasks, waited_ns) = (spots.n, spots.longest_ns);
                if tasks > 0 {
                    let stuck = Stuck {
                        place,
                        tasks,
                        waited_ns,
                        at: None,
                        are_all_there: false,
                        is_owed: false,
                        main_at: main.map(str::to_owned),
                        still_there: None,
                        asked: None,
                    };
                    others.push((stuck, spots.longest.clone()));
                }
            }
            return;
        };
        let never = NeverFinished {
            place,
            tasks: spots.n,
            finished: group.finished,
            waited_ns: spots.longest_ns,
            total_ns: spots.sum_ns,
            why,
            at: None,
            come_from: ComeFrom::default(),
            held_by: None,
            holds: None,
            before: None,
            spots: spots.longest.clone(),
        };
        self.never.push(never);
    }
}
