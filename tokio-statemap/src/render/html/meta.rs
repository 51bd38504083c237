//! What the page's script is told besides the columns, as JSON.

use std::collections::HashMap;
use std::sync::Arc;

use super::chunk::{Written, unit_ns};
use crate::analysis::picture::{
    Group, Picture, RowState, Section, SectionKind, Tag, Why, WhyCulprit,
};
use crate::trace::timeline::FrameOrigin;
use crate::util::json::{Raw, array, object};

/// What comes before the columns: all that is known before they are written.
pub(super) fn head(picture: &Picture<'_>) -> String {
    let unit_ns = unit_ns(picture.length_ns);
    let whole = |ns: u64| ns / unit_ns * unit_ns;
    // Zero is no date: the data doesn't know it.
    let start =
        (!picture.start.is_zero()).then(|| (picture.start.as_secs(), picture.start.subsec_nanos()));
    let head = object([
        ("format", &1_u32),
        ("gaps", &array(picture.gaps.iter().map(|&(from, to)| (whole(from), whole(to))))),
        ("host", &picture.host),
        // In ns, like all times here; those of the columns are in units.
        ("length", &whole(picture.length_ns)),
        ("long", &picture.long_poll_ns),
        ("notes", &picture.notes),
        ("readyKnown", &picture.is_ready_known),
        ("runtime", &picture.runtime),
        ("sections", &array(picture.sections.iter().map(|part| section(part, whole)))),
        ("start", &start),
        ("tasksKnown", &picture.are_tasks_known),
        ("title", &picture.title),
        ("unit", &unit_ns),
        ("verdict", &picture.verdict),
    ]);
    head.into_string()
}

fn section(section: &Section<'_>, whole: impl Fn(u64) -> u64) -> Raw {
    let kind = match section.kind {
        SectionKind::Workers => "workers",
        SectionKind::Blocking => "blocking",
        SectionKind::Tasks => "tasks",
        SectionKind::Other => "other",
    };
    let indices = section.rows.iter().filter_map(|&row| section.source.worker_index(row));
    let places = if section.events.is_empty() { Vec::new() } else { section.places() };
    let events = section.events.iter().map(|event| {
        (places[event.row as usize], whole(event.time_ns), &event.event, &event.target)
    });
    object([
        ("events", &array(events)),
        ("groups", &array(section.groups.iter().map(|each| group(section, each)))),
        ("hasTags", &section.has_tags()),
        ("hasWorkers", &section.has_workers()),
        ("indices", &array(indices)),
        ("kind", &kind),
        ("states", &array(section.states.iter().map(state))),
        ("tags", &array(section.tags.iter().map(tag))),
        ("title", &section.title),
        ("why", &section.why.as_ref().map(|of| why(of, &section.places(), whole))),
    ])
}

/// Numbers in arrays, and the indices of what may be missing from 1 on, with 0 for none.
fn why(why: &Why, places: &[u32], whole: impl Fn(u64) -> u64) -> Raw {
    let mut names = Vec::new();
    let mut indices = HashMap::new();
    let mut name = |text: &Arc<str>| {
        *indices.entry(Arc::clone(text)).or_insert_with(|| {
            names.push(text.to_string());
            names.len() - 1
        })
    };
    let frames = why.frames.iter().map(|frame| {
        let file = frame.file.as_ref().map_or(0, |file| name(file) + 1);
        let line = frame.line.map_or(0, |line| line as usize);
        [name(&frame.function), file, line, origin(frame.origin)]
    });
    let frames = array(frames);
    let calls = why.calls.iter().map(|call| [from_1(call.frame), from_1(call.within)]);
    let polls = why.polls.iter().map(|poll| {
        let cause = poll.cause.map(|of| {
            [of.on_cpu_ns, of.blocked_ns, of.run_delay_ns, of.stolen_ns, of.major_faults]
        });
        let samples = poll.samples.iter().map(|sample| {
            [sample.after_ns, from_1(sample.blocked_in).into(), from_1(sample.call).into()]
        });
        (places[poll.row as usize], whole(poll.start_ns), cause, poll.blame, array(samples))
    });
    let excused = object([
        ("at", &why.excused_at),
        ("polls", &why.excused.polls),
        ("taken", &why.excused.taken_ns),
        ("unseen", &why.excused.unseen_polls),
        ("unseenTime", &why.excused.unseen_ns),
    ]);
    object([
        ("calls", &array(calls)),
        ("culprits", &array(why.culprits.iter().map(culprit))),
        ("excused", &excused),
        ("frames", &frames),
        ("names", &names),
        ("polls", &array(polls)),
        ("words", &why.words),
    ])
}

fn culprit(culprit: &WhyCulprit) -> Raw {
    object([
        ("act", &culprit.act),
        ("at", &culprit.at),
        ("frame", &culprit.frame),
        ("longest", &culprit.longest),
        ("own", &culprit.own_ns),
        ("place", &culprit.place),
        ("polls", &culprit.polls),
    ])
}

fn from_1(index: Option<u32>) -> u32 {
    index.map_or(0, |index| index + 1)
}

/// The index of an origin in the page's list of them.
fn origin(origin: FrameOrigin) -> usize {
    match origin {
        FrameOrigin::Program => 0,
        FrameOrigin::Dependency => 1,
        FrameOrigin::Std => 2,
        FrameOrigin::Runtime => 3,
        FrameOrigin::System => 4,
    }
}

fn group(section: &Section<'_>, group: &Group) -> Raw {
    let rows = section.group(group).len();
    object([("label", &group.label), ("lanes", &group.lanes.len()), ("rows", &rows)])
}

fn state(state: &RowState) -> Raw {
    let role = state.role.name();
    object([("colour", &state.colour), ("name", &state.name), ("role", &role)])
}

fn tag(tag: &Tag) -> Raw {
    object([("fields", &tag.fields), ("state", &tag.state), ("tag", &tag.tag)])
}

/// What comes behind the columns: all that is only known once they are written.
pub(super) fn tail(written: &Written) -> String {
    let sections = written.sections.iter().map(|section| {
        object([
            ("prefixes", &section.prefixes),
            ("rows", &section.rows),
            ("transitions", &section.transitions),
        ])
    });
    object([("chunks", &written.chunks), ("sections", &array(sections))]).into_string()
}
