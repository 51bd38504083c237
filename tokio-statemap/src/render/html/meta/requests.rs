//! The table of requests, as JSON.

use crate::analysis::picture::{Origin, Section};
use crate::trace::requests::{Parts, Request, RequestSpan};
use crate::util::json::{Raw, array, object};

/// Returns the requests of a section; `None` if there are none. `whole` rounds a time as the page's columns do.
pub(super) fn requests(
    section: &Section<'_>,
    origin: &Origin<'_>,
    whole: &dyn Fn(u64) -> u64,
) -> Option<Raw> {
    let requests = section.requests.as_ref()?;
    let places = section.places();
    let one = |span: &RequestSpan| {
        let run = origin.run();
        let row = run.and_then(|run| run.tasks.position(span.task?));
        let place = row.and_then(|row| places.get(row).copied());
        // Only a part of the run may be shown.
        let shown = run.and_then(|run| {
            let drawn = |ns: u64| whole(ns - run.begin_ns + origin.from_ns);
            let (from_ns, to_ns) = span.within(run.begin_ns, run.end_ns)?;
            Some((drawn(from_ns), drawn(to_ns)))
        });
        let is_early = run.is_some_and(|run| span.opened_ns < run.begin_ns);
        object(&[
            ("isEarly", &is_early),
            ("parts", &parts(&span.parts)),
            ("row", &place),
            ("shown", &shown),
        ])
    };
    let row = |row: &Request| {
        let of = row.times;
        let times = [of.mean_ns, of.p50_ns, of.p90_ns, of.p99_ns, of.longest_ns];
        object(&[
            ("count", &row.count),
            ("longest", &array(&row.longest, one)),
            ("name", &row.to_string()),
            ("own", &row.own_ns),
            ("parts", &parts(&row.parts)),
            ("running", &row.running_ns),
            ("slowest", &parts(&row.slowest)),
            ("target", &row.target),
            ("times", &times),
            ("total", &row.total_ns),
        ])
    };
    Some(object(&[
        ("cut", &requests.cut),
        ("lost", &requests.lost),
        ("open", &requests.open),
        ("rows", &array(&requests.rows, row)),
    ]))
}

fn parts(parts: &Parts) -> Raw {
    let causes =
        array(&parts.causes, |cause| (cause.state.name(), cause.place.clone(), cause.length_ns));
    object(&[
        ("causes", &causes),
        ("elsewhere", &parts.elsewhere_ns),
        ("length", &parts.length_ns),
        ("ready", &parts.ready_ns),
        ("running", &parts.running_ns),
        ("spans", &parts.spans),
        ("unknown", &parts.unknown_ns),
        ("waiting", &parts.waiting_ns),
    ])
}
