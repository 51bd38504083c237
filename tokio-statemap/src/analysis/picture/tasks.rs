//! The tasks, grouped by where they were spawned.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Deref;

use super::awaits::tag_of;
use super::threads::within;
use super::{Group, RowState, Section, SectionKind, Source, Transition, Waker, pack};
use crate::analysis::{LocationRuns, Place, Report};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Task, TaskKey, Timeline};
use crate::trace::woken_by::WokenBy;
use crate::util::map::Map;

/// Returns the tasks: first `main`, then the spawn locations in the order of the report, in which the one that held the
/// runtime longest is first.
pub(super) fn section<'a, T>(timeline: T, report: &Report) -> Section<'a>
where
    T: Deref<Target = Timeline> + Sync + 'a,
{
    let mut places = Vec::with_capacity(report.locations.len());
    let mut ranks: Map<Place, usize> = Map::default();
    for is_root in [true, false] {
        for row in &report.locations {
            if row.place.is_root == is_root {
                ranks.insert(row.place, places.len());
                places.push(row.place);
            }
        }
    }
    // The lives of the tasks, by place.
    let mut of_places = vec![Vec::new(); places.len()];
    for (row, task) in (0..).zip(timeline.tasks.one_by_one()) {
        if let Some(&rank) = ranks.get(&Place::of_task(&task)) {
            let (begin, end) = life(&timeline, &task);
            of_places[rank].push((begin, end, row));
        }
    }
    let mut runs_of: Map<Place, &LocationRuns> = Map::default();
    for runs in &report.runs {
        runs_of.insert(runs.place, runs);
    }
    let mut groups = Vec::with_capacity(places.len());
    let (mut rows, mut lanes) = (Vec::new(), Vec::new());
    for (place, lives) in places.iter().zip(&mut of_places) {
        if lives.is_empty() {
            // None of the place's tasks is kept.
            continue;
        }
        let first = lanes.len();
        pack(lives, &mut rows, &mut lanes);
        let (label, location) = (place.to_string(), place.location);
        let runs = runs_of.get(place).map(|runs| (runs.name(), runs.to_string()));
        groups.push(Group { label, runs, location, lanes: first..lanes.len() });
    }
    lanes.push(rows.len() as u32);
    Section {
        states: timeline.task_states().iter().map(|&state| RowState::from(state)).collect(),
        groups,
        rows,
        lanes,
        ..Section::new("Tasks", SectionKind::Tasks, Box::new(Tasks(timeline)))
    }
}

/// Returns the time for which a task has its lane: from and to.
fn life(timeline: &Timeline, task: &Task) -> (u64, Option<u64>) {
    let begin = within(timeline, task.first_ns);
    let end = task.completed_ns().map(|end_ns| within(timeline, end_ns).max(begin));
    (begin, end)
}

struct Tasks<T>(T);

impl<T: Deref<Target = Timeline>> Tasks<T> {
    fn task(&self, row: u32) -> Cow<'_, Task> {
        self.0.tasks.at(row as usize)
    }

    fn waker(&self, by: WokenBy) -> Waker {
        match by {
            WokenBy::Task(task) => {
                let row = self.0.tasks.position(task);
                row.map_or(Waker::NotShown, |row| Waker::Row(row as u32))
            }
            WokenBy::Runtime => Waker::Runtime,
            WokenBy::BlockingTask => Waker::BlockingTask,
            WokenBy::Thread => Waker::Thread,
        }
    }
}

impl<T: Deref<Target = Timeline> + Sync> Source for Tasks<T> {
    fn name(&self, row: u32, to: &mut String) {
        if let Some(runtime) = &self.0.runtime {
            to.push_str(runtime);
            to.push('/');
        }
        let task = self.task(row);
        // Writing to a string does not fail.
        let _ = write!(to, "{}", task.key);
        if let Some(name) = &task.name {
            let _ = write!(to, " \"{name}\"");
        }
    }

    fn parent(&self, row: u32) -> Option<u32> {
        let parent = self.task(row).parent?;
        self.0.tasks.position(parent).map(|index| index as u32)
    }

    fn is_root(&self, row: u32) -> bool {
        matches!(self.task(row).key, TaskKey::Root(_))
    }

    fn knows_wakers(&self) -> bool {
        let mut tasks = self.0.tasks.seen().iter();
        tasks.any(|task| task.polls.iter().any(|poll| poll.woken_by().is_some()))
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let task = self.task(row);
        let mut polls = &task.polls[..];
        let mut wait = task.carried_wait.and_then(|carried| carried.wait);
        for (time_ns, state) in self.0.transitions(&task) {
            let mut transition =
                Transition::new(within(&self.0, time_ns), u32::from(state.value()));
            if state == TaskState::Running {
                match polls {
                    [poll, rest @ ..] if poll.start_ns() <= time_ns => {
                        polls = rest;
                        wait = poll.wait();
                        transition.worker = poll.worker();
                        transition.woken_by = poll.woken_by().map(|by| self.waker(by));
                        transition.held_ns =
                            self.0.handover_of(poll).map(|at| at.saturating_sub(poll.start_ns()));
                    }
                    _ => {}
                }
            } else if state == TaskState::Waiting {
                transition.tag = wait.and_then(|wait| tag_of(&self.0, wait));
            }
            each(transition);
        }
    }
}
