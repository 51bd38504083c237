//! The tasks of a timeline, up to a million of which may be idle.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use crate::recorder::capture::SourcePlace;
use crate::recorder::memory::live_tasks::LiveTask;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::snapshot::task_id;
use crate::trace::state::TaskState;
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::task::{CarriedWait, Task};
use crate::trace::wait_id::WaitId;
use crate::trace::woken_by::WokenBy;

/// The tasks of a [`Timeline`](crate::Timeline): the root futures (`main` first), then spawned
/// tasks by id.
///
/// It dereferences to a vector of [`Task`]s (136 bytes each). Until it is used as a vector, a task
/// that was alive all the time and has no recorded events takes 32 bytes: a server may have a
/// million of those. [`one_by_one`](Self::one_by_one) iterates over all tasks without creating the
/// vector, as the report, the data and the pictures do.
///
/// # Examples
///
/// ```
/// use tokio_statemap::{TaskState, Timeline};
///
/// fn count_waiting(timeline: &Timeline) -> usize {
///     let tasks = timeline.tasks.one_by_one();
///     tasks.filter(|task| task.polls.is_empty() && task.first_state == TaskState::Waiting).count()
/// }
/// ```
#[derive(Clone, Default)]
pub struct Tasks {
    /// The tasks with recorded events, and all root futures, sorted by key.
    seen: Vec<Task>,
    quiet: Quiet,
    /// The index of each of `seen` among all tasks.
    ranks: Vec<u32>,
    /// All tasks, once used as a vector; unused if all are in `seen`.
    all: OnceLock<Vec<Task>>,
}

/// The tasks that were alive all the time and have no recorded events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quiet {
    /// Sorted by id.
    pub(crate) tasks: Vec<Known>,
    pub(crate) locations: Vec<SourcePlace>,
    /// The tasks that are known to wait, sorted by id.
    pub(crate) waiting: Vec<WaitingTask>,
    pub(crate) begin_ns: u64,
}

/// A task that is known to wait.
#[derive(Clone, Debug)]
pub(crate) struct WaitingTask {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) wait: Option<CarriedWait>,
}

/// A task of a `LocalSet` that waits. The runtime calls no hooks for such tasks, which are polled within the poll of
/// another task. They are known by the clones of their wakers, as far as these are seen; otherwise, only those that were
/// spawned through this crate are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocalTask {
    /// Its id, as in [`tokio::task::Id`].
    pub id: u64,
    /// The task in whose polls it is polled.
    pub polled_in: TaskKey,
    /// Its spawn location; `None` if it was spawned by Tokio's own functions.
    pub location: Option<SpawnLocation>,
    /// The name that it was given.
    pub name: Option<Arc<str>>,
    /// The time from which on it waits, in ns. If it was spawned by Tokio's own functions, this is the time of the last
    /// poll that is known.
    pub waits_since_ns: u64,
    /// The source of its last wake, as far as that is known.
    pub woken_by: Option<WokenBy>,
    pub(crate) wait: Option<WaitId>,
}

/// A task that was spawned before what is kept begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) id: u64,
    /// The parent, numbered as in a record.
    parent: u64,
    location: u32,
    pub(crate) polled: bool,
    /// `true` if it is known to be alive.
    pub(crate) lives: bool,
    wait: Option<WaitId>,
    since_ns: u64,
}

impl Known {
    const NONE: u64 = u64::MAX;
    const NO_LOCATION: u32 = u32::MAX;

    pub(crate) fn new(id: u64, task: &LiveTask, lives: bool, ns: impl Fn(u64) -> u64) -> Self {
        let (wait, since) = task.wait.unwrap_or_default();
        Self {
            wait: WaitId::new(wait),
            since_ns: ns(since),
            id,
            parent: task.parent.unwrap_or(Self::NONE),
            location: task.location.unwrap_or(Self::NO_LOCATION),
            polled: task.polled,
            lives,
        }
    }

    pub(crate) fn location(&self) -> Option<u32> {
        (self.location != Self::NO_LOCATION).then_some(self.location)
    }

    /// Returns where it waits, if that is known.
    pub(crate) fn wait(&self) -> Option<CarriedWait> {
        self.wait.map(|wait| CarriedWait { since_ns: self.since_ns, wait: Some(wait) })
    }

    pub(crate) fn parent_id(&self) -> Option<u64> {
        (self.parent != Self::NONE).then(|| task_id(self.parent))
    }
}

impl Quiet {
    fn task(&self, index: usize) -> Task {
        let known = &self.tasks[index];
        let location = known.location().and_then(|location| self.locations.get(location as usize));
        let waiting = self.waiting(known.id);
        Task {
            key: TaskKey::Spawned(known.id),
            location: location.map(|&location| location.into()),
            parent: known.parent_id().map(TaskKey::from_id),
            spawned_ns: None,
            first_ns: self.begin_ns,
            first_state: if known.polled { TaskState::Waiting } else { TaskState::Spawned },
            terminated_ns: None,
            polls: Vec::new(),
            name: waiting.and_then(|waiting| waiting.name.clone()),
            carried_wait: match known.polled {
                true => waiting.and_then(|of| of.wait).or_else(|| known.wait()),
                false => None,
            },
            waits_since_ns: None,
            ready_ns: None,
        }
    }

    /// Returns the task with this id, if it is known to wait.
    pub(crate) fn waiting(&self, id: u64) -> Option<&WaitingTask> {
        let place = self.waiting.binary_search_by_key(&id, |waiting| waiting.id).ok()?;
        Some(&self.waiting[place])
    }

    /// Returns the number of quiet tasks with smaller keys.
    fn before(&self, key: TaskKey) -> usize {
        self.tasks.partition_point(|known| TaskKey::Spawned(known.id) < key)
    }
}

impl Tasks {
    /// Creates it from the tasks with recorded events, sorted by key, and those without.
    pub(crate) fn new(seen: Vec<Task>, quiet: Quiet) -> Self {
        let mut ranks = Vec::new();
        if !quiet.tasks.is_empty() {
            ranks.reserve_exact(seen.len());
            for (nth, task) in seen.iter().enumerate() {
                ranks.push((nth + quiet.before(task.key)) as u32);
            }
        }
        Self { seen, quiet, ranks, all: OnceLock::new() }
    }

    /// Adds the places where tasks without polls wait, and names that are in no record.
    pub(crate) fn carry_waits(&mut self) {
        if self.quiet.waiting.is_empty() {
            return;
        }
        for task in &mut self.seen {
            let waiting = match task.key {
                TaskKey::Spawned(id) => self.quiet.waiting(id),
                TaskKey::Root(0) => self.quiet.waiting(Event::ROOT),
                TaskKey::Root(further) => self.quiet.waiting(u64::MAX - u64::from(further - 1)),
            };
            let Some(waiting) = waiting else { continue };
            if task.polls.is_empty() && task.first_state == TaskState::Waiting {
                task.carried_wait = waiting.wait.or(task.carried_wait);
            }
            // Polls after the last one were dropped, or may have been.
            let last = task.polls.last_mut().filter(|_| task.waits_since_ns.is_some());
            if let (Some(last), Some(wait)) = (last, waiting.wait) {
                let is_later = last.end_ns().is_none_or(|end_ns| wait.is_after(end_ns));
                task.waits_since_ns = NonZeroU64::new(wait.since_ns).filter(|_| is_later);
                *last = last.waits_at(wait.wait);
            }
            task.name = task.name.take().or_else(|| waiting.name.clone());
        }
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.seen.len() + self.quiet.tasks.len()
    }

    /// Returns `true` if there are no tasks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over all tasks in order, without the memory that the vector takes.
    pub fn one_by_one(&self) -> impl Iterator<Item = Cow<'_, Task>> {
        let (mut seen, mut quiet) = (0, 0);
        std::iter::from_fn(move || {
            let is_seen = match self.ranks.get(seen) {
                Some(&rank) => rank as usize == seen + quiet,
                None => quiet == self.quiet.tasks.len() && seen < self.seen.len(),
            };
            if is_seen {
                seen += 1;
                Some(Cow::Borrowed(&self.seen[seen - 1]))
            } else if quiet < self.quiet.tasks.len() {
                quiet += 1;
                Some(Cow::Owned(self.quiet.task(quiet - 1)))
            } else {
                None
            }
        })
    }

    /// Returns the task at this index.
    pub(crate) fn at(&self, index: usize) -> Cow<'_, Task> {
        if self.quiet.tasks.is_empty() {
            return Cow::Borrowed(&self.seen[index]);
        }
        let seen = self.ranks.partition_point(|&rank| (rank as usize) < index);
        match self.ranks.get(seen) {
            Some(&rank) if rank as usize == index => Cow::Borrowed(&self.seen[seen]),
            _ => Cow::Owned(self.quiet.task(index - seen)),
        }
    }

    /// Returns whether a task is known, and hasn't ended.
    pub(crate) fn lives(&self, key: TaskKey) -> bool {
        self.position(key).is_some_and(|index| self.at(index).terminated_ns.is_none())
    }

    /// Returns the index of a task.
    pub(crate) fn position(&self, key: TaskKey) -> Option<usize> {
        match self.seen.binary_search_by_key(&key, |task| task.key) {
            Ok(seen) => Some(seen + self.quiet.before(key)),
            Err(seen) => {
                let quiet = self.quiet.before(key);
                let known = self.quiet.tasks.get(quiet)?;
                (TaskKey::Spawned(known.id) == key).then_some(seen + quiet)
            }
        }
    }

    /// Returns the tasks with recorded events and all root futures, sorted by key.
    pub(crate) fn seen(&self) -> &[Task] {
        &self.seen
    }

    pub(crate) fn seen_mut(&mut self) -> &mut [Task] {
        &mut self.seen
    }

    /// Iterates over the tasks without recorded events.
    pub(crate) fn quiet(&self) -> impl Iterator<Item = Task> {
        (0..self.quiet.tasks.len()).map(|index| self.quiet.task(index))
    }

    fn to_vec(&self) -> Vec<Task> {
        let mut all = Vec::with_capacity(self.len());
        for task in self.one_by_one() {
            all.push(task.into_owned());
        }
        all
    }
}

impl Deref for Tasks {
    type Target = Vec<Task>;

    fn deref(&self) -> &Vec<Task> {
        match self.quiet.tasks.is_empty() {
            true => &self.seen,
            false => self.all.get_or_init(|| self.to_vec()),
        }
    }
}

impl DerefMut for Tasks {
    fn deref_mut(&mut self) -> &mut Vec<Task> {
        if !self.quiet.tasks.is_empty() {
            let all = self.all.take().unwrap_or_else(|| self.to_vec());
            *self = Self::from(all);
        }
        &mut self.seen
    }
}

impl From<Vec<Task>> for Tasks {
    fn from(tasks: Vec<Task>) -> Self {
        Self { seen: tasks, ..Self::default() }
    }
}

impl FromIterator<Task> for Tasks {
    fn from_iter<I: IntoIterator<Item = Task>>(tasks: I) -> Self {
        Self::from(Vec::from_iter(tasks))
    }
}

impl IntoIterator for Tasks {
    type Item = Task;
    type IntoIter = std::vec::IntoIter<Task>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut *self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Tasks {
    type Item = &'a Task;
    type IntoIter = std::slice::Iter<'a, Task>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Tasks {
    type Item = &'a mut Task;
    type IntoIter = std::slice::IterMut<'a, Task>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.one_by_one()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    fn known(id: u64) -> Known {
        let mut task = LiveTask::default();
        (task.location, task.parent) = (Some(0), Some(id / 2));
        task.polled = id % 2 == 0;
        Known::new(id, &task, true, |ticks| ticks)
    }

    fn seen(key: TaskKey) -> Task {
        let quiet = Quiet { tasks: vec![known(1)], ..Quiet::default() };
        Task { key, terminated_ns: Some(9), ..quiet.task(0) }
    }

    /// Creates the root future and tasks with these ids.
    fn tasks(seen_ids: &[u64], quiet_ids: &[u64]) -> Tasks {
        let keys = seen_ids.iter().map(|&id| TaskKey::Spawned(id));
        let all = [TaskKey::Root(0)].into_iter().chain(keys).map(seen).collect();
        let locations = vec![Location::caller().into()];
        let quiet = quiet_ids.iter().map(|&id| known(id)).collect();
        Tasks::new(all, Quiet { tasks: quiet, locations, waiting: Vec::new(), begin_ns: 5 })
    }

    #[test]
    fn every_access_yields_all_tasks_in_order() {
        for (seen, quiet) in [
            (&[][..], &[][..]),
            (&[3, 4, 9], &[]),
            (&[], &[1, 2, 8]),
            (&[3, 4, 9], &[1, 2, 5, 6, 8]),
            (&[1, 2, 20], &[3, 10, 11]),
            (&[7], &[10, 11]),
        ] {
            let mut tasks = tasks(seen, quiet);
            let mut ids = [seen, quiet].concat();
            ids.sort_unstable();
            let keys: Vec<TaskKey> = [TaskKey::Root(0)]
                .into_iter()
                .chain(ids.into_iter().map(TaskKey::Spawned))
                .collect();
            assert_eq!(tasks.len(), keys.len());
            assert_eq!(tasks.one_by_one().map(|task| task.key).collect::<Vec<_>>(), keys);
            for (place, &key) in keys.iter().enumerate() {
                assert_eq!((tasks.at(place).key, tasks.position(key)), (key, Some(place)));
                let is_quiet = matches!(key, TaskKey::Spawned(id) if quiet.contains(&id));
                assert_eq!(tasks.at(place).terminated_ns.is_none(), is_quiet);
            }
            assert_eq!(tasks.position(TaskKey::Spawned(77)), None);
            assert!(tasks.all.get().is_none(), "none of that needs a vector");
            assert!(tasks.iter().eq(&tasks.to_vec()));
            assert_eq!(format!("{tasks:?}"), format!("{:?}", tasks.to_vec()));
            tasks.push(super::tests::seen(TaskKey::Spawned(100)));
            assert_eq!(tasks.len(), keys.len() + 1);
            assert_eq!(tasks.into_iter().map(|task| task.key).next(), Some(TaskKey::Root(0)));
        }
    }

    #[test]
    fn a_quiet_task_has_its_known_state() {
        let tasks = tasks(&[], &[6, 7]);
        let [even, odd] = [tasks.at(1), tasks.at(2)];
        assert_eq!((even.first_state, odd.first_state), (TaskState::Waiting, TaskState::Spawned));
        assert_eq!((even.parent, even.first_ns), (Some(TaskKey::Spawned(3)), 5));
        assert!(even.location.is_some_and(|location| location.file.ends_with("tasks.rs")));
        assert_eq!(size_of::<Known>(), 32);
    }
}
