//! The places where the tasks of a timeline wait.

use std::sync::Arc;

use crate::trace::task_key::TaskKey;
use crate::trace::timeline::Timeline;
use crate::trace::timeline::poll::Poll;
use crate::trace::timeline::task::Task;
use crate::trace::timeline::tasks::LocalTask;
use crate::trace::timeline::wait::{CallAtEnd, UnnamedWaits, Wait, Waiting};
use crate::trace::wait_id::WaitId;

/// The places where tasks wait. [`Timeline::wait_after`] and [`Timeline::waiting_at_end`] return
/// those of one task.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WaitPlaces {
    /// The number of waits whose place was not kept because there were too many places.
    pub not_kept: u64,
    /// The places, indexed by [`WaitId`]. Unused indices hold empty ones.
    pub(crate) waits: Vec<Wait>,
    /// The waits that have functions known only by address, kept so that they can be symbolized
    /// later.
    pub(crate) unnamed: Arc<UnnamedWaits>,
    /// The instrumented calls in progress at the right edge, sorted by task key.
    pub(crate) calls_at_end: Arc<Vec<(TaskKey, Vec<CallAtEnd>)>>,
}

impl Timeline {
    /// Returns the place where the task waits after `poll`; `None` if it does not wait or the place
    /// is unknown.
    ///
    /// It is known for all tasks where their wakers are seen (feature `wakes`), and otherwise for root futures and for
    /// tasks spawned through this crate.
    pub fn wait_after(&self, poll: &Poll) -> Option<&Wait> {
        self.wait(poll.wait()?)
    }

    /// Returns the place where `task` waits at the right edge; `None` if it does not wait or the
    /// place is unknown.
    pub fn wait_at_end(&self, task: &Task) -> Option<&Wait> {
        match self.waiting_at_end(task) {
            Waiting::At(wait) => Some(wait),
            _ => None,
        }
    }

    /// Returns what is known about the place where `task` waits at the right edge.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::timeline::{Timeline, Waiting};
    ///
    /// fn print_waiting(timeline: &Timeline) {
    ///     for task in timeline.tasks.one_by_one() {
    ///         if let Waiting::At(wait) = timeline.waiting_at_end(&task) {
    ///             for line in wait.lines() {
    ///                 println!("{} waits in {line}", timeline.task_name(task.key));
    ///             }
    ///         }
    ///     }
    /// }
    /// ```
    pub fn waiting_at_end(&self, task: &Task) -> Waiting<'_> {
        if task.terminated_ns.is_some() || task.ready_ns.is_some() {
            return Waiting::Unknown;
        }
        self.waiting(task.last_wait())
    }

    pub(crate) fn waiting(&self, id: Option<WaitId>) -> Waiting<'_> {
        match id {
            Some(WaitId::NOTHING) => Waiting::Nothing,
            Some(id) => self.wait(id).map_or(Waiting::Unknown, Waiting::At),
            None => Waiting::Unknown,
        }
    }

    /// Returns what is known about the place where a task of a `LocalSet` waits.
    pub fn waiting_of_local(&self, task: &LocalTask) -> Waiting<'_> {
        self.waiting(task.wait)
    }

    /// Returns the instrumented calls that a task is in at the right edge, in order of their
    /// indices.
    pub(crate) fn calls_at_end(&self, key: TaskKey) -> &[CallAtEnd] {
        let found = self.places.calls_at_end.binary_search_by_key(&key, |(key, _)| *key);
        found.map_or(&[], |place| &self.places.calls_at_end[place].1)
    }

    /// Returns all places where tasks wait.
    pub(crate) fn all_waits(&self) -> impl Iterator<Item = (WaitId, &Wait)> {
        self.places.waits.iter().enumerate().filter_map(|(index, wait)| {
            let id = WaitId::new(u16::try_from(index + 1).ok()?)?;
            (!wait.frames.is_empty()).then_some((id, wait))
        })
    }

    pub(crate) fn wait(&self, id: WaitId) -> Option<&Wait> {
        self.places.waits.get(id.index()).filter(|wait| !wait.frames.is_empty())
    }
}
