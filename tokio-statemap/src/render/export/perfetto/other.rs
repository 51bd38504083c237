//! The tracks of data of other programs: one for each entity, in the data's own states.

use std::io::{self, Write};

use super::trace::{Children, Kind, Trace};
use crate::statemap::read::Statemap;

/// Writes data that begins `later_ns` after the trace.
pub(super) fn write(
    data: &Statemap,
    later_ns: u64,
    trace: &mut Trace<impl Write>,
) -> io::Result<()> {
    let title = Some(data.metadata.title.as_str()).filter(|title| !title.is_empty());
    let all = trace.track(title.unwrap_or("Statemap"), None, 0, Children::Ranked)?;
    let at = |time_ns: u64| time_ns.saturating_add(later_ns);
    let tag_of = trace.argument("tag");
    let target_of = trace.argument("target");
    let mut tracks = Vec::with_capacity(data.entities.len());
    for (rank, entity) in (0..).zip(&data.entities) {
        let track = trace.track(&entity.name, Some(all), rank, Children::None)?;
        tracks.push(track);
        let ends = entity.data.iter().skip(1).map(|next| next.time_ns).chain([data.end_ns]);
        for (datum, end_ns) in entity.data.iter().zip(ends) {
            let mut arguments = Vec::new();
            if let Some(tag) = datum.tag.and_then(|tag| data.tags.get(tag)) {
                arguments.push((tag_of, trace.string(&tag.tag)));
                for (name, value) in &tag.fields {
                    arguments.push((trace.argument(name), trace.string(value)));
                }
            }
            let state = &data.metadata.states[datum.state as usize].name;
            let name = Some((state.as_str(), "state"));
            trace.event(Kind::Begin, track, at(datum.time_ns), name, |event| {
                arguments.iter().for_each(|&(name, value)| event.text(name, value));
            })?;
            trace.end(track, at(end_ns))?;
        }
    }
    for event in &data.events {
        let target = event.target.as_ref().map(|target| trace.string(target));
        let name = Some((event.event.as_str(), "event"));
        let track = tracks[event.entity];
        trace.event(Kind::Instant, track, at(event.time_ns), name, |event| {
            target.into_iter().for_each(|target| event.text(target_of, target));
        })?;
    }
    Ok(())
}
