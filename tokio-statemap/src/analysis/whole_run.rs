//! The whole run, where only a part of it is kept in detail: its sums, and which of them the detail explains.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::culprits::{Culprit, Excused};
use super::harm::Delay;
use super::locations::{self, LocationRow};
use super::long_polls::{self, LONGEST_POLLS, LongPoll, PollAt};
use super::place::Place;
use super::witness;
use super::workers::WorkerShare;
use crate::trace::summary::{LocationSummary, Summary, SummedPoll};
use crate::trace::timeline::Timeline;

/// A poll that may be kept in detail.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a> {
    /// What the sums say of it; `None` where they aren't asked.
    summed: Option<(&'a SummedPoll, Place)>,
    /// Where it is in the timeline.
    pub(super) at: Option<PollAt>,
}

impl<'a> Listed<'a> {
    /// One that is looked for in the timeline alone.
    pub(super) fn kept(at: PollAt) -> Self {
        Self { summed: None, at: Some(at) }
    }

    fn of(timeline: &Timeline, sums: &Summary, poll: &'a SummedPoll) -> Option<Self> {
        let place = place(sums.locations.get(poll.location)?);
        Some(Self { summed: Some((poll, place)), at: find(timeline, poll) })
    }

    /// How long it took by its own doing, in ns.
    fn own_ns(self, timeline: &Timeline) -> u64 {
        let described = self.describe(timeline, Delay::default());
        described.map_or(0, |poll| poll.own_ns)
    }

    /// All that is said of it, by which others were delayed so.
    pub(super) fn describe(self, timeline: &Timeline, delay: Delay) -> Option<LongPoll> {
        let kept = self.at.map(|at| long_polls::describe(timeline, at, delay));
        let Some((summed, place)) = self.summed else { return kept };
        let Some(kept) = kept else {
            return Some(LongPoll {
                task: summed.task,
                place,
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
        // As the tables have it: what is kept may have only a part of it.
        let (start_ns, length_ns, is_cut) = (summed.start_ns, summed.length_ns, summed.is_cut);
        let own_ns = length_ns.saturating_sub(kept.length_ns.saturating_sub(kept.own_ns));
        let is_cut = is_cut && !kept.is_running;
        Some(LongPoll { start_ns, own_ns, length_ns, is_cut, ..kept })
    }
}

/// The longest polls of the run, by their own time as far as that is known: of those that aren't kept it is the wall time.
pub(super) fn longest<'a>(timeline: &Timeline, sums: &'a Summary) -> Vec<Listed<'a>> {
    let longest = sums.longest_polls.iter();
    let mut listed: Vec<_> = longest.filter_map(|poll| Listed::of(timeline, sums, poll)).collect();
    // Stable: of equals that which the sums have first.
    listed.sort_by_cached_key(|poll| Reverse(poll.own_ns(timeline)));
    listed.truncate(LONGEST_POLLS);
    listed
}

/// The longest of the long polls that held no worker.
pub(super) fn off_worker<'a>(timeline: &Timeline, sums: &'a Summary) -> Option<Listed<'a>> {
    let is_long = |poll: &&SummedPoll| u128::from(poll.length_ns) > timeline.long_poll.as_nanos();
    let long = sums.longest_polls.iter().take_while(is_long).filter(|poll| poll.worker.is_none());
    // Of equals the first.
    long.filter_map(|poll| Listed::of(timeline, sums, poll))
        .min_by_key(|poll| Reverse(poll.own_ns(timeline)))
}

/// Where a poll is in the timeline, if it is there, or a part of it.
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

/// The rows of all spawn locations. `kept` are those of what is kept in detail.
pub(super) fn rows(sums: &Summary, kept: &[LocationRow], knows_ready: bool) -> Vec<LocationRow> {
    let mut kept: HashMap<Place, &LocationRow> = kept.iter().map(|row| (row.place, row)).collect();
    let rows = sums.locations.iter().map(|of| row(of, kept.remove(&place(of)), knows_ready));
    let mut rows: Vec<_> = rows.collect();
    // The sums have all that is kept, unless someone changed the file.
    rows.extend(kept.into_values());
    locations::sort(&mut rows);
    rows
}

fn row(sums: &LocationSummary, kept: Option<&LocationRow>, knows_ready: bool) -> LocationRow {
    // Tasks that are ready at the end have had no poll yet that would be among the sums.
    let longest_ready_ns =
        Some(sums.ready.longest_ns).filter(|_| knows_ready && !sums.ready.steps.is_empty());
    LocationRow {
        place: place(sums),
        tasks: sums.tasks,
        polls: sums.polls.count(),
        worker_polls: sums.worker_polls,
        held_ns: sums.held_ns,
        most_polls_of_a_task: kept.map_or(0, |row| row.most_polls_of_a_task),
        off_worker_ns: sums.off_worker_ns,
        longest_ns: sums.polls.longest_ns,
        p50_ns: sums.polls.percentile(50),
        p99_ns: sums.polls.percentile(99),
        longest_ready_ns: longest_ready_ns.max(kept.and_then(|row| row.longest_ready_ns)),
        long_polls: sums.long_polls,
        long_polls_ns: sums.long_polls_ns,
        kept_long_polls: kept.map_or(0, |row| row.long_polls),
        kept_long_polls_ns: kept.map_or(0, |row| row.long_polls_ns),
    }
}

/// How long tasks were ready before polls, in ns, all of them together.
pub(super) fn ready_ns(sums: &Summary) -> u128 {
    sums.locations.iter().map(|of| u128::from(of.ready_sum_ns)).sum()
}

pub(super) fn workers(sums: &Summary) -> Vec<WorkerShare> {
    let share = |worker: &crate::trace::summary::WorkerSummary| WorkerShare {
        index: worker.index,
        running_ns: worker.running_ns,
        parked_ns: worker.parked_ns,
        parks: worker.parks,
    };
    sums.workers.iter().map(share).collect()
}

/// The locations with long polls of which none is kept in detail, or not the one that did harm, those that held workers
/// longest first. Those that the machine may account for are excused, and those of locations of which all that are kept are.
pub(super) fn unexplained(
    timeline: &Timeline,
    sums: &Summary,
    rows: &[LocationRow],
    culprits: &[Culprit],
    excused: &mut Excused,
) -> Vec<LocationRow> {
    let mut accused = Vec::new();
    for row in rows.iter().filter(|row| row.long_polls > row.kept_long_polls) {
        let is_excused = culprits.iter().all(|culprit| culprit.place != row.place);
        let accuses = match row.kept_long_polls {
            0 => witness::needs_none(timeline, row),
            // What is known of shorter ones, or of an end of it, doesn't excuse it.
            _ => {
                is_excused && witness::did_harm(timeline, row) && !has_longest(timeline, sums, row)
            }
        };
        if accuses {
            accused.push(*row);
        } else if is_excused {
            let dropped = row.long_polls - row.kept_long_polls;
            let dropped_ns = row.long_polls_ns.saturating_sub(row.kept_long_polls_ns);
            excused.dropped_polls = excused.dropped_polls.saturating_add(dropped);
            excused.dropped_ns = excused.dropped_ns.saturating_add(dropped_ns);
        }
    }
    accused.sort_by_key(|row| (Reverse(row.long_polls_ns), row.place));
    accused
}

/// Whether a location of whose long polls none is kept did more harm than the culprit, as far as that can be told: it is
/// known how long its polls held workers, but not who waited meanwhile.
pub(super) fn is_worse(row: &LocationRow, culprit: Option<&Culprit>) -> bool {
    culprit.is_none_or(|culprit| u128::from(row.long_polls_ns) > culprit.harm_ns())
}

/// Whether most of the longest poll of a location is kept in detail.
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

fn place(of: &LocationSummary) -> Place {
    Place::new(of.location, of.is_root)
}
