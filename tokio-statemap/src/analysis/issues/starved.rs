//! Starved tasks: they were ready for long while the workers polled other tasks, and no long poll is to blame.

use std::cmp::Reverse;

use super::evidence::{Evidence, Explanation, Finding};
use crate::analysis::lengths::Lengths;
use crate::analysis::place::{Place, Places};
use crate::analysis::poll::ready_since;
use crate::analysis::spelling::Spelling;
use crate::analysis::spots::{Spot, Spots};
use crate::analysis::statement::{Statement, capitalized, tasks_of};
use crate::trace::timeline::Timeline;
use crate::util::quantity::{count, human, moment};

/// Tasks of one spawn location that were ready for long while the workers were busy with short polls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Starved {
    /// The place where they were spawned.
    pub place: Place,
    /// The number of times that one of these tasks was ready for `least_ns` or longer.
    pub times: u64,
    /// The sum of these times, in ns.
    pub total_ns: u64,
    /// The longest time, in ns.
    pub longest_ns: u64,
    /// The time at which the longest one began, in ns.
    pub longest_at_ns: u64,
    /// The average number of workers that were in polls during the longest time.
    pub busy_workers: f64,
    /// The least time that a task must be ready to be counted, in ns.
    pub least_ns: u64,
    /// The lengths of the waits.
    pub lengths: Lengths,
    spots: Vec<Spot>,
}

impl Finding for Starved {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "starved",
            noun: "wait",
            meaning: "Tasks were ready for long before they were polled, though no poll was long.",
            advice: "Spawn fewer at once (a semaphore, a JoinSet), do less in each poll, or add workers.",
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            place: Some(self.place),
            number: self.times,
            total_ns: self.total_ns,
            lengths: Some(&self.lengths),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn statement(&self) -> Statement {
        let mut said = Statement::new(format!(
            "{} starved: one was ready for {} before it was polled, though no long poll is to blame.",
            capitalized(&tasks_of(self.place)),
            human(self.longest_ns),
        ));
        if self.times > 1 {
            said.add(format!(
                "{} of over {} took {} in sum.",
                capitalized(&count(self.times, "such wait")),
                human(self.least_ns),
                human(self.total_ns),
            ));
        }
        said.add(format!(
            "The longest began at {}. Meanwhile {:.1} workers were busy with other polls.",
            moment(self.longest_at_ns),
            self.busy_workers,
        ));
        said
    }
}

/// The least time that a task must have been ready, as a multiple of `long_poll`. It must also be at least
/// [`LEAST_NS`].
const LONG_POLLS: u128 = 100;
const LEAST_NS: u64 = 100_000_000;

/// The most spawn locations for which the work of the workers meanwhile is added up: those with the longest waits.
const MOST_PLACES: usize = 8;

/// During the longest wait, polls must have taken at least 1/`BUSY_PART` of its length, summed over workers. Long polls
/// must have taken less than 1/`LONG_PART` of it.
const BUSY_PART: u64 = 2;
const LONG_PART: u64 = 2;

/// Finds the spawn locations of starved tasks, the one with the longest waits in sum first.
pub(super) fn find(timeline: &Timeline, spelling: &Spelling) -> Vec<Starved> {
    let least_ns = timeline.settings.long_poll.as_nanos().saturating_mul(LONG_POLLS);
    let Ok(least_ns) = u64::try_from(least_ns) else { return Vec::new() };
    let least_ns = least_ns.max(LEAST_NS);
    if !timeline.settings.schedule_latency {
        return Vec::new();
    }
    let mut candidates = waits(timeline, spelling, least_ns);
    crate::util::sort::by_key(&mut candidates, |waits| (Reverse(waits.sum_ns), waits.place));
    candidates.truncate(MOST_PLACES);
    // Each location has a wait.
    let longest = |waits: &Waits| waits.spots.longest[0];
    let mut spans = Vec::new();
    for waits in &candidates {
        let Spot { start_ns, length_ns, .. } = longest(waits);
        spans.push((start_ns, start_ns.saturating_add(length_ns)));
    }
    let meanwhile = meanwhile(timeline, &spans);
    let mut found = Vec::new();
    for (nth, waits) in candidates.into_iter().enumerate() {
        let (longest, polled) = (longest(&waits), &meanwhile[nth]);
        let is_busy = polled.all_ns >= u128::from(longest.length_ns / BUSY_PART);
        let is_explained = polled.long_ns >= u128::from(longest.length_ns / LONG_PART);
        if is_busy && !is_explained {
            found.push(Starved {
                place: waits.place,
                times: waits.spots.n,
                total_ns: u64::try_from(waits.sum_ns).unwrap_or(u64::MAX),
                longest_ns: longest.length_ns,
                longest_at_ns: longest.start_ns,
                busy_workers: polled.all_ns as f64 / longest.length_ns.max(1) as f64,
                least_ns,
                lengths: Lengths::from_ns(waits.lengths_ns),
                spots: waits.spots.longest,
            });
        }
    }
    found
}

/// The waits of the tasks of one spawn location for workers.
struct Waits {
    place: Place,
    spots: Spots,
    lengths_ns: Vec<u64>,
    sum_ns: u128,
}

/// Returns the waits of tasks for workers that took `least_ns` or longer, by spawn location.
fn waits(timeline: &Timeline, spelling: &Spelling, least_ns: u64) -> Vec<Waits> {
    let (mut places, mut waits) = (Places::default(), Vec::new());
    for task in timeline.tasks.seen() {
        let mut add = |index: usize, until_ns: u64| {
            let Some(start_ns) = ready_since(timeline, task, index) else { return };
            let length_ns = until_ns.saturating_sub(start_ns);
            if length_ns >= least_ns {
                let place = spelling.place(task);
                let number = places.number(place);
                if number == waits.len() {
                    let (spots, lengths_ns) = (Spots::default(), Vec::new());
                    waits.push(Waits { place, spots, lengths_ns, sum_ns: 0 });
                }
                let waits = &mut waits[number];
                waits.spots.add(Spot { task: task.key, start_ns, length_ns });
                waits.lengths_ns.push(length_ns);
                waits.sum_ns += u128::from(length_ns);
            }
        };
        for (index, poll) in task.polls.iter().enumerate() {
            if poll.worker().is_some() {
                add(index, poll.start_ns());
            }
        }
        add(task.polls.len(), task.terminated_ns.unwrap_or(timeline.end_ns));
    }
    waits
}

/// The time that workers were in polls in a span of time.
#[derive(Default)]
struct Polled {
    /// Summed over workers, in ns.
    all_ns: u128,
    /// The time that at least one worker was in a long poll, in ns.
    long_ns: u128,
}

fn meanwhile(timeline: &Timeline, spans: &[(u64, u64)]) -> Vec<Polled> {
    let mut polled = Vec::with_capacity(spans.len());
    for _ in spans {
        polled.push(Polled::default());
    }
    if spans.is_empty() {
        return polled;
    }
    let mut long: Vec<(u64, u64)> = Vec::new();
    for task in timeline.tasks.seen() {
        for poll in &task.polls {
            if poll.worker().is_none() {
                continue;
            }
            let length_ns = timeline.held_ns(poll);
            let (from, to) = (poll.start_ns(), poll.start_ns().saturating_add(length_ns));
            for (nth, polled) in polled.iter_mut().enumerate() {
                polled.all_ns += u128::from(overlap(spans[nth], (from, to)));
            }
            if u128::from(length_ns) > timeline.settings.long_poll.as_nanos() {
                long.push((from, to));
            }
        }
    }
    crate::util::sort::sort(&mut long);
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in long {
        match merged.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => merged.push((from, to)),
        }
    }
    for (nth, polled) in polled.iter_mut().enumerate() {
        for &long in &merged {
            polled.long_ns += u128::from(overlap(spans[nth], long));
        }
    }
    polled
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}
