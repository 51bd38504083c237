//! The waits that tasks are in at the end, or at another moment.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::num::NonZeroU64;

use super::given_back::GivenBack;
use super::turns::Turns;
use crate::analysis::place::Place;
use crate::analysis::spots::Spot;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline, Wait, Waiting};
use crate::util::sort::by_key;

/// The tasks that wait at the end, or at another moment, by their waits. There are few different waits, even of very many tasks.
pub(in crate::analysis) struct LastWaits<'a> {
    timeline: &'a Timeline,
    all: Vec<(&'a Wait, Vec<Spot>)>,
    /// The moment, in ns.
    at_ns: u64,
    given_back: OnceCell<GivenBack>,
    turns: OnceCell<Turns<'a>>,
}

impl<'a> LastWaits<'a> {
    pub(in crate::analysis) fn find(timeline: &'a Timeline, shutdown: Shutdown) -> Self {
        Self::collect(
            timeline,
            u64::MAX,
            &|task| match wait_to_the_end(timeline, shutdown, task)? {
                (spot, Waiting::At(wait)) => Some((spot, wait)),
                _ => None,
            },
        )
    }

    /// Finds the waits that tasks were in at this moment, as long as they had lasted.
    pub(in crate::analysis) fn at(timeline: &'a Timeline, at_ns: u64) -> Self {
        Self::collect(timeline, at_ns, &|task| {
            let after = task.polls.partition_point(|poll| poll.start_ns() <= at_ns);
            let before = &task.polls[after.checked_sub(1)?];
            let start_ns = before.end_ns().filter(|&end_ns| end_ns <= at_ns)?;
            let spot = Spot { task: task.key, start_ns, length_ns: at_ns - start_ns };
            let next_ns = match task.polls.get(after) {
                Some(next) => next.ready_ns().or(Some(next.start_ns())),
                None => task.ready_ns.map(NonZeroU64::get).or(task.terminated_ns),
            };
            let waits = next_ns.is_none_or(|next_ns| next_ns > at_ns);
            waits.then_some((spot, timeline.wait(before.wait()?)?))
        })
    }

    /// Collects the waits of tasks. `wait_of` returns the one of a task.
    fn collect(
        timeline: &'a Timeline,
        at_ns: u64,
        wait_of: &dyn Fn(&Task) -> Option<(Spot, &'a Wait)>,
    ) -> Self {
        let mut all: Vec<(&'a Wait, Vec<Spot>)> = Vec::new();
        for wait in &timeline.places.waits {
            all.push((wait, Vec::new()));
        }
        let index = |wait: &Wait| {
            let first = timeline.places.waits.as_ptr().addr();
            (std::ptr::from_ref(wait).addr() - first) / size_of::<Wait>()
        };
        for task in timeline.tasks.one_by_one() {
            if let Some((spot, wait)) = wait_of(&task) {
                all[index(wait)].1.push(spot);
            }
        }
        all.retain(|(_, spots)| !spots.is_empty());
        for (_, spots) in &mut all {
            by_key(spots, |spot| (Reverse(spot.length_ns), spot.task));
        }
        Self { timeline, all, at_ns, given_back: OnceCell::new(), turns: OnceCell::new() }
    }

    /// Returns the waits that tasks have been in for `long_ns` or longer, each with these tasks: at least one.
    pub(in crate::analysis) fn long(
        &self,
        long_ns: u64,
    ) -> impl Iterator<Item = (&'a Wait, &[Spot])> {
        self.all.iter().filter_map(move |(wait, spots)| {
            let long = &spots[..spots.partition_point(|spot| spot.length_ns >= long_ns)];
            (!long.is_empty()).then_some((*wait, long))
        })
    }

    pub(in crate::analysis) fn timeline(&self) -> &'a Timeline {
        self.timeline
    }

    /// Returns when tasks gave mutexes back up to that moment.
    pub(super) fn given_back(&self) -> &GivenBack {
        self.given_back.get_or_init(|| GivenBack::until(self.timeline, self.at_ns))
    }

    /// Returns the waits in which tasks wait only for their turn to receive.
    pub(in crate::analysis) fn turns(&self) -> &Turns<'a> {
        self.turns.get_or_init(|| {
            let mut turns = Turns::default();
            self.long(0).for_each(|(wait, _)| turns.add(wait));
            // A sender that is dropped with `main` ends the wait of whoever receives, but not those of the others.
            let main_ns = last_poll_of_main_ns(self.timeline).filter(|_| self.at_ns == u64::MAX);
            if let Some(main_ns) = main_ns {
                Self::at(self.timeline, main_ns).long(0).for_each(|(wait, _)| turns.add(wait));
            }
            turns
        })
    }

    /// Returns where the task that has waited longest in this wait was spawned.
    pub(in crate::analysis) fn place(&self, wait: &Wait) -> Option<Place> {
        let (_, spots) = self.all.iter().find(|(other, _)| std::ptr::eq(*other, wait))?;
        let tasks = &self.timeline.tasks;
        Some(Place::of_task(&tasks.at(tasks.position(spots.first()?.task)?)))
    }
}

/// Returns the start of the last poll of the root future that ended last, in ns; `None` if one is alive, or none is known.
fn last_poll_of_main_ns(timeline: &Timeline) -> Option<u64> {
    let ended_ns = Shutdown::from_timeline(timeline).begins_ns()?;
    let is_last =
        |task: &&Task| matches!(task.key, TaskKey::Root(_)) && task.terminated_ns == Some(ended_ns);
    Some(timeline.tasks.seen().iter().find(is_last)?.polls.last()?.start_ns())
}

/// Returns the wait that a spawned task was in at the end, or in which it was dropped with its runtime.
pub(in crate::analysis) fn wait_to_the_end<'a>(
    timeline: &'a Timeline,
    shutdown: Shutdown,
    task: &Task,
) -> Option<(Spot, Waiting<'a>)> {
    if let Some(cut) = shutdown.cut_wait(task) {
        let spot = Spot { task: task.key, start_ns: cut.since_ns, length_ns: cut.for_ns() };
        return Some((spot, timeline.waiting(cut.wait)));
    }
    // A task that is ready only waits for a worker.
    if task.terminated_ns.is_some() || task.ready_ns.is_some() {
        return None;
    }
    let is_quiet = task.polls.is_empty() && task.carried_wait.is_none();
    let since_ns = match is_quiet && task.first_state == TaskState::Waiting {
        true => task.first_ns,
        false => task.last_wait_since_ns()?,
    };
    let length_ns = timeline.end_ns.saturating_sub(since_ns);
    let spot = Spot { task: task.key, start_ns: since_ns, length_ns };
    Some((spot, timeline.waiting_at_end(task)))
}

/// Returns since when a task has waited at the end, and its wait; `None` if it doesn't wait, or where isn't known.
#[inline(never)]
pub(in crate::analysis) fn waits_to_the_end(
    timeline: &Timeline,
    shutdown: Shutdown,
    task: TaskKey,
) -> Option<(Spot, &Wait)> {
    let task = timeline.tasks.at(timeline.tasks.position(task)?);
    match wait_to_the_end(timeline, shutdown, &task)? {
        (spot, Waiting::At(wait)) => Some((spot, wait)),
        _ => None,
    }
}
