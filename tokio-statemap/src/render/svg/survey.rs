//! A single pass through the picture: totals, and the most important rows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::columns::{Scale, spans};
use crate::analysis::picture::{
    Picture, PointsAt, Role, Section, SectionKind, Seen, Why, recorded_ns,
};
use crate::util::map::Map;

/// The number of cells in which the held time of a worker is kept.
pub(super) const CELLS: usize = 2048;

/// The importance of a row, larger for rows that are drawn first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// `true` if it is `main`.
    is_root: bool,
    /// `true` if it has the poll or wait that the verdict names.
    is_worst: bool,
    /// The own time of its longest poll, if that is a long poll.
    longest_ns: u64,
    /// The time in which it was running or ready.
    busy_ns: u64,
    changes: u32,
    /// The earlier row precedes among equals.
    begin_ns: Reverse<u64>,
}

/// The order of rows in a section: by group; tasks with long polls first, then by start.
pub(super) type Order = (u32, Reverse<u64>, u64, u32);

/// A row that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    rank: Rank,
    /// The index of the row in the source.
    pub(super) row: u32,
    pub(super) group: u32,
}

impl Candidate {
    /// Returns the key by which rows are sorted in a section of this kind.
    pub(super) fn order(&self, kind: SectionKind) -> Order {
        match kind {
            SectionKind::Tasks => {
                (self.group, Reverse(self.rank.longest_ns), self.rank.begin_ns.0, self.row)
            }
            // These are in the order of the source.
            SectionKind::Workers | SectionKind::Blocking | SectionKind::Other => {
                (self.group, Reverse(0), 0, self.row)
            }
        }
    }
}

/// The totals and rows of one section.
#[derive(Debug)]
pub(super) struct SectionSurvey {
    /// The time in each state in ns, by group, without the gaps in the recording.
    pub(super) totals: Vec<Vec<u128>>,
    /// The time with each tag, in ns.
    pub(super) tags: Vec<u128>,
    /// The most important rows, best first.
    pub(super) candidates: Vec<Candidate>,
    /// The part of each poll that isn't its own time: see [`Why::lost`](crate::analysis::picture::Why::lost).
    lost: Map<(u32, u64), u64>,
}

impl SectionSurvey {
    /// Returns the own time of the poll of `row` that starts at `start_ns` and held its worker for `held_ns`.
    pub(super) fn own_ns(&self, row: u32, start_ns: u64, held_ns: u64) -> u64 {
        held_ns.saturating_sub(self.lost.get(&(row, start_ns)).copied().unwrap_or_default())
    }

    /// Returns the time of all rows in a state, in ns.
    pub(super) fn total(&self, state: usize) -> u128 {
        self.totals.iter().map(|group| group[state]).sum()
    }

    /// Returns the lifetime of all rows in ns: the time in all states but those after the end.
    pub(super) fn whole(&self, section: &Section<'_>) -> u128 {
        let there = (0..section.states.len()).filter(|&state| !section.states[state].role.is_end());
        there.map(|state| self.total(state)).sum()
    }
}

/// A long poll, or the wait that the verdict names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongPoll {
    pub(super) section: usize,
    pub(super) group: u32,
    /// The row, as an index into the source.
    pub(super) row: u32,
    pub(super) start_ns: u64,
    /// The time for which it held its worker, or the length of the wait, in ns. It is drawn with this length.
    pub(super) held_ns: u64,
    /// The part of `held_ns` that is its own time, in ns. Polls are ranked by it.
    pub(super) own_ns: u64,
    pub(super) worker: Option<u32>,
    pub(super) is_wait: bool,
}

impl LongPoll {
    /// Returns the rank: the longest is the least, and the earlier one among equals.
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.own_ns), self.start_ns)
    }
}

/// Returns whether the verdict is known to name a poll or wait in this row.
fn is_in(wanted: PointsAt, of_section: usize, of_row: u32) -> bool {
    matches!(wanted, PointsAt::First(Seen { section, row, .. }) if (section, row) == (of_section, of_row))
}

/// The time in which long polls held a worker.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) cells: Vec<bool>,
    /// The longest of these polls; a few more than `TOLD` may be in it.
    longest: Vec<LongPoll>,
}

/// The number of long polls of a row that are listed.
pub(super) const TOLD: usize = 8;

/// Returns the longest polls, by time.
pub(super) fn longest(mut polls: Vec<LongPoll>) -> Vec<LongPoll> {
    keep_longest(&mut polls);
    polls.sort_by_key(|poll| poll.start_ns);
    polls
}

/// Drops all but the longest.
fn keep_longest(polls: &mut Vec<LongPoll>) {
    polls.sort_by_key(LongPoll::rank);
    polls.truncate(TOLD);
}

/// Adds a poll, and drops some that aren't listed.
pub(super) fn add(polls: &mut Vec<LongPoll>, poll: LongPoll) {
    polls.push(poll);
    if polls.len() >= 4 * TOLD {
        keep_longest(polls);
    }
}

/// A worker: the index of its run and of the worker in it.
pub(super) type Worker = (usize, u32);

/// The contents of a picture.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) sections: Vec<SectionSurvey>,
    /// The long poll or wait that the first issue is about. If that isn't known, the worst long poll.
    pub(super) worst: Option<LongPoll>,
    /// The place that the verdict names.
    wanted: PointsAt,
    /// The workers that were held by long polls.
    pub(super) held: BTreeMap<Worker, Held>,
}

impl Survey {
    /// Walks through the whole picture once. `most` returns the maximum number of drawn rows in a section.
    pub(super) fn new(picture: &Picture<'_>, most: impl Fn(SectionKind) -> usize) -> Self {
        let (sections, held) = (Vec::new(), BTreeMap::new());
        let mut survey = Self { sections, worst: None, wanted: picture.points_at(), held };
        for (index, section) in picture.sections.iter().enumerate() {
            let section = survey.section(picture, index, most(section.kind));
            survey.sections.push(section);
        }
        survey
    }

    fn section(&mut self, picture: &Picture<'_>, index: usize, most: usize) -> SectionSurvey {
        let section = &picture.sections[index];
        let mut found = SectionSurvey {
            totals: vec![vec![0; section.states.len()]; section.groups.len()],
            tags: vec![0; section.tags.len()],
            candidates: Vec::new(),
            lost: section.why.as_ref().map(Why::lost).unwrap_or_default(),
        };
        let mut best: BinaryHeap<Reverse<Candidate>> = BinaryHeap::with_capacity(most + 1);
        for (number, group) in section.groups.iter().enumerate() {
            for &row in section.group(group) {
                let walk = Walk { section, index, row, group: number as u32 };
                let rank = walk.row(picture, &mut found, self);
                best.push(Reverse(Candidate { rank, row, group: number as u32 }));
                if best.len() > most {
                    best.pop();
                }
            }
        }
        found.candidates = best.into_sorted_vec().into_iter().map(|Reverse(best)| best).collect();
        found
    }

    /// Adds a poll that held a worker, or may have, in the run with index `run`.
    fn found(&mut self, poll: LongPoll, run: usize, length_ns: u64) {
        let is_worst = match self.wanted {
            PointsAt::Longest => self.worst.is_none_or(|worst| poll.rank() < worst.rank()),
            PointsAt::First(seen) => {
                (poll.section, poll.row, poll.start_ns) == (seen.section, seen.row, seen.start_ns)
            }
            PointsAt::Nothing => false,
        };
        if is_worst {
            self.worst = Some(poll);
        }
        let Some(worker) = poll.worker else {
            return;
        };
        let held = self
            .held
            .entry((run, worker))
            .or_insert_with(|| Held { cells: vec![false; CELLS], longest: Vec::new() });
        let scale = Scale::new(length_ns, CELLS as u32);
        let (first, end) = scale.touched(poll.start_ns, poll.start_ns.saturating_add(poll.held_ns));
        held.cells[first as usize..end as usize].fill(true);
        add(&mut held.longest, poll);
    }

    /// Returns the longest polls that held a worker, by time.
    pub(super) fn longest_on(&self, worker: Worker) -> Vec<LongPoll> {
        self.held.get(&worker).map(|held| longest(held.longest.clone())).unwrap_or_default()
    }
}

struct Walk<'a> {
    section: &'a Section<'a>,
    index: usize,
    row: u32,
    group: u32,
}

impl Walk<'_> {
    /// Walks through a row. Returns its rank.
    fn row(&self, picture: &Picture<'_>, found: &mut SectionSurvey, survey: &mut Survey) -> Rank {
        let mut rank = Rank {
            is_root: self.section.source.is_root(self.row),
            is_worst: is_in(survey.wanted, self.index, self.row),
            longest_ns: 0,
            busy_ns: 0,
            changes: 0,
            begin_ns: Reverse(u64::MAX),
        };
        let long_poll_ns = picture.long_poll_ns_of(self.section);
        spans(self.section, self.row, picture.length_ns, |from, to, begun| {
            rank.changes = rank.changes.saturating_add(1);
            rank.begin_ns.0 = rank.begin_ns.0.min(from);
            let length = to - from;
            let recorded = recorded_ns(&picture.gaps, from, to);
            let totals = &mut found.totals[self.group as usize];
            if let Some(total) = totals.get_mut(begun.state as usize) {
                *total += u128::from(recorded);
            }
            if let Some(total) = begun.tag.and_then(|tag| found.tags.get_mut(tag as usize)) {
                *total += u128::from(recorded);
            }
            let role = self.section.role_of(begun.state);
            if rank.is_worst && matches!(role, Role::Waiting | Role::Ready | Role::Spawned) {
                self.found_wait(survey, from, length);
            }
            match role {
                Role::Running => rank.busy_ns = rank.busy_ns.saturating_add(length),
                Role::Ready | Role::Spawned => {
                    rank.busy_ns = rank.busy_ns.saturating_add(length);
                    return;
                }
                _ => return,
            }
            let held_ns = begun.held_ns.map_or(length, |held| held.min(length));
            if held_ns <= long_poll_ns || begun.worker.is_none() {
                return;
            }
            let own_ns = found.own_ns(self.row, from, held_ns);
            rank.longest_ns = rank.longest_ns.max(own_ns);
            let poll = LongPoll {
                section: self.index,
                group: self.group,
                row: self.row,
                start_ns: from,
                held_ns,
                own_ns,
                worker: begun.worker,
                is_wait: false,
            };
            survey.found(poll, self.section.origin, picture.length_ns);
        });
        rank
    }

    /// Records a wait in the row that the verdict names.
    fn found_wait(&self, survey: &mut Survey, start_ns: u64, length_ns: u64) {
        let PointsAt::First(seen) = survey.wanted else { return };
        if seen.start_ns == start_ns && length_ns > 0 {
            survey.worst = Some(LongPoll {
                section: self.index,
                group: self.group,
                row: self.row,
                start_ns,
                held_ns: length_ns,
                own_ns: length_ns,
                worker: None,
                is_wait: true,
            });
        }
    }
}
