//! Writes what the page lacks of data of other programs: the places of rows in the file, what isn't drawn, and which
//! tags have no definition.
//!
//! After what all files have come: for each row, the place of its entity in the file; the number of tags without a
//! definition, and these tags; 1 if all events are among the records, else 0; and the exceptions for times.

use std::io;

use super::exceptions::Exceptions;
use super::{OTHER, Placed, drawn_at, varint};
use crate::analysis::picture::is_shown;
use crate::statemap::Metadata;
use crate::statemap::read::Statemap;
use crate::util::json;

pub(super) fn file(
    data: &Statemap,
    title: &str,
    section: Placed<'_, '_>,
    from_ns: u64,
    unit_ns: u64,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    varint(OTHER, &mut bytes);
    varint(section.map_or(0, |(index, _)| index as u64 + 1), &mut bytes);
    varint(from_ns, &mut bytes);
    varint(u64::from(data.is_part), &mut bytes);
    if data.is_part {
        varint(0, &mut bytes);
    }
    let metadata = Metadata { title: title.to_owned(), ..data.metadata.clone() };
    let mut records = metadata.to_line().into_bytes();
    // The page has them in its own units.
    let are_events_here = unit_ns > 1 || section.is_none();
    unseen(data, are_events_here, &mut records);
    varint(records.len() as u64, &mut bytes);
    bytes.extend_from_slice(&records);

    let rows = section.map_or(&[][..], |(_, section)| &section.rows);
    for &row in rows {
        varint(row.into(), &mut bytes);
    }
    let undefined: Vec<_> =
        (0..).zip(&data.tags).filter(|(_, tag)| !tag.is_defined).map(|(index, _)| index).collect();
    varint(undefined.len() as u64, &mut bytes);
    undefined.into_iter().for_each(|index| varint(index, &mut bytes));
    varint(u64::from(are_events_here), &mut bytes);
    let mut times = Exceptions::default();
    let mut nth = 0;
    if let Some((_, section)) = section {
        for &row in rows {
            let mut real = data.entities[row as usize].data.iter();
            section.source.walk(row, &mut |drawn| {
                if let Some(datum) = real.next() {
                    times.time(datum.time_ns, drawn_at(drawn.time_ns, from_ns, unit_ns), nth);
                    nth += 1;
                }
            });
        }
    }
    times.end(&mut bytes);
    Ok(bytes)
}

/// Writes what isn't drawn: entities without data, and events at times without a row.
fn unseen(data: &Statemap, are_events_here: bool, records: &mut Vec<u8>) {
    for entity in data.entities.iter().filter(|entity| entity.data.is_empty()) {
        if let Some(description) = &entity.description {
            let (name, description) = (json::string(&entity.name), json::string(description));
            let record = format!("{{\"entity\":{name},\"description\":{description}}}\n");
            records.extend_from_slice(record.as_bytes());
        }
    }
    for event in &data.events {
        if is_shown(data, event) && !are_events_here {
            continue;
        }
        let entity = json::string(&data.entities[event.entity].name);
        let what = json::string(&event.event);
        let mut record =
            format!("{{\"time\":\"{}\",\"entity\":{entity},\"event\":{what}", event.time_ns);
        if let Some(target) = &event.target {
            record += &format!(",\"target\":{}", json::string(target));
        }
        record += "}\n";
        records.extend_from_slice(record.as_bytes());
    }
}
