//! The metadata of the page's script, as JSON.

mod awaits;
mod excerpts;
mod frames;
mod issues;
mod profile;
#[cfg(has_requests)]
mod requests;
mod sums;
mod why;

use super::chunk::{Written, unit_ns};
use crate::analysis::picture::{
    Group, Origin, Picture, RowState, Section, SectionKind, Tag, long_poll_ns,
};
use crate::trace::timeline::Timeline;
use crate::util::json::{Raw, array, list, object};

/// Returns the metadata that stands before the columns: all that is known before they are written.
pub(super) fn head(picture: &Picture<'_>) -> String {
    let unit_ns = unit_ns(picture.length_ns);
    let whole = &|ns: u64| ns / unit_ns * unit_ns;
    // Zero means that the data has no date.
    let start =
        (!picture.start.is_zero()).then(|| (picture.start.as_secs(), picture.start.subsec_nanos()));
    let head = object(&[
        ("cut", &picture.is_cut),
        ("detail", &picture.whole_run.as_ref().map(|run| list(&[&run.detail[0], &run.detail[1]]))),
        ("format", &1_u32),
        ("gaps", &array(&picture.gaps, |&(from, to)| (whole(from), whole(to)))),
        ("headline", &picture.verdict.as_ref().map(|said| &said.headline)),
        ("host", &picture.host),
        // In ns, like all times here; those of the columns are in units.
        ("length", &whole(picture.length_ns)),
        ("long", &picture.long_poll_ns),
        ("notes", &picture.notes),
        // In ns: added to times where they are shown, so that they equal the report's.
        ("origin", &picture.origin_ns),
        ("readyKnown", &picture.is_ready_known),
        ("runs", &array(&picture.origins, |origin| run(picture, origin, whole))),
        ("runtime", &picture.runtime),
        ("sections", &array(&picture.sections, |part| section(picture, part, whole))),
        ("source", &picture.excerpts.as_ref().map(excerpts::excerpts)),
        ("start", &start),
        ("sums", &picture.whole_run.as_ref().map(|run| sums::sums(run, whole))),
        ("tasksKnown", &picture.are_tasks_known),
        ("title", &picture.title),
        ("unit", &unit_ns),
        ("verdict", &picture.verdict.as_ref().map(ToString::to_string)),
    ]);
    head.into_string()
}

/// Describes a run, or other data, that sections are of.
fn run(picture: &Picture<'_>, origin: &Origin<'_>, whole: &dyn Fn(u64) -> u64) -> Raw {
    // The worst comes first in sentences and lists.
    let worse = picture.origins.iter().filter(|other| other.severity > origin.severity);
    let rank = worse.count() as u64;
    let queue = origin.run().and_then(|run| queue(run, origin.from_ns, whole));
    object(&[
        ("long", &origin.run().map(long_poll_ns)),
        ("name", &origin.name),
        ("queue", &queue),
        ("rank", &rank),
    ])
}

/// Lists when the queue of the blocking pool changed, and its length from then on; `None` if no task ever
/// waited in it.
fn queue(run: &Timeline, from_ns: u64, whole: &dyn Fn(u64) -> u64) -> Option<Raw> {
    let drawn = |ns: u64| whole(ns.clamp(run.begin_ns, run.end_ns) - run.begin_ns + from_ns);
    let queue = &run.pool.queue;
    (!queue.is_empty()).then(|| array(queue, |&(ns, waiting)| (drawn(ns), waiting)))
}

#[cfg_attr(not(has_requests), allow(unused_variables, reason = "only requests are of an origin"))]
fn section(picture: &Picture<'_>, section: &Section<'_>, whole: &dyn Fn(u64) -> u64) -> Raw {
    let kind = match section.kind {
        SectionKind::Workers => "workers",
        SectionKind::Blocking => "blocking",
        SectionKind::Tasks => "tasks",
        SectionKind::Other => "other",
    };
    let mut indices = Vec::new();
    for &row in &section.rows {
        indices.extend(section.source.worker_index(row));
    }
    let places = if section.events.is_empty() { Vec::new() } else { section.places() };
    let events = array(&section.events, |event| {
        let (row, time_ns) = (places[event.row as usize], whole(event.time_ns));
        list(&[&row, &time_ns, &event.event, &event.target])
    });
    object(&[
        ("awaits", &section.awaits.as_ref().map(|of| awaits::awaits(of, &section.places()))),
        ("events", &events),
        ("groups", &array(&section.groups, |each| group(section, each))),
        ("hasTags", &section.has_tags()),
        ("hasWakers", &section.has_wakers()),
        ("hasWorkers", &section.has_workers()),
        ("indices", &indices),
        ("issues", &section.issues.as_ref().map(|of| issues::issues(of, &section.places(), whole))),
        ("kind", &kind),
        ("profile", &section.profile.as_ref().map(profile::profile)),
        #[cfg(has_requests)]
        ("requests", &requests::requests(section, &picture.origins[section.origin], whole)),
        ("run", &section.origin),
        ("states", &array(&section.states, state)),
        ("tags", &array(&section.tags, tag)),
        ("title", &section.title),
        ("why", &section.why.as_ref().map(|of| why::why(of, &section.places(), whole))),
    ])
}

fn group(section: &Section<'_>, group: &Group) -> Raw {
    let rows = section.group(group).len();
    object(&[
        ("label", &group.label),
        ("lanes", &group.lanes.len()),
        ("rows", &rows),
        ("runs", &group.runs),
    ])
}

fn state(state: &RowState) -> Raw {
    let role = state.role.name();
    object(&[("colour", &state.colour), ("name", &state.name), ("role", &role)])
}

fn tag(tag: &Tag) -> Raw {
    object(&[("fields", &tag.fields), ("state", &tag.state), ("tag", &tag.tag)])
}

/// Returns the metadata that stands behind the columns: all that is only known once they are written.
pub(super) fn tail(written: &Written) -> String {
    let sections = array(&written.sections, |section| {
        object(&[
            ("prefixes", &section.prefixes),
            ("rows", &section.rows),
            ("transitions", &section.transitions),
        ])
    });
    object(&[("chunks", &written.chunks), ("sections", &sections)]).into_string()
}
