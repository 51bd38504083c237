//! The SVG never exceeds its maximum size, is always well-formed, and drops no long poll.

mod columns;
mod size;
mod text;
mod xml;

use std::time::Duration;

use super::*;
use crate::analysis::Statement;
use crate::analysis::picture::{Group, Role, RowState, Section, SectionKind, Source, Transition};

const MS: u64 = 1_000_000;

/// A source of pseudorandom numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}

/// Given rows: name, worker index, transitions.
#[derive(Clone, Default)]
pub(super) struct Given {
    pub(super) rows: Vec<(String, Option<u32>, Vec<Transition>)>,
    pub(super) description: Option<String>,
}

impl Source for Given {
    fn name(&self, row: u32, to: &mut String) {
        to.push_str(&self.rows[row as usize].0);
    }

    fn description(&self, _row: u32) -> Option<&str> {
        self.description.as_deref()
    }

    fn worker_index(&self, row: u32) -> Option<u32> {
        self.rows[row as usize].1
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        self.rows[row as usize].2.iter().for_each(|&transition| each(transition));
    }
}

pub(super) const SPAWNED: u32 = 0;
pub(super) const RUNNING: u32 = 1;
pub(super) const COMPLETED: u32 = 3;

/// Returns a section of tasks in so many groups, in turns.
pub(super) fn tasks(given: Given, groups: usize) -> Section<'static> {
    let state = |name: &str, role| RowState {
        name: name.to_owned(),
        colour: Some("#DC267F".to_owned()),
        role,
    };
    let n = given.rows.len();
    let rows: Vec<u32> =
        (0..groups).flat_map(|group| (group..n).step_by(groups)).map(|row| row as u32).collect();
    let mut lane = 0;
    let groups = (0..groups).map(|group| {
        let from = lane;
        lane += (group..n).step_by(groups).count();
        Group {
            label: format!("src/g{group}.rs:1:1"),
            runs: None,
            location: None,
            lanes: from..lane,
        }
    });
    Section {
        title: "Tasks".to_owned(),
        kind: SectionKind::Tasks,
        states: vec![
            state("spawned", Role::Spawned),
            state("running", Role::Running),
            state("waiting", Role::Waiting),
            state("completed", Role::Completed),
        ],
        groups: groups.collect(),
        rows,
        lanes: (0..=n as u32).collect(),
        tags: Vec::new(),
        events: Vec::new(),
        why: None,
        issues: None,
        awaits: None,
        profile: None,
        #[cfg(has_requests)]
        requests: None,
        origin: 0,
        source: Box::new(given),
    }
}

/// Returns workers that are awake and parked in turns.
pub(super) fn workers(n: u32, length_ns: u64) -> Section<'static> {
    let state = |name: &str, role| RowState { name: name.to_owned(), colour: None, role };
    let transitions =
        (0..100).map(|i| Transition::new(i * length_ns / 100, (i % 2) as u32)).collect::<Vec<_>>();
    let rows = (0..n).map(|i| (format!("worker-{i}"), Some(i), transitions.clone())).collect();
    Section {
        title: "Workers".to_owned(),
        kind: SectionKind::Workers,
        states: vec![state("running", Role::Awake), state("parked", Role::Parked)],
        groups: vec![Group {
            label: "workers".to_owned(),
            runs: None,
            location: None,
            lanes: 0..n as usize,
        }],
        rows: (0..n).collect(),
        lanes: (0..=n).collect(),
        tags: Vec::new(),
        events: Vec::new(),
        why: None,
        issues: None,
        awaits: None,
        profile: None,
        #[cfg(has_requests)]
        requests: None,
        origin: 0,
        source: Box::new(Given { rows, description: None }),
    }
}

pub(super) fn picture(length_ns: u64, sections: Vec<Section<'static>>) -> Picture<'static> {
    Picture {
        title: "http".to_owned(),
        host: Some("box".to_owned()),
        runtime: None,
        start: Duration::from_secs(1_795_233_000),
        length_ns,
        origin_ns: 0,
        long_poll_ns: MS,
        is_ready_known: true,
        are_tasks_known: true,
        verdict: Some(Statement::new("Nothing held the runtime up.")),
        notes: vec!["One gap in the recording.".to_owned()],
        is_cut: false,
        gaps: vec![(length_ns / 3, length_ns / 2)],
        whole_run: None,
        excerpts: None,
        sections,
        origins: Vec::new(),
    }
}

/// Returns rows of random lives in random states.
pub(super) fn random_rows(random: &mut Random, rows: usize, most: u64, length_ns: u64) -> Given {
    let rows = (0..rows).map(|row| {
        let mut times: Vec<u64> =
            (0..=random.below(most)).map(|_| random.below(length_ns + 1)).collect();
        times.sort_unstable();
        let life = times.iter().map(|&time| {
            let mut transition = Transition::new(time, random.below(4) as u32);
            transition.worker = (transition.state == RUNNING).then(|| random.below(4) as u32);
            transition
        });
        (format!("task-{row}"), None, life.collect())
    });
    Given { rows: rows.collect(), description: None }
}
