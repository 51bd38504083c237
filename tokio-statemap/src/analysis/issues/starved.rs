//! Starved tasks: they were ready for long while the workers polled others, and no long poll is to blame for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::lengths::Lengths;
use super::spots::{Spot, Spots};
use crate::analysis::long_polls::ready_since;
use crate::analysis::place::Place;
use crate::trace::timeline::Timeline;

/// Tasks of one spawn location that were ready for long while the workers were busy with short polls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Starved {
    /// Where they were spawned.
    pub place: Place,
    /// How often one of them was ready for so long.
    pub times: u64,
    /// How long in sum, in ns.
    pub total_ns: u64,
    /// The longest, in ns, and since when, in ns.
    pub longest_ns: u64,
    /// When that began, in ns.
    pub longest_at_ns: u64,
    /// Which part of that time polls held the workers, of one worker: from 0 to the number of workers.
    pub busy_workers: f64,
    /// How long one must be ready to be counted, in ns.
    pub least_ns: u64,
}

/// For how long a task must have been ready: so many times `long_poll`, and at least this, in ns.
const LONG_POLLS: u128 = 100;
const LEAST_NS: u64 = 100_000_000;

/// Of how many spawn locations it is looked into what the workers did meanwhile: of the first.
const MOST_PLACES: usize = 8;

/// Which part of a wait the workers must have been busy, one of them at least, and which part of it long polls may last.
const BUSY_PART: u64 = 2;
const LONG_PART: u64 = 2;

/// The spawn locations, that with the longest waits in sum first.
pub(super) fn find(timeline: &Timeline) -> Vec<(Starved, Vec<Spot>, Lengths)> {
    let least_ns = timeline.long_poll.as_nanos().saturating_mul(LONG_POLLS);
    let Ok(least_ns) = u64::try_from(least_ns).map(|ns| ns.max(LEAST_NS)) else {
        return Vec::new();
    };
    if !timeline.schedule_latency {
        return Vec::new();
    }
    let mut candidates: Vec<_> = waits(timeline, least_ns).into_iter().collect();
    let sum = |lengths: &[u64]| lengths.iter().map(|&ns| u128::from(ns)).sum::<u128>();
    candidates.sort_by_key(|(place, of)| (Reverse(sum(&of.1)), *place));
    candidates.truncate(MOST_PLACES);
    let spans: Vec<(u64, u64)> = candidates
        .iter()
        .filter_map(|(_, (spots, _))| spots.longest.first())
        .map(|spot| (spot.start_ns, spot.start_ns.saturating_add(spot.length_ns)))
        .collect();
    let meanwhile = meanwhile(timeline, &spans);
    let found = candidates.into_iter().zip(meanwhile).filter_map(|((place, of), polled)| {
        let (spots, lengths) = of;
        let longest = *spots.longest.first()?;
        let is_busy = polled.all_ns >= u128::from(longest.length_ns / BUSY_PART);
        let is_explained = polled.long_ns >= u128::from(longest.length_ns / LONG_PART);
        let starved = Starved {
            place,
            times: spots.n,
            total_ns: lengths.iter().fold(0, |sum: u64, &ns| sum.saturating_add(ns)),
            longest_ns: longest.length_ns,
            longest_at_ns: longest.start_ns,
            busy_workers: polled.all_ns as f64 / longest.length_ns.max(1) as f64,
            least_ns,
        };
        (is_busy && !is_explained).then(|| (starved, spots.longest, Lengths::of(lengths)))
    });
    found.collect()
}

/// The waits of tasks for workers that took so long, by spawn location.
fn waits(timeline: &Timeline, least_ns: u64) -> BTreeMap<Place, (Spots, Vec<u64>)> {
    let mut places: BTreeMap<Place, (Spots, Vec<u64>)> = BTreeMap::new();
    for task in timeline.tasks.seen() {
        let mut add = |index: usize, until_ns: u64| {
            let Some(start_ns) = ready_since(timeline, task, index) else { return };
            let length_ns = until_ns.saturating_sub(start_ns);
            if length_ns >= least_ns {
                let (spots, lengths) = places.entry(Place::of(task)).or_default();
                spots.add(Spot { task: task.key, start_ns, length_ns });
                lengths.push(length_ns);
            }
        };
        for (index, poll) in task.polls.iter().enumerate() {
            if poll.worker().is_some() {
                add(index, poll.start_ns());
            }
        }
        add(task.polls.len(), task.terminated_ns.unwrap_or(timeline.end_ns));
    }
    places
}

/// What the workers did in a span of time: how long they were in polls, each worker for itself, and how long one of
/// them was in a long one, whoever is to blame for that.
#[derive(Clone, Default)]
struct Polled {
    all_ns: u128,
    long_ns: u128,
}

fn meanwhile(timeline: &Timeline, spans: &[(u64, u64)]) -> Vec<Polled> {
    let mut polled = vec![Polled::default(); spans.len()];
    if spans.is_empty() {
        return polled;
    }
    let mut long: Vec<(u64, u64)> = Vec::new();
    for task in timeline.tasks.seen() {
        for poll in task.polls.iter().filter(|poll| poll.worker().is_some()) {
            let length_ns = timeline.held_ns(poll);
            let (from, to) = (poll.start_ns(), poll.start_ns().saturating_add(length_ns));
            for (span, polled) in spans.iter().zip(&mut polled) {
                polled.all_ns += u128::from(overlap(*span, (from, to)));
            }
            if u128::from(length_ns) > timeline.long_poll.as_nanos() {
                long.push((from, to));
            }
        }
    }
    long.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (from, to) in long {
        match merged.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => merged.push((from, to)),
        }
    }
    for (span, polled) in spans.iter().zip(&mut polled) {
        polled.long_ns = merged.iter().map(|&long| u128::from(overlap(*span, long))).sum();
    }
    polled
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> u64 {
    a.1.min(b.1).saturating_sub(a.0.max(b.0))
}
