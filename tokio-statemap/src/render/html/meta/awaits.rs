//! The places at which tasks waited, as JSON.

use super::frames::{Names, from_1};
use crate::analysis::picture::{AwaitLine, AwaitPlace, Awaits, LocalHere, StillHere};
use crate::util::json::{Raw, array, list, object};

/// Indices that may be missing count from 1, with 0 for none. `rows` maps rows of the source to those of the
/// picture.
pub(super) fn awaits(awaits: &Awaits, rows: &[u32]) -> Raw {
    let mut names = Names::default();
    let frames = names.frames(&awaits.frames);
    object(&[
        ("frames", &frames),
        ("lines", &array(&awaits.lines, line)),
        ("names", &names.all),
        ("notes", &awaits.notes),
        ("places", &array(&awaits.places, place)),
        ("still", &array(&awaits.still, |still| still_here(still, rows))),
    ])
}

/// Writes the functions of a place, and the lines that it counts for.
fn place(place: &AwaitPlace) -> Raw {
    let functions = array(&place.functions, |function| {
        list(&[&function.frame, &from_1(function.awaited_by), &function.name])
    });
    list(&[&functions, &place.lines])
}

fn line(line: &AwaitLine) -> Raw {
    let row = &line.row;
    object(&[
        ("awaits", &row.awaits),
        ("frame", &line.frame),
        (
            "holder",
            &row.holder
                .as_ref()
                .map(|of| (of.label(), of.is_for_room, of.sentence(Some(&row.label())))),
        ),
        ("label", &row.label()),
        ("longest", &row.longest_ns),
        ("now", &row.now),
        ("p50", &row.p50_ns),
        ("p99", &row.p99_ns),
        ("times", &row.times),
        ("total", &nanos(row.total_ns)),
    ])
}

/// JavaScript represents these exactly up to 104 days.
fn nanos(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// Returns the name of a task of a `LocalSet`, its place from 1, and the source of its last wake.
fn local_here(local: &LocalHere) -> (&str, u32, Option<&str>) {
    (local.name.as_str(), from_1(local.tag), local.woken_by.as_deref())
}

fn still_here(still: &StillHere, rows: &[u32]) -> Raw {
    object(&[
        ("for", &still.for_ns),
        ("forgotten", &still.is_forgotten),
        ("local", &still.local.as_ref().map(local_here)),
        ("row", &rows[still.row as usize]),
        ("tasks", &still.tasks),
    ])
}
