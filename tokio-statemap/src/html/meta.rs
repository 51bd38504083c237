//! What the page's script is told besides the columns, as JSON.

use serde_json::{Value, json};

use super::chunk::Written;
use crate::picture::{Kind, Picture, Section};

/// What comes before the columns: all that is known before they are written.
pub(super) fn head(picture: &Picture<'_>) -> Value {
    json!({
        "format": 1,
        "title": picture.title,
        "host": picture.host,
        "runtime": picture.runtime,
        // Zero is no date: the data doesn't know it.
        "start": (!picture.start.is_zero())
            .then(|| [picture.start.as_secs(), u64::from(picture.start.subsec_nanos())]),
        "length": picture.length_ns,
        "long": picture.long_poll_ns,
        "readyKnown": picture.is_ready_known,
        "tasksKnown": picture.are_tasks_known,
        "verdict": picture.verdict,
        "notes": picture.notes,
        "gaps": picture.gaps,
        "sections": picture.sections.iter().map(section).collect::<Vec<_>>(),
    })
}

fn section(section: &Section<'_>) -> Value {
    let states = section.states.iter().map(
        |state| json!({ "name": state.name, "colour": state.colour, "role": state.role.name() }),
    );
    let groups = section.groups.iter().map(|group| {
        json!({
            "label": group.label,
            "lanes": group.lanes.len(),
            "rows": section.group(group).len(),
        })
    });
    let indices = section.rows.iter().filter_map(|&row| section.source.worker_index(row));
    let tags = section
        .tags
        .iter()
        .map(|tag| json!({ "state": tag.state, "tag": tag.tag, "fields": tag.fields }));
    let places = if section.events.is_empty() { Vec::new() } else { section.places() };
    let events = section
        .events
        .iter()
        .map(|event| json!([places[event.row as usize], event.time_ns, event.event, event.target]));
    json!({
        "title": section.title,
        "kind": match section.kind {
            Kind::Workers => "workers",
            Kind::Blocking => "blocking",
            Kind::Tasks => "tasks",
            Kind::Other => "other",
        },
        "states": states.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
        "indices": indices.collect::<Vec<_>>(),
        "tags": tags.collect::<Vec<_>>(),
        "hasWorkers": section.has_workers(),
        "hasTags": section.has_tags(),
        "events": events.collect::<Vec<_>>(),
    })
}

/// What comes behind the columns: all that is only known once they are written.
pub(super) fn tail(written: &Written) -> Value {
    let sections = written.sections.iter().map(|section| {
        json!({
            "rows": section.rows,
            "transitions": section.transitions,
            "prefixes": section.prefixes,
        })
    });
    json!({ "chunks": written.chunks, "sections": sections.collect::<Vec<_>>() })
}
