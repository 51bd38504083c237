//! The sums of a whole run of which only a part is kept in detail, and the part of them that the detail explains.

use std::cmp::Reverse;

use super::culprits::{Culprit, Unattributed};
use super::delay::Delay;
use super::locations::{self, LocationRow};
use super::long_polls::{self, LONGEST_POLLS, LongPoll};
use super::place::Place;
use super::poll::PollAt;
use super::sampled;
use super::spelling::Spelling;
use super::workers::WorkerShare;
use crate::trace::summary::{LocationSummary, Summary, SummedPoll, WorkerSummary};
use crate::trace::timeline::Timeline;
use crate::util::map::Map;

/// A long poll of a run, which may be kept in detail.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a> {
    /// The poll in the sums; `None` if the sums aren't needed.
    summed: Option<(&'a SummedPoll, Place)>,
    /// Its position in the timeline, if it is kept.
    pub(super) at: Option<PollAt>,
}

impl<'a> Listed<'a> {
    /// Returns a poll of the timeline.
    pub(super) fn kept(at: PollAt) -> Self {
        Self { summed: None, at: Some(at) }
    }

    fn from_sums(timeline: &Timeline, sums: &Summary, poll: &'a SummedPoll) -> Option<Self> {
        let place = place(sums.locations.get(poll.location)?);
        Some(Self { summed: Some((poll, place)), at: find(timeline, poll) })
    }

    /// Returns the own time of the poll, in ns.
    fn own_ns(self, timeline: &Timeline) -> u64 {
        let described = self.describe(timeline, &Spelling::default(), Delay::default());
        described.map_or(0, |poll| poll.own_ns)
    }

    /// Describes the poll, which delayed others by `delay`.
    pub(super) fn describe(
        self,
        timeline: &Timeline,
        spelling: &Spelling,
        delay: Delay,
    ) -> Option<LongPoll> {
        let kept = self.at.map(|at| long_polls::describe(timeline, spelling, at, delay));
        let Some((summed, place)) = self.summed else { return kept };
        let Some(kept) = kept else {
            return Some(LongPoll {
                task: summed.task,
                place: spelling.spell(place),
                frame: None,
                start_ns: summed.start_ns,
                own_ns: summed.length_ns,
                length_ns: summed.length_ns,
                worker: summed.worker,
                delay: Delay::default(),
                is_running: false,
                is_cut: summed.is_cut,
                is_kept: false,
            });
        };
        // The length is taken from the sums, as the detail may have only a part of the poll.
        let (start_ns, length_ns, is_cut) = (summed.start_ns, summed.length_ns, summed.is_cut);
        let own_ns = length_ns.saturating_sub(kept.length_ns.saturating_sub(kept.own_ns));
        let is_cut = is_cut && !kept.is_running;
        Some(LongPoll { start_ns, own_ns, length_ns, is_cut, ..kept })
    }
}

/// Returns the longest polls of the run by own time, or by wall time for polls that aren't kept, whose own time isn't
/// known.
pub(super) fn longest<'a>(timeline: &Timeline, sums: &'a Summary) -> Vec<Listed<'a>> {
    let mut ranked = Vec::new();
    for poll in &sums.longest_polls {
        if let Some(listed) = Listed::from_sums(timeline, sums, poll) {
            ranked.push((listed.own_ns(timeline), listed));
        }
    }
    // The sort is stable: of equals, the one that is first in the sums comes first.
    crate::util::sort::by_key(&mut ranked, |(own_ns, _)| Reverse(*own_ns));
    let mut longest = Vec::new();
    for (_, listed) in &ranked[..ranked.len().min(LONGEST_POLLS)] {
        longest.push(*listed);
    }
    longest
}

/// Returns the longest of the long polls that held no worker.
pub(super) fn off_worker<'a>(timeline: &Timeline, sums: &'a Summary) -> Option<Listed<'a>> {
    let long_poll_ns = timeline.settings.long_poll.as_nanos();
    let mut longest: Option<(u64, Listed<'_>)> = None;
    for poll in &sums.longest_polls {
        if u128::from(poll.length_ns) <= long_poll_ns {
            break;
        }
        if poll.worker.is_some() {
            continue;
        }
        let Some(listed) = Listed::from_sums(timeline, sums, poll) else { continue };
        let own_ns = listed.own_ns(timeline);
        if u128::from(own_ns) <= long_poll_ns {
            continue;
        }
        // If two are equal, the first stays.
        if longest.is_none_or(|(longest_ns, _)| own_ns > longest_ns) {
            longest = Some((own_ns, listed));
        }
    }
    longest.map(|(_, listed)| listed)
}

/// Returns the position of a poll in the timeline, if it or a part of it is kept.
fn find(timeline: &Timeline, poll: &SummedPoll) -> Option<PollAt> {
    let tasks = timeline.tasks.seen();
    let index = tasks.binary_search_by_key(&poll.task, |task| task.key).ok()?;
    let polls = &tasks[index].polls;
    let next = polls.partition_point(|kept| kept.start_ns() < poll.start_ns);
    let kept = polls.get(next)?;
    let is_it = kept.start_ns() == poll.start_ns;
    let is_part = kept.is_cut_left() && kept.start_ns() - poll.start_ns < poll.length_ns;
    (is_it || is_part).then_some((index, next))
}

/// Returns the rows of all spawn locations. `kept` has the rows of what is kept in detail.
pub(super) fn rows(sums: &Summary, kept: &[LocationRow], knows_ready: bool) -> Vec<LocationRow> {
    let mut places: Map<Place, usize> = Map::default();
    for (index, row) in kept.iter().enumerate() {
        places.insert(row.place, index);
    }
    let mut is_summed = vec![false; kept.len()];
    let mut rows = Vec::with_capacity(sums.locations.len());
    for location in &sums.locations {
        let mut of_it = None;
        if let Some(&index) = places.get(&place(location)) {
            if !std::mem::replace(&mut is_summed[index], true) {
                of_it = Some(&kept[index]);
            }
        }
        rows.push(row(location, of_it, knows_ready));
    }
    // The sums include everything that is kept, unless the file was edited.
    for (index, row) in kept.iter().enumerate() {
        if !is_summed[index] {
            rows.push(*row);
        }
    }
    locations::sort(&mut rows);
    rows
}

fn row(sums: &LocationSummary, kept: Option<&LocationRow>, knows_ready: bool) -> LocationRow {
    // Tasks that are ready at the end have had no poll yet, so the sums don't include them.
    let is_ready_known = knows_ready && !sums.ready.steps.is_empty();
    let longest_ready_ns = is_ready_known.then_some(sums.ready.longest_ns);
    let [most_polls_of_a_task, kept_long_polls, kept_long_polls_ns] = match kept {
        Some(row) => [row.most_polls_of_a_task, row.long_polls, row.long_polls_ns],
        None => [0; 3],
    };
    LocationRow {
        place: place(sums),
        tasks: sums.tasks,
        polls: sums.polls.count(),
        worker_polls: sums.worker_polls,
        held_ns: sums.held_ns,
        most_polls_of_a_task,
        off_worker_ns: sums.off_worker_ns,
        longest_ns: sums.polls.longest_ns,
        p50_ns: sums.polls.percentile(50),
        p99_ns: sums.polls.percentile(99),
        longest_ready_ns: longest_ready_ns.max(kept.and_then(|row| row.longest_ready_ns)),
        long_polls: sums.long_polls,
        long_polls_ns: sums.long_polls_ns,
        kept_long_polls,
        kept_long_polls_ns,
    }
}

/// Returns how long tasks were ready before polls, in ns, summed over tasks.
pub(super) fn ready_ns(sums: &Summary) -> u128 {
    let mut sum_ns = 0;
    for location in &sums.locations {
        sum_ns += u128::from(location.ready_sum_ns);
    }
    sum_ns
}

pub(super) fn workers(sums: &Summary) -> Vec<WorkerShare> {
    let mut shares = Vec::with_capacity(sums.workers.len());
    for &WorkerSummary { index, running_ns, parked_ns, parks, .. } in &sums.workers {
        shares.push(WorkerShare { index, running_ns, parked_ns, parks });
    }
    shares
}

/// Returns the locations that are to blame for long polls none of which is kept in detail, or at least not the one that
/// did harm. The one that held workers longest comes first. The dropped polls of other locations without a culprit go
/// to `unattributed`: the machine may account for them, or it accounts for all polls of the location that are kept.
pub(super) fn unexplained(
    timeline: &Timeline,
    sums: &Summary,
    rows: &[LocationRow],
    culprits: &[Culprit],
    unattributed: &mut Unattributed,
) -> Vec<LocationRow> {
    let mut blamed = Vec::new();
    for row in rows {
        if row.long_polls <= row.kept_long_polls {
            continue;
        }
        let has_culprit = culprits.iter().any(|culprit| culprit.place == row.place);
        let is_blamed = match row.kept_long_polls {
            0 => sampled::is_blamed_without_sample(timeline, row),
            // Facts about shorter polls, or about an end of the longest, don't explain the longest.
            _ => {
                !has_culprit
                    && sampled::did_longest_harm(timeline, row)
                    && !has_longest(timeline, sums, row)
            }
        };
        if is_blamed {
            blamed.push(*row);
        } else if !has_culprit {
            let Unattributed { dropped_polls, dropped_ns, .. } = unattributed;
            *dropped_polls = dropped_polls.saturating_add(row.long_polls - row.kept_long_polls);
            let ns = row.long_polls_ns.saturating_sub(row.kept_long_polls_ns);
            *dropped_ns = dropped_ns.saturating_add(ns);
        }
    }
    crate::util::sort::by_key(&mut blamed, |row| (Reverse(row.long_polls_ns), row.place));
    blamed
}

/// Returns whether a location none of whose long polls is kept did more harm than the culprit, as far as that is known:
/// how long its polls held workers is known, but not which tasks waited meanwhile.
pub(super) fn is_worse(row: &LocationRow, culprit: Option<&Culprit>) -> bool {
    culprit.is_none_or(|culprit| u128::from(row.long_polls_ns) > culprit.harm_ns())
}

/// Returns whether most of the longest poll of a location is kept in detail.
fn has_longest(timeline: &Timeline, sums: &Summary, row: &LocationRow) -> bool {
    let is_of = |poll: &&SummedPoll| {
        sums.locations.get(poll.location).is_some_and(|of| place(of) == row.place)
    };
    let Some(longest) = sums.longest_polls.iter().find(is_of) else { return true };
    find(timeline, longest).is_some_and(|(task, poll)| {
        let poll = &timeline.tasks.seen()[task].polls[poll];
        timeline.held_ns(poll) > longest.length_ns / 2
    })
}

fn place(location: &LocationSummary) -> Place {
    Place::new(location.location, location.is_root)
}
