//! Makes the table of requests from the spans of a snapshot, and splits their time by the states of their tasks.

mod causes;
mod parts;
mod silences;
#[cfg(all(test, tokio_unstable))]
mod tests;

use crate::recorder::spans::{ClosedSpan, NO_TASK};
use crate::trace::profile::PerCall;
use crate::trace::requests::{Cause, LONGEST, Parts, Request, RequestSpan, Requests};
use crate::trace::snapshot::{Snapshot, task_id};
use crate::trace::timeline::{TaskKey, Timeline};
use causes::Sums;
use parts::{SpanTimes, Splitter};

/// The most places that are kept of one kind of spans, and of a single span.
const CAUSES: usize = 8;
const CAUSES_OF_ONE: usize = 2;

/// Returns what the spans of a snapshot took. `timeline` is that of the snapshot.
pub(super) fn from_snapshot(snapshot: &Snapshot, timeline: &Timeline) -> Requests {
    let seen = &snapshot.capture.spans;
    let mut rows = Vec::new();
    let mut found = split_all(snapshot, timeline, seen.sums.len());
    for (number, sums) in seen.sums.iter().enumerate() {
        let rate = snapshot.rate();
        let Some(times) = PerCall::from_times(&sums.lengths, rate) else { continue };
        let label = &seen.labels[number];
        let Found { parts, slowest, longest } = std::mem::take(&mut found[number]);
        rows.push(Request {
            name: label.name.to_owned(),
            target: label.target.to_owned(),
            fields: label.fields.clone(),
            count: sums.lengths.count,
            times,
            total_ns: rate.length_ns(sums.lengths.sum_ticks),
            running_ns: rate.length_ns(sums.running_ticks),
            own_ns: rate.length_ns(sums.own_ticks),
            parts,
            slowest,
            longest,
        });
    }
    crate::util::sort::by(&mut rows, |a, b| {
        let order = |row: &Request| (row.total_ns, row.count);
        let name = |row: &Request| [row.name.clone(), row.fields.clone(), row.target.clone()];
        order(b).cmp(&order(a)).then_with(|| name(a).cmp(&name(b)))
    });
    Requests { rows, open: seen.open, cut: seen.cut, lost: seen.lost }
}

/// The parts of the spans of a kind, and the longest of these spans, as far as their surroundings are kept.
#[derive(Default)]
struct Found {
    parts: Parts,
    slowest: Parts,
    longest: Vec<RequestSpan>,
}

/// The least lengths of some spans of a kind, in ns.
struct Least {
    slowest_ns: u64,
    longest_ns: u64,
}

impl Least {
    fn of_lengths(lengths: &mut [u64]) -> Self {
        crate::util::sort::sort(lengths);
        let ranked = |rank: usize| rank.checked_sub(1).map_or(0, |at| lengths[at]);
        Self {
            slowest_ns: ranked((lengths.len() * 99).div_ceil(100)),
            longest_ns: ranked((lengths.len() + 1).saturating_sub(LONGEST)),
        }
    }
}

/// Returns what is known of the spans with each label.
fn split_all(snapshot: &Snapshot, timeline: &Timeline, labels: usize) -> Vec<Found> {
    let mut spans = Vec::new();
    let mut lengths = Vec::new();
    lengths.resize_with(labels, Vec::new);
    for span in &snapshot.capture.spans.newest {
        let times = in_ns(snapshot, span);
        // Before that, the states of tasks are known in moments only. What is later than the end was not read.
        if times.opened_ns >= timeline.recent_ns && times.closed_ns <= timeline.end_ns {
            lengths[span.label].push(times.closed_ns - times.opened_ns);
            spans.push((span.label, times));
        }
    }
    let mut least = Vec::with_capacity(labels);
    for lengths in &mut lengths {
        least.push(Least::of_lengths(lengths));
    }
    let mut all: Vec<[(Parts, Sums); 2]> = Vec::new();
    all.resize_with(labels, Default::default);
    let mut single: Vec<Vec<(&SpanTimes, Parts, Sums)>> = Vec::new();
    single.resize_with(labels, Vec::new);
    let mut splitter = Splitter::new(timeline);
    for (label, times) in &spans {
        let (parts, sums) = splitter.split(times);
        let [of_all, of_slowest] = &mut all[*label];
        if parts.length_ns >= least[*label].slowest_ns {
            of_slowest.0.add(&parts);
            of_slowest.1.add_all(&sums);
        }
        of_all.0.add(&parts);
        of_all.1.add_all(&sums);
        if parts.length_ns >= least[*label].longest_ns {
            single[*label].push((times, parts, sums));
        }
    }
    let texts = splitter.places.texts();
    let finish = |(mut parts, sums): (Parts, Sums), most| {
        for (state, place, length_ns) in sums.longest(most) {
            parts.causes.push(Cause { state, place: texts[place].to_owned(), length_ns });
        }
        parts
    };
    let mut found = Vec::with_capacity(labels);
    for (both, mut single) in all.into_iter().zip(single) {
        crate::util::sort::by_key(&mut single, |(times, parts, _)| {
            (u64::MAX - parts.length_ns, times.opened_ns)
        });
        // There may be more of the same length.
        single.truncate(LONGEST);
        let mut longest = Vec::with_capacity(single.len());
        for (times, parts, sums) in single {
            let is_known = |task: &TaskKey| timeline.tasks.position(*task).is_some();
            let (task, opened_ns) = (times.last_task().filter(is_known), times.opened_ns);
            longest.push(RequestSpan {
                task,
                opened_ns,
                parts: finish((parts, sums), CAUSES_OF_ONE),
            });
        }
        let [parts, slowest] = both.map(|both| finish(both, CAUSES));
        found.push(Found { parts, slowest, longest });
    }
    found
}

fn in_ns(snapshot: &Snapshot, span: &ClosedSpan) -> SpanTimes {
    let opened_ns = snapshot.ns(span.opened_ticks);
    let mut stints = Vec::with_capacity(span.stints.len());
    for stint in &*span.stints {
        let key = (stint.task != NO_TASK).then(|| TaskKey::from_id(task_id(stint.task)));
        stints.push((snapshot.ns(stint.enter_ticks), snapshot.ns(stint.exit_ticks), key));
    }
    SpanTimes {
        opened_ns,
        closed_ns: snapshot.ns(span.closed_ticks).max(opened_ns),
        stints,
        has_all: span.has_all,
    }
}

impl Parts {
    fn add(&mut self, other: &Self) {
        self.spans += other.spans;
        self.length_ns += other.length_ns;
        self.running_ns += other.running_ns;
        self.ready_ns += other.ready_ns;
        self.waiting_ns += other.waiting_ns;
        self.elsewhere_ns += other.elsewhere_ns;
        self.unknown_ns += other.unknown_ns;
    }
}
