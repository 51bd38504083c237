//! The sums by spawn location: a bounded number of them, and the rest in one.

use crate::analysis::Place as SpawnPlace;
use crate::analysis::spelling::Spelling;
use crate::trace::summary::{Distribution, LocationSummary, Summary};

/// The most locations that are shown one by one. Each has some 25 series.
pub(super) const MOST: usize = 50;

/// The label of all other locations. No location is called so, as each has a line, or is unknown.
pub(super) const OTHER: &str = "other";

/// The bounds of buckets, in ns, and as they are written: in the one way that OpenMetrics allows.
const BOUNDS: [(u64, &str); 7] = [
    (10_000, "1e-05"),
    (100_000, "0.0001"),
    (1_000_000, "0.001"),
    (10_000_000, "0.01"),
    (100_000_000, "0.1"),
    (1_000_000_000, "1.0"),
    (10_000_000_000, "10.0"),
];

/// The sums of a spawn location, or of all others.
#[derive(Default)]
pub(super) struct Place {
    pub(super) label: String,
    pub(super) tasks: u64,
    pub(super) held_ns: u64,
    pub(super) long_polls: u64,
    pub(super) long_polls_ns: u64,
    pub(super) longest_ns: u64,
    /// The length of the longest poll that still runs.
    pub(super) running_ns: u64,
    pub(super) polls: Buckets,
    pub(super) ready: Buckets,
}

/// The number of values between the bounds, and their sum.
#[derive(Default)]
pub(super) struct Buckets {
    /// The last one is that of values beyond all bounds.
    counts: [u64; BOUNDS.len() + 1],
    pub(super) sum_ns: u64,
}

impl Buckets {
    fn add(&mut self, of: &Distribution, sum_ns: u64) {
        for &(bound, n) in &of.steps {
            let bucket = &mut self.counts[bucket(bound)];
            *bucket = bucket.saturating_add(n);
        }
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
    }

    /// Removes a value of `of`, which was added.
    fn remove(&mut self, of: &Distribution, value_ns: u64) {
        // It counts where the bound of its step does.
        let step = of.steps.iter().find(|&&(bound, _)| bound >= value_ns);
        let bucket = &mut self.counts[bucket(step.map_or(value_ns, |&(bound, _)| bound))];
        *bucket = bucket.saturating_sub(1);
    }

    pub(super) fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Returns the number of values up to each bound, and up to any.
    pub(super) fn cumulative(&self) -> Vec<(&'static str, u64)> {
        let mut all = Vec::new();
        let mut so_far: u64 = 0;
        let bounds = BOUNDS.iter().map(|&(_, text)| text).chain(["+Inf"]);
        for (bound, n) in bounds.zip(self.counts) {
            so_far = so_far.saturating_add(n);
            all.push((bound, so_far));
        }
        all
    }
}

/// Returns the place of the bucket of a value.
fn bucket(ns: u64) -> usize {
    BOUNDS.iter().position(|&(bound, _)| ns <= bound).unwrap_or(BOUNDS.len())
}

/// Returns the locations that held workers longest, and then the others as one.
pub(super) fn places(summary: &Summary) -> Vec<Place> {
    let place_of = |of: &LocationSummary| SpawnPlace::new(of.location, of.is_root);
    let spelling = Spelling::from_places(&mut summary.locations.iter().map(place_of));
    let mut places = Vec::new();
    for (number, of) in summary.locations.iter().enumerate() {
        if number < MOST {
            let label = spelling.spell(place_of(of)).to_string();
            places.push(Place { label, ..Place::default() });
        } else if number == MOST {
            places.push(Place { label: OTHER.to_owned(), ..Place::default() });
        }
        places[number.min(MOST)].add(of);
    }
    for poll in &summary.running {
        if let (Some(of), Some(place)) =
            (summary.locations.get(poll.location), places.get_mut(poll.location.min(MOST)))
        {
            place.running_ns = place.running_ns.max(poll.length_ns);
            place.polls.remove(&of.polls, poll.length_ns);
        }
    }
    places
}

impl Place {
    fn add(&mut self, of: &LocationSummary) {
        // Root futures are no tasks.
        let tasks = if of.is_root { 0 } else { of.tasks };
        self.tasks = self.tasks.saturating_add(tasks);
        self.held_ns = self.held_ns.saturating_add(of.held_ns);
        self.long_polls = self.long_polls.saturating_add(of.long_polls);
        self.long_polls_ns = self.long_polls_ns.saturating_add(of.long_polls_ns);
        self.longest_ns = self.longest_ns.max(of.polls.longest_ns);
        self.polls.add(&of.polls, of.held_ns.saturating_add(of.off_worker_ns));
        self.ready.add(&of.ready, of.ready_sum_ns);
    }
}
