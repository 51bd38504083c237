//! The workers and the threads of the blocking pool.

use std::fmt::Write;
use std::ops::Deref;

use super::whole_run::left_ns;
use super::{Group, Role, RowState, Section, SectionKind, Source, Transition};
use crate::trace::state::WorkerState;
use crate::trace::timeline::Timeline;

/// Returns the workers, a lane each.
pub(super) fn workers<'a, T>(timeline: T) -> Section<'a>
where
    T: Deref<Target = Timeline> + Sync + 'a,
{
    let rows = timeline.workers.len();
    let section = Section::new("Workers", SectionKind::Workers, Box::new(Workers(timeline)));
    let states = WorkerState::ALL.iter().map(|&state| RowState::from(state)).collect();
    Section { states, ..one_lane_each(rows, "workers", section) }
}

/// Returns the threads of the blocking pool, a lane each.
pub(super) fn blocking<'a, T>(timeline: T) -> Section<'a>
where
    T: Deref<Target = Timeline> + Sync + 'a,
{
    let here = RowState::new("blocking thread", WorkerState::Parked.colour(), Role::Blocking);
    let rows = timeline.pool.threads.len();
    let source = Box::new(Blocking(timeline));
    let section = Section::new("Blocking threads", SectionKind::Blocking, source);
    let states = vec![here, WorkerState::Stopped.into()];
    Section { states, ..one_lane_each(rows, "blocking threads", section) }
}

fn one_lane_each<'a>(rows: usize, label: &str, section: Section<'a>) -> Section<'a> {
    Section {
        groups: vec![Group { label: label.to_owned(), runs: None, location: None, lanes: 0..rows }],
        rows: (0..rows as u32).collect(),
        lanes: (0..=rows as u32).collect(),
        ..section
    }
}

struct Workers<T>(T);

impl<T: Deref<Target = Timeline> + Sync> Source for Workers<T> {
    fn name(&self, row: u32, to: &mut String) {
        to.push_str(&self.0.worker_name(self.0.workers[row as usize].index));
    }

    fn worker_index(&self, row: u32) -> Option<u32> {
        Some(self.0.workers[row as usize].index)
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        for &(time_ns, state) in &self.0.workers[row as usize].transitions {
            each(Transition::new(within(&self.0, time_ns), u32::from(state.value())));
        }
    }
}

struct Blocking<T>(T);

impl<T: Deref<Target = Timeline> + Sync> Source for Blocking<T> {
    fn name(&self, row: u32, to: &mut String) {
        // Writing to a string does not fail.
        let _ = write!(to, "thread-{}", self.0.pool.threads[row as usize].thread);
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let thread = &self.0.pool.threads[row as usize];
        let started = within(&self.0, thread.started_ns);
        each(Transition::new(started, 0));
        if let Some(stopped) = thread.stopped_ns {
            each(Transition::new(within(&self.0, stopped).max(started), 1));
        }
    }
}

/// Converts a time of the timeline to one of the picture.
pub(super) fn within(timeline: &Timeline, time_ns: u64) -> u64 {
    time_ns.clamp(timeline.begin_ns, timeline.end_ns) - left_ns(timeline)
}
