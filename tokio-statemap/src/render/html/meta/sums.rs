//! The sums of the whole run as JSON, in columns.

use crate::analysis::picture::{Bins, PlaceSums, WholeRun};
use crate::util::json::{Raw, array, object};

/// `whole` rounds a time to the page's units.
pub(super) fn sums(run: &WholeRun, whole: &dyn Fn(u64) -> u64) -> Raw {
    // A column of the stretches.
    let column = |of: fn(&_) -> u64| array(&run.stretches, of);
    // Recording is nearly never stopped.
    let is_stopped = run.stretches.iter().any(|stretch| stretch.stopped_ns > 0);
    let stopped = is_stopped.then(|| column(|stretch| stretch.stopped_ns));
    object(&[
        ("alive", &column(|stretch| safe(stretch.alive))),
        // The place of the longest poll, from 1 on; 0 if no poll began.
        ("at", &column(|stretch| stretch.longest.map_or(0, |(_, at)| at as u64 + 1))),
        ("dropped", &array(&run.dropped, |&(a, b)| (whole(a), whole(b)))),
        ("from", &run.from_ns),
        ("held", &column(|stretch| safe(stretch.held_ns))),
        ("longest", &column(|stretch| stretch.longest.map_or(0, |(ns, _)| safe(ns)))),
        ("places", &array(&run.places, place)),
        ("polls", &column(|stretch| safe(stretch.polls))),
        ("stopped", &stopped),
        ("stretch", &safe(run.stretch_ns)),
        ("workers", &run.workers),
    ])
}

/// Limits a number to those that JavaScript represents exactly: a file may have any.
fn safe(n: u64) -> u64 {
    const LARGEST: u64 = (1 << 53) - 1;
    n.min(LARGEST)
}

fn place(place: &PlaceSums) -> Raw {
    object(&[
        ("held", &safe(place.held_ns)),
        ("label", &place.label),
        ("lengths", &place.lengths.as_ref().map(bins)),
        ("longest", &safe(place.longest_ns)),
        ("p99", &place.p99_ns.map(safe)),
        ("polls", &safe(place.polls)),
        ("ready", &place.longest_ready_ns.map(safe)),
        ("tasks", &safe(place.tasks)),
        ("waits", &place.readies.as_ref().map(bins)),
    ])
}

/// Lists where each bin that has values begins, in ns, and how many it has; and the 50th, 90th and 99th
/// percentiles.
fn bins(of: &Bins) -> Raw {
    let [p50, p90, p99] = of.quantiles_ns;
    object(&[
        ("bins", &array(&of.bins, |&(from_ns, n)| (from_ns, safe(n)))),
        ("p50", &safe(p50)),
        ("p90", &safe(p90)),
        ("p99", &safe(p99)),
    ])
}
