//! What is in the picture, seen once from end to end: totals, and the rows that matter most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::columns::{Scale, spans};
use crate::analysis::picture::{
    Picture, PointsAt, Role, Section, SectionKind, Seen, Why, recorded_ns,
};

/// The cells in which it is kept where a worker was held.
pub(super) const CELLS: usize = 2048;

/// Why a row is drawn rather than another: the larger the sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// `main`.
    is_root: bool,
    /// It has the poll or wait that the verdict is about.
    is_worst: bool,
    /// The own time of its longest poll, if that is long.
    longest_ns: u64,
    /// How long it was running or ready.
    busy_ns: u64,
    changes: u32,
    /// Of equals the one that begins first.
    begin_ns: Reverse<u64>,
}

/// Where a row stands in its section: by group; tasks with long polls first, the others by time.
pub(super) type Order = (u32, Reverse<u64>, u64, u32);

/// A row that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    rank: Rank,
    /// Its index in the source.
    pub(super) row: u32,
    /// Its group.
    pub(super) group: u32,
}

impl Candidate {
    /// Where it stands in a section of this kind.
    pub(super) fn order(&self, kind: SectionKind) -> Order {
        match kind {
            SectionKind::Tasks => {
                (self.group, Reverse(self.rank.longest_ns), self.rank.begin_ns.0, self.row)
            }
            // These have an order of their own.
            SectionKind::Workers | SectionKind::Blocking | SectionKind::Other => {
                (self.group, Reverse(0), 0, self.row)
            }
        }
    }
}

/// What is in one section.
#[derive(Debug)]
pub(super) struct SectionSurvey {
    /// How long its rows were in each state, in ns, for each group, without the gaps in the recording.
    pub(super) totals: Vec<Vec<u128>>,
    /// How long its rows bore each tag, in ns.
    pub(super) tags: Vec<u128>,
    /// The rows that matter most, best first.
    pub(super) candidates: Vec<Candidate>,
    /// Whether it is known which polls were on workers: only those can hold one.
    pub(super) has_workers: bool,
    /// How much of its polls isn't their own: see [`Why::lost`](crate::analysis::picture::Why::lost).
    lost: HashMap<(u32, u64), u64>,
}

impl SectionSurvey {
    /// How long the poll of a row that starts then took by its own doing, of so many ns for which it held its worker.
    pub(super) fn own_ns(&self, row: u32, start_ns: u64, held_ns: u64) -> u64 {
        held_ns.saturating_sub(self.lost.get(&(row, start_ns)).copied().unwrap_or_default())
    }

    /// How long all rows were in a state, in ns.
    pub(super) fn total(&self, state: usize) -> u128 {
        self.totals.iter().map(|group| group[state]).sum()
    }

    /// How long all rows were there, in ns: in any state of `section` but those in which nothing is there any more.
    pub(super) fn whole(&self, section: &Section<'_>) -> u128 {
        let there = (0..section.states.len()).filter(|&state| !section.states[state].role.is_end());
        there.map(|state| self.total(state)).sum()
    }
}

/// A long poll; of what is pointed at a wait, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongPoll {
    pub(super) section: usize,
    pub(super) group: u32,
    /// The row, as an index into the source.
    pub(super) row: u32,
    pub(super) start_ns: u64,
    /// How long it held its worker, or how long the wait is, in ns: so it is drawn.
    pub(super) held_ns: u64,
    /// How much of that is its own, in ns: so it is ranked.
    pub(super) own_ns: u64,
    pub(super) worker: Option<u32>,
    pub(super) is_wait: bool,
}

impl LongPoll {
    /// The longest is the least; of equals that which came first.
    fn rank(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.own_ns), self.start_ns)
    }
}

/// Whether it is known to be in this row what is pointed at.
fn is_in(wanted: PointsAt, of_section: usize, of_row: u32) -> bool {
    matches!(wanted, PointsAt::First(Seen { section, row, .. }) if (section, row) == (of_section, of_row))
}

/// How a worker was held by long polls.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// When.
    pub(super) cells: Vec<bool>,
    /// The longest of these polls; there may be a few more than `TOLD`.
    longest: Vec<LongPoll>,
}

/// How many of a row's long polls are told one by one.
pub(super) const TOLD: usize = 8;

/// The longest ones, by time.
pub(super) fn longest(mut polls: Vec<LongPoll>) -> Vec<LongPoll> {
    keep_longest(&mut polls);
    polls.sort_by_key(|poll| poll.start_ns);
    polls
}

/// Leaves as many as are told.
fn keep_longest(polls: &mut Vec<LongPoll>) {
    polls.sort_by_key(LongPoll::rank);
    polls.truncate(TOLD);
}

/// Adds one, and forgets some that are not told.
pub(super) fn add(polls: &mut Vec<LongPoll>, poll: LongPoll) {
    polls.push(poll);
    if polls.len() >= 4 * TOLD {
        keep_longest(polls);
    }
}

/// A worker: the index of its run, and its own in that.
pub(super) type Worker = (usize, u32);

/// What is in a picture.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) sections: Vec<SectionSurvey>,
    /// What the first issue is about: a long poll or a wait. Where nobody says what that is, the worst poll, if it is long.
    pub(super) worst: Option<LongPoll>,
    /// What that is, if it is known beforehand.
    wanted: PointsAt,
    /// The workers that long polls held.
    pub(super) held: BTreeMap<Worker, Held>,
}

impl Survey {
    /// Walks through all of it once. `most` is how many rows of a kind can be drawn at most.
    pub(super) fn of(picture: &Picture<'_>, most: impl Fn(SectionKind) -> usize) -> Self {
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
            has_workers: section.source.knows_workers(),
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

    /// A poll that held a worker, or may have, of the run with that index.
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

    /// The longest of the polls that held a worker, by time.
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
    /// Walks through a row; says how it ranks.
    fn row(&self, picture: &Picture<'_>, found: &mut SectionSurvey, survey: &mut Survey) -> Rank {
        let mut rank = Rank {
            is_root: self.section.source.is_root(self.row),
            is_worst: is_in(survey.wanted, self.index, self.row),
            longest_ns: 0,
            busy_ns: 0,
            changes: 0,
            begin_ns: Reverse(u64::MAX),
        };
        let has_workers = found.has_workers;
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
            if held_ns <= long_poll_ns || (has_workers && begun.worker.is_none()) {
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
            // Where workers aren't known, a future of `block_on` is not said to have held one: on a
            // multi-thread runtime it never does.
            if has_workers || !rank.is_root {
                survey.found(poll, self.section.origin, picture.length_ns);
            }
        });
        rank
    }

    /// A wait in the row of what is pointed at.
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
