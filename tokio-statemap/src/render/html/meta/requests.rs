//! The table of requests, as JSON.

use crate::trace::requests::{Parts, Request, Requests};
use crate::util::json::{Raw, array, object};

pub(super) fn requests(requests: &Requests) -> Raw {
    let row = |row: &Request| {
        let of = row.times;
        let times = [of.mean_ns, of.p50_ns, of.p90_ns, of.p99_ns, of.longest_ns];
        object(&[
            ("count", &row.count),
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
    object(&[
        ("cut", &requests.cut),
        ("lost", &requests.lost),
        ("open", &requests.open),
        ("rows", &array(&requests.rows, row)),
    ])
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
