//! The picture of statemap data that was read.

use std::sync::Arc;
use std::time::Duration;

use super::merge::merge;
use super::{
    Group, Origin, OriginOf, Picture, Role, RowEvent, RowState, Section, SectionKind, Source, Tag,
    Transition,
};
use crate::analysis::severity::Severity;
use crate::statemap::read::{Entity, EntityEvent, Statemap};
use crate::statemap::{Recording, recordings};
use crate::trace::timeline::Timeline;

impl<'a> Picture<'a> {
    /// Makes the picture of statemap data, of one file or of several.
    ///
    /// Makes the picture of a run from the tasks and the workers of the run, as this crate wrote them. In other data
    /// each entity has a row, in the file's own states and colours. Several pictures stand one below the other: by UTC
    /// if they overlap in time; otherwise each begins at the left edge, and the picture says so.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::picture::Picture;
    /// use tokio_statemap::statemap::read::read;
    ///
    /// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
    /// {"time":"0","entity":"cpu-0","state":0}
    /// {"time":"70","entity":"cpu-0","state":1}
    /// {"time":"90","entity":"cpu-0","state":0}
    /// "#;
    /// let files = [read(&data[..])?];
    /// let picture = Picture::of_data(&files);
    /// # #[cfg(feature = "html")]
    /// tokio_statemap::html::write(&picture, &mut std::io::sink())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_data(files: &'a [Statemap]) -> Self {
        let pictures = recordings(files).into_iter().map(|recording| match recording {
            Recording::Run { timeline, labels, .. } => {
                let report = timeline.report();
                Self::of_run(Arc::<Timeline>::from(timeline), &report, &labels)
            }
            Recording::Other { data, .. } => of_other(data),
        });
        let mut pictures: Vec<_> = pictures.collect();
        match pictures.pop() {
            Some(only) if pictures.is_empty() => only,
            last => merge(pictures.into_iter().chain(last).collect()),
        }
    }
}

/// Makes the picture of data of another program.
fn of_other(file: &Statemap) -> Picture<'_> {
    let [seconds, ns] = file.metadata.start;
    let start = Duration::from_secs(seconds).saturating_add(Duration::from_nanos(ns));
    let title = &file.metadata.title;
    let section = section(file);
    Picture {
        host: file.metadata.host.clone(),
        start,
        length_ns: file.end_ns,
        are_tasks_known: true,
        notes: notes(file),
        sections: if section.rows.is_empty() { Vec::new() } else { vec![section] },
        origins: vec![Origin {
            from_ns: 0,
            name: String::new(),
            severity: Severity::default(),
            of: OriginOf::Other { data: file, title: title.clone() },
        }],
        ..Picture::new(if title.is_empty() { "Statemap" } else { title })
    }
}

fn section(file: &Statemap) -> Section<'_> {
    let is_drawn = |row: &u32| !file.entities[*row as usize].data.is_empty();
    let mut rows: Vec<u32> = (0..file.entities.len() as u32).filter(is_drawn).collect();
    // The order of entities in a file sorted by time is chance.
    rows.sort_by_cached_key(|&row| natural(&file.entities[row as usize].name));
    let label = file.metadata.entity_kind.clone().unwrap_or_else(|| "entities".to_owned());
    let title = &file.metadata.title;
    let states = file.metadata.states.iter().map(|state| RowState {
        name: state.name.clone(),
        colour: state.colour.clone(),
        role: Role::Other,
    });
    let tags = file.tags.iter().map(|tag| Tag {
        state: tag.state,
        tag: tag.tag.clone(),
        fields: tag.fields.clone(),
    });
    let events = file.events.iter().filter(|event| is_shown(file, event)).map(|event| RowEvent {
        time_ns: event.time_ns,
        row: event.entity as u32,
        event: event.event.clone(),
        target: event.target.clone(),
    });
    let title = if title.is_empty() { "Entities" } else { title };
    Section {
        states: states.collect(),
        groups: vec![Group { label, runs: None, location: None, lanes: 0..rows.len() }],
        lanes: (0..=rows.len() as u32).collect(),
        rows,
        tags: tags.collect(),
        events: events.collect(),
        ..Section::new(title, SectionKind::Other, Box::new(Entities(file)))
    }
}

/// Returns a key that sorts `cpu-2` before `cpu-10`.
fn natural(name: &str) -> (&str, u64, &str) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[prefix.len()..].parse().unwrap_or(u64::MAX);
    (prefix, number, name)
}

/// Returns whether an event can be drawn: it is in a row, and not after the last change of state.
pub(crate) fn is_shown(file: &Statemap, event: &EntityEvent) -> bool {
    !file.entities[event.entity].data.is_empty() && event.time_ns <= file.end_ns
}

/// Returns what the picture lacks, a short sentence each.
fn notes(file: &Statemap) -> Vec<String> {
    let mut notes = Vec::new();
    if file.is_part {
        notes.push("This is a part of the data.".to_owned());
    }
    let hidden = |is_of_row: bool| {
        let events = file.events.iter().filter(|event| !is_shown(file, event));
        events.filter(|e| file.entities[e.entity].data.is_empty() != is_of_row).count()
    };
    for (number, one, many) in [
        (
            file.tags.iter().filter(|tag| !tag.is_defined).count(),
            "One tag is used but not defined",
            "tags are used but not defined",
        ),
        (
            hidden(true),
            "One event is after the last change of state and isn't shown",
            "events are after the last change of state and aren't shown",
        ),
        (
            hidden(false),
            "One event is of an entity without any state and isn't shown",
            "events are of entities without any state and aren't shown",
        ),
    ] {
        match number {
            0 => {}
            1 => notes.push(format!("{one}.")),
            n => notes.push(format!("{n} {many}.")),
        }
    }
    notes
}

/// The entities of a file. A row is the index of one.
struct Entities<'a>(&'a Statemap);

impl Entities<'_> {
    fn entity(&self, row: u32) -> &Entity {
        &self.0.entities[row as usize]
    }
}

impl Source for Entities<'_> {
    fn name(&self, row: u32, to: &mut String) {
        to.push_str(&self.entity(row).name);
    }

    fn description(&self, row: u32) -> Option<&str> {
        self.entity(row).description.as_deref()
    }

    fn knows_workers(&self) -> bool {
        false
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        for datum in &self.entity(row).data {
            let tag = datum.tag.map(|tag| tag as u32);
            each(Transition { tag, ..Transition::new(datum.time_ns, datum.state) });
        }
    }
}
