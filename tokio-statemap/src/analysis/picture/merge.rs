//! Several pictures, one below the other.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Origin, Picture, Role, RowState, Section, SectionKind, Source, Transition};
use crate::statemap::Alignment;
use crate::util::clean::clean;
use crate::util::quantity::moment;

const NS_PER_S: u128 = 1_000_000_000;

/// One picture of several, or of none.
pub(super) fn merge(mut pictures: Vec<Picture<'_>>) -> Picture<'_> {
    for picture in &mut pictures {
        // The runtimes of one program have its name.
        if let Some(runtime) = picture.runtime.take() {
            picture.title = format!("{} (runtime {runtime})", picture.title);
        }
    }
    let alignment = Alignment::of_spans(&spans(&pictures));
    let mut merged = merge_as(pictures, &alignment);
    let kinds =
        [SectionKind::Workers, SectionKind::Blocking, SectionKind::Tasks, SectionKind::Other];
    merged.sections.sort_by_key(|section| kinds.iter().position(|kind| *kind == section.kind));
    merged
}

/// One picture of several, all of one below all of the other, each from the left edge on.
#[cfg(feature = "html")]
pub(super) fn one_below_the_other(pictures: Vec<Picture<'_>>) -> Picture<'_> {
    let alignment = Alignment::at_left_edge(&spans(&pictures));
    merge_as(pictures, &alignment)
}

/// The start, the length, and whether there is anything.
fn spans(pictures: &[Picture<'_>]) -> Vec<(u128, u64, bool)> {
    let span = |picture: &Picture<'_>| {
        (picture.start.as_nanos(), picture.length_ns, !picture.sections.is_empty())
    };
    pictures.iter().map(span).collect()
}

fn merge_as<'a>(pictures: Vec<Picture<'a>>, alignment: &Alignment) -> Picture<'a> {
    let names: Vec<&str> = distinct(pictures.iter().map(|picture| &*picture.title));
    let hosts: BTreeSet<&str> = pictures.iter().filter_map(|p| p.host.as_deref()).collect();
    let notes = notes(&pictures, alignment);
    let mut merged = Picture {
        title: if names.is_empty() { "Statemap".to_owned() } else { names.join(", ") },
        host: (!hosts.is_empty()).then(|| hosts.into_iter().collect::<Vec<_>>().join(", ")),
        runtime: None,
        start: match alignment.is_forced {
            // Each has its own.
            true => Duration::ZERO,
            false => Duration::new(
                u64::try_from(alignment.start_ns / NS_PER_S).unwrap_or(u64::MAX),
                (alignment.start_ns % NS_PER_S) as u32,
            ),
        },
        length_ns: alignment.length_ns,
        // Each has its own.
        origin_ns: 0,
        // None is called long that its own report doesn't.
        long_poll_ns: pictures.iter().map(|picture| picture.long_poll_ns).max().unwrap_or_default(),
        is_ready_known: pictures.iter().any(|picture| picture.is_ready_known),
        are_tasks_known: pictures.iter().any(|picture| picture.are_tasks_known),
        verdict: verdict(&pictures),
        notes,
        // They are those of one picture only.
        gaps: Vec::new(),
        pool_queue: Vec::new(),
        whole_run: None,
        excerpts: None,
        sections: Vec::new(),
        origins: Vec::new(),
    };
    let is_run = |picture: &&Picture<'_>| {
        picture.sections.iter().any(|section| section.kind != SectionKind::Other)
    };
    let is_only_run = pictures.iter().filter(is_run).count() <= 1;
    for (picture, &shift_ns) in pictures.into_iter().zip(&alignment.shifts_ns) {
        let before = merged.origins.len();
        merged.origins.extend(
            picture.origins.into_iter().map(|origin| Origin {
                from_ns: origin.from_ns.saturating_add(shift_ns),
                ..origin
            }),
        );
        if is_only_run {
            let shifted =
                picture.pool_queue.iter().map(|&(ns, n)| (ns.saturating_add(shift_ns), n));
            merged.pool_queue.extend(shifted);
        }
        for mut section in picture.sections {
            section.origin += before;
            if section.kind != SectionKind::Other && !is_only_run {
                section.title = format!("{} of {}", section.title, picture.title);
            }
            let end_ns = shift_ns.saturating_add(picture.length_ns);
            let by = Shift { shift_ns, end_ns, length_ns: alignment.length_ns, is_only_run };
            merged.sections.push(by.shift(section));
        }
    }
    merged
}

/// What the reports say; of several it is said which of them says it.
fn verdict(pictures: &[Picture<'_>]) -> Option<String> {
    let verdicts = pictures.iter().filter_map(|picture| Some((picture, picture.verdict.as_ref()?)));
    let verdicts: Vec<_> = verdicts.collect();
    match &verdicts[..] {
        [] => None,
        [(_, verdict)] => Some((*verdict).clone()),
        several => {
            let named =
                several.iter().map(|(p, verdict)| format!("{}: {verdict}", clean(&p.title)));
            Some(named.collect::<Vec<_>>().join(" "))
        }
    }
}

fn notes(pictures: &[Picture<'_>], alignment: &Alignment) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if alignment.is_forced {
        notes.push("The files are from different times: each begins at the left edge.".to_owned());
    }
    let of_each = |picture: &Picture<'_>| {
        let edge = picture.edge_note().map(|note| format!("{}: {note}", clean(&picture.title)));
        edge.into_iter().chain(picture.notes.iter().cloned()).collect::<Vec<_>>()
    };
    notes.extend(pictures.iter().flat_map(of_each));
    notes.extend(
        pictures.iter().filter_map(|picture| Some(picture.whole_run.as_ref()?.detail.clone())),
    );
    for (picture, shift_ns) in pictures.iter().zip(&alignment.shifts_ns) {
        if !picture.gaps.is_empty() {
            let title = &picture.title;
            let sums = if picture.whole_run.is_some() { ", and its sums," } else { "" };
            notes.push(format!(
                "The gaps of {title}{sums} aren't drawn here: each state lasts across."
            ));
        }
        let end_ns = shift_ns.saturating_add(picture.length_ns);
        if end_ns < alignment.length_ns && !picture.sections.is_empty() {
            notes.push(format!("{} ends at {}.", picture.title, moment(end_ns)));
        }
    }
    distinct(notes)
}

/// Each once, in their order.
fn distinct<T: PartialEq + AsRef<str>>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) && !one.as_ref().is_empty() {
            distinct.push(one);
        }
    }
    distinct
}

/// How a section is put into a picture.
#[derive(Clone, Copy, Debug)]
struct Shift {
    /// How long after the picture it begins, and when it ends in it.
    shift_ns: u64,
    end_ns: u64,
    /// How long the picture is.
    length_ns: u64,
    /// Whether its run is the only one there.
    is_only_run: bool,
}

impl Shift {
    fn shift(self, mut section: Section<'_>) -> Section<'_> {
        let ends = section.states.iter().map(|state| state.role.is_end()).collect();
        let over = (self.end_ns < self.length_ns).then(|| {
            // A row that ends so is blank from there on, which is what is known.
            let (name, role) = ("not recorded".to_owned(), Role::Stopped);
            section.states.push(RowState { name, colour: None, role });
            Transition::new(self.end_ns, section.states.len() as u32 - 1)
        });
        for event in &mut section.events {
            event.time_ns = event.time_ns.saturating_add(self.shift_ns).min(self.length_ns);
        }
        if let Some(why) = &mut section.why {
            why.shift(self.shift_ns);
        }
        section.issues.iter_mut().flatten().for_each(|issue| issue.shift(self.shift_ns));
        section.source = Box::new(Shifted { source: section.source, shift: self, ends, over });
        section
    }
}

/// The rows of a source, at another time.
struct Shifted<'a> {
    source: Box<dyn Source + 'a>,
    shift: Shift,
    /// Of each state, whether it is the end of a row.
    ends: Vec<bool>,
    /// Where nothing is known any more.
    over: Option<Transition>,
}

impl Source for Shifted<'_> {
    fn name(&self, row: u32, to: &mut String) {
        self.source.name(row, to);
    }

    fn description(&self, row: u32) -> Option<&str> {
        self.source.description(row)
    }

    fn parent(&self, row: u32) -> Option<u32> {
        self.source.parent(row)
    }

    fn is_root(&self, row: u32) -> bool {
        self.source.is_root(row)
    }

    fn worker_index(&self, row: u32) -> Option<u32> {
        self.source.worker_index(row)
    }

    fn knows_workers(&self) -> bool {
        self.shift.is_only_run && self.source.knows_workers()
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let mut is_ended = false;
        self.source.walk(row, &mut |transition| {
            is_ended = self.ends[transition.state as usize];
            let time_ns = transition.time_ns.saturating_add(self.shift.shift_ns);
            let worker = transition.worker.filter(|_| self.shift.is_only_run);
            each(Transition { time_ns, worker, ..transition });
        });
        if let Some(over) = self.over.filter(|_| !is_ended) {
            each(over);
        }
    }
}
