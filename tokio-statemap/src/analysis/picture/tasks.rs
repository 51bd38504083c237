//! The tasks, grouped by where they were spawned.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Deref;

use super::awaits::tag_of;
use super::threads::within;
use super::{Group, RowState, Section, SectionKind, Source, Transition, pack};
use crate::analysis::{Place, Report};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Task, TaskKey, Timeline};
use crate::util::map::Map;

/// Returns the tasks: `main` first, then the spawn locations in the order of the report, the one that held the runtime longest
/// first.
pub(super) fn section<'a, T>(timeline: T, report: &Report) -> Section<'a>
where
    T: Deref<Target = Timeline> + Sync + 'a,
{
    let mut places: Vec<Place> = report.locations.iter().map(|row| row.place).collect();
    crate::util::sort::by_key(&mut places, |place| !place.is_root);
    let ranks: Map<Place, usize> =
        places.iter().enumerate().map(|(rank, place)| (*place, rank)).collect();
    // The rows of all groups, one group after the other.
    let rank = |task: &Task| ranks.get(&Place::of_task(task)).copied();
    let mut sizes = vec![0; places.len()];
    for at in timeline.tasks.one_by_one().filter_map(|task| rank(&task)) {
        sizes[at] += 1;
    }
    let mut next: Vec<usize> = Vec::with_capacity(sizes.len());
    let mut at = 0;
    for size in &sizes {
        next.push(at);
        at += size;
    }
    let mut sorted = vec![0; at];
    for (row, task) in timeline.tasks.one_by_one().enumerate() {
        let Some(rank) = rank(&task) else { continue };
        sorted[next[rank]] = row as u32;
        next[rank] += 1;
    }
    let mut groups = Vec::with_capacity(places.len());
    let (mut rows, mut lanes) = (Vec::with_capacity(at), Vec::new());
    let mut lives = Vec::new();
    let mut sorted = sorted.as_slice();
    for (place, size) in places.iter().zip(sizes) {
        let (group, rest) = sorted.split_at(size);
        sorted = rest;
        if group.is_empty() {
            // None of its tasks is kept.
            continue;
        }
        lives.clear();
        lives.extend(group.iter().map(|&row| {
            let (begin, end) = life(&timeline, &timeline.tasks.at(row as usize));
            (begin, end, row)
        }));
        let first = lanes.len();
        pack(&mut lives, &mut rows, &mut lanes);
        let (label, location) = (place.to_string(), place.location);
        groups.push(Group { label, location, lanes: first..lanes.len() });
    }
    lanes.push(rows.len() as u32);
    Section {
        states: timeline.task_states().map(RowState::from).collect(),
        groups,
        rows,
        lanes,
        ..Section::new("Tasks", SectionKind::Tasks, Box::new(Tasks(timeline)))
    }
}

/// Returns from when to when a task has its lane.
fn life(timeline: &Timeline, task: &Task) -> (u64, Option<u64>) {
    let begin = within(timeline, task.first_ns);
    let end = task.terminated_ns.map(|terminated| {
        let last = task.polls.last().map_or(task.first_ns, |p| p.end_ns().unwrap_or(p.start_ns()));
        within(timeline, terminated.max(last)).max(begin)
    });
    (begin, end)
}

struct Tasks<T>(T);

impl<T: Deref<Target = Timeline>> Tasks<T> {
    fn task(&self, row: u32) -> Cow<'_, Task> {
        self.0.tasks.at(row as usize)
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

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let task = self.task(row);
        let mut polls = task.polls.iter().peekable();
        let mut wait = task.carried_wait.and_then(|carried| carried.wait);
        for (time_ns, state) in self.0.transitions(&task) {
            let mut transition =
                Transition::new(within(&self.0, time_ns), u32::from(state.value()));
            if state == TaskState::Running {
                if let Some(poll) = polls.next_if(|poll| poll.start_ns() <= time_ns) {
                    wait = poll.wait();
                    transition.worker = poll.worker();
                    transition.held_ns =
                        self.0.handover_of(poll).map(|at| at.saturating_sub(poll.start_ns()));
                }
            } else if state == TaskState::Waiting {
                transition.tag = wait.and_then(|wait| tag_of(&self.0, wait));
            }
            each(transition);
        }
    }
}
