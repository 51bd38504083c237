//! Tasks that may be leaked: the number of tasks of their spawn location only grew.
//!
//! The number of tasks also grows while a program starts, and in a server that more and more clients use. So an issue
//! needs a long time, many tasks, growth in every part of that time, and older tasks that mostly do nothing.

use std::cmp::Reverse;

use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::blockers::{Awaited, waits_to_the_end};
use crate::analysis::place::{Place, Places};
use crate::analysis::spelling::Spelling;
use crate::analysis::spots::{Spot, Spots};
use crate::analysis::statement::{Statement, capitalized, n_tasks_of};
use crate::analysis::waits::place_label;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline};
use crate::util::clean::clean;
use crate::util::quantity::{count, human};

/// Tasks of one spawn location whose number only grew.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MaybeLeaked {
    /// The place where they were spawned.
    pub place: Place,
    /// The number of tasks that were alive when what is kept begins.
    pub alive_before: u64,
    /// The number of tasks that were alive at the end.
    pub alive: u64,
    /// The number of tasks that had ended by then.
    pub ended: u64,
    /// The number of tasks, among those alive, that had not been polled for a quarter of that time.
    pub idle: u64,
    /// The time for which their number grew, in ns.
    pub over_ns: u64,
    /// The line at which the task waits that has waited longest: `src/shop.rs:17, Receiver`; `None` if that isn't
    /// known.
    pub at: Option<String>,
    spots: Vec<Spot>,
}

impl Finding for MaybeLeaked {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "maybe leaked",
            noun: "task",
            meaning: "The number of these tasks only grew, and most of them do nothing any more.",
            advice: "Give them an end: a timeout, a CancellationToken, or a JoinSet that is dropped.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            place: Some(self.place),
            number: self.alive,
            total_ns: self.over_ns,
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn is_certain(&self) -> bool {
        false
    }

    fn statement(&self) -> Statement {
        let mut said = Statement::new(format!(
            "{} may be leaked: their number only grew, for {}.",
            capitalized(&n_tasks_of(self.alive, self.place)),
            human(self.over_ns),
        ));
        said.add(format!("{} of them had not been polled for a quarter of that time.", self.idle));
        said.add(match self.ended {
            0 => "None ended.".to_owned(),
            n => format!("{} ended.", count(n, "other")),
        });
        if let Some(at) = &self.at {
            said.add(format!("The one that has waited longest waits at {}.", clean(at)));
        }
        said
    }
}

/// The number of tasks must have grown for at least this time, to at least this number at the end. The time is split into
/// this number of equal parts, and the number of tasks must have grown in each of them.
const LEAST_NS: u64 = 10_000_000_000;
const LEAST_TASKS: u64 = 50;
const PARTS: usize = 8;

/// A task is idle if it wasn't polled for the last 1/`IDLE_PART` of the time. At least 1/`MOST_IDLE_PART` of the tasks
/// that are alive must be idle.
const IDLE_PART: u64 = 4;
const MOST_IDLE_PART: u64 = 2;

/// The tasks of one spawn location.
#[derive(Default)]
struct Group {
    before: u64,
    /// The numbers of tasks that were spawned, and that ended, in each part of the time.
    spawned: [u64; PARTS],
    ended: [u64; PARTS],
    /// The tasks that are alive and idle, and the time for which they are idle.
    idle: Spots,
}

/// Finds the spawn locations of tasks that may be leaked, the one with most tasks first.
pub(super) fn find(timeline: &Timeline, spelling: &Spelling) -> Vec<MaybeLeaked> {
    let shutdown = Shutdown::from_timeline(timeline);
    // Tasks that were dropped with the runtime count as alive.
    let right_ns = shutdown.begins_ns().unwrap_or(timeline.end_ns).min(timeline.end_ns);
    let left_ns = timeline.begin_ns.max(timeline.recent_ns);
    let over_ns = right_ns.saturating_sub(left_ns);
    if over_ns < LEAST_NS {
        return Vec::new();
    }
    let window = Window { timeline, left_ns, over_ns, right_ns };
    let (mut places, mut groups) = (Places::default(), Vec::new());
    for task in timeline.tasks.one_by_one() {
        if matches!(task.key, TaskKey::Spawned(_)) {
            let number = places.number(spelling.place(&task));
            if number == groups.len() {
                groups.push(Group::default());
            }
            window.add(&mut groups[number], shutdown, &task);
        }
    }
    let mut found = Vec::new();
    for (number, &place) in places.all.iter().enumerate() {
        let Some(mut leak) = groups[number].judge(place, over_ns) else { continue };
        let longest = leak.spots.first();
        let wait = longest.and_then(|spot| waits_to_the_end(timeline, shutdown, spot.task));
        leak.at = wait.map(|(_, wait)| place_label(wait)).filter(|at| !at.is_empty());
        found.push(leak);
    }
    crate::util::sort::by_key(&mut found, |leak| (Reverse(leak.alive), leak.place));
    found
}

struct Window<'a> {
    timeline: &'a Timeline,
    left_ns: u64,
    over_ns: u64,
    right_ns: u64,
}

impl Window<'_> {
    /// Returns the index of the part of the time that a moment is in.
    fn part(&self, at_ns: u64) -> usize {
        let from_left = u128::from(at_ns.saturating_sub(self.left_ns));
        let part = from_left * PARTS as u128 / u128::from(self.over_ns);
        (part as usize).min(PARTS - 1)
    }

    fn add(&self, group: &mut Group, shutdown: Shutdown, task: &Task) {
        let cut = shutdown.cut_wait(task);
        let ended_ns = if cut.is_none() { task.terminated_ns } else { None };
        if ended_ns.is_some_and(|at| at < self.left_ns) {
            return;
        }
        match task.spawned_ns {
            Some(at) if at > self.right_ns => return,
            Some(at) if at >= self.left_ns => group.spawned[self.part(at)] += 1,
            _ => group.before += 1,
        }
        if let Some(at) = ended_ns {
            group.ended[self.part(at)] += 1;
            return;
        }
        let last = task.polls.last();
        let since_ns = match last {
            Some(poll) => poll.end_ns(),
            None => Some(task.first_ns),
        };
        let Some(since_ns) = since_ns else { return };
        let length_ns = self.right_ns.saturating_sub(since_ns);
        let waiting = match cut {
            Some(cut) => self.timeline.waiting(cut.wait),
            None => self.timeline.waiting_at_end(task),
        };
        // A task that waits for a timer does what it should.
        let is_idle =
            length_ns >= self.over_ns / IDLE_PART && !Awaited::from_waiting(waiting).is_outside();
        if is_idle {
            group.idle.add(Spot { task: task.key, start_ns: since_ns, length_ns });
        }
    }
}

impl Group {
    fn judge(&mut self, place: Place, over_ns: u64) -> Option<MaybeLeaked> {
        let mut alive = self.before;
        let mut all_ended = 0;
        for part in 0..PARTS {
            let after = alive.saturating_add(self.spawned[part]).checked_sub(self.ended[part])?;
            if after <= alive {
                return None;
            }
            alive = after;
            all_ended += self.ended[part];
        }
        let is_leak = alive >= LEAST_TASKS && self.idle.n >= alive / MOST_IDLE_PART;
        is_leak.then(|| MaybeLeaked {
            place,
            alive_before: self.before,
            alive,
            ended: all_ended,
            idle: self.idle.n,
            over_ns,
            at: None,
            spots: std::mem::take(&mut self.idle.longest),
        })
    }
}
