//! Merges several pictures, one below the other.

use std::cmp::Reverse;
use std::time::Duration;

use super::{Origin, Picture, Role, RowState, Section, SectionKind, Source, Transition};
use crate::analysis::Statement;
use crate::statemap::Alignment;
use crate::util::clean::clean;
use crate::util::quantity::{count, moment};

const NS_PER_S: u128 = 1_000_000_000;

/// Merges any number of pictures.
#[cfg(feature = "read")]
pub(super) fn merge(pictures: Vec<Picture<'_>>) -> Picture<'_> {
    let alignment = Alignment::from_spans(&spans(&pictures));
    merge_aligned(pictures, &alignment)
}

/// Merges pictures of one program by UTC, even if one ended before another began.
pub(super) fn of_one_program(pictures: Vec<Picture<'_>>) -> Picture<'_> {
    let alignment = Alignment::by_utc(&spans(&pictures));
    let names = names(&pictures);
    let origins: Vec<_> = pictures.iter().map(|picture| picture.origin_ns).collect();
    let mut merged = merge_aligned(pictures, &alignment);
    for ((name, shift_ns), origin_ns) in names.iter().zip(&alignment.shifts_ns).zip(origins) {
        let shift_ns = shift_ns.saturating_sub(origin_ns);
        if shift_ns >= 1_000_000 {
            merged.notes.push(format!(
                "In sentences on {}, times count from its start, at {}.",
                clean(name),
                moment(shift_ns)
            ));
        }
    }
    merged
}

fn merge_aligned<'a>(pictures: Vec<Picture<'a>>, alignment: &Alignment) -> Picture<'a> {
    let names = names(&pictures);
    let runtimes = distinct(pictures.iter().filter_map(|picture| picture.runtime.clone()));
    let parts: Vec<_> = names.iter().map(|name| format!("of {name}")).collect();
    let mut merged = merge_as(pictures, (&names, &parts), alignment);
    merged.runtime = (!runtimes.is_empty()).then(|| runtimes.join(", "));
    let kinds =
        [SectionKind::Workers, SectionKind::Blocking, SectionKind::Tasks, SectionKind::Other];
    crate::util::sort::by_key(&mut merged.sections, |section| {
        kinds.iter().position(|kind| *kind == section.kind)
    });
    merged
}

/// Merges pictures. Each begins at the left edge. The sections of a picture stay together, and its part of `parts` follows their
/// titles.
#[cfg(all(feature = "html", feature = "read"))]
pub(super) fn one_below_the_other<'a>(pictures: Vec<Picture<'a>>, parts: &[String]) -> Picture<'a> {
    let alignment = Alignment::at_left_edge(&spans(&pictures));
    let names: Vec<_> = pictures.iter().map(|picture| picture.title.clone()).collect();
    merge_as(pictures, (&names, parts), &alignment)
}

/// Returns the names of the pictures, to tell them apart: the runtimes of one program have only their own names.
fn names(pictures: &[Picture<'_>]) -> Vec<String> {
    let runs = || pictures.iter().filter(|picture| is_run(picture));
    let mut titles = runs().map(|run| &run.title);
    let first = titles.next();
    let is_one_program =
        titles.all(|title| Some(title) == first) && runs().all(|run| run.runtime.is_some());
    let name = |picture: &Picture<'_>| match &picture.runtime {
        Some(runtime) if is_one_program => runtime.clone(),
        Some(runtime) => format!("{} (runtime {runtime})", picture.title),
        None => picture.title.clone(),
    };
    let names: Vec<String> = pictures.iter().map(name).collect();
    let numbered = names.iter().enumerate().map(|(at, name)| {
        let before = names[..at].iter().filter(|other| *other == name).count();
        match names[at + 1..].contains(name) || before > 0 {
            true => format!("{name} ({})", before + 1),
            false => name.clone(),
        }
    });
    numbered.collect()
}

/// Returns whether a picture is of a run: one of its sections has workers, threads or tasks.
fn is_run(picture: &Picture<'_>) -> bool {
    picture.sections.iter().any(|section| section.kind != SectionKind::Other)
}

/// Returns the start and the length of each picture, and whether it shows anything.
fn spans(pictures: &[Picture<'_>]) -> Vec<(u128, u64, bool)> {
    let span = |picture: &Picture<'_>| {
        (picture.start.as_nanos(), picture.length_ns, !picture.sections.is_empty())
    };
    pictures.iter().map(span).collect()
}

fn merge_as<'a>(
    pictures: Vec<Picture<'a>>,
    (names, parts): (&[String], &[String]),
    alignment: &Alignment,
) -> Picture<'a> {
    let titles: Vec<&str> = distinct(pictures.iter().map(|picture| &*picture.title));
    let mut hosts: Vec<&str> = distinct(pictures.iter().filter_map(|p| p.host.as_deref()));
    crate::util::sort::sort(&mut hosts);
    let notes = notes(&pictures, names, alignment);
    let is_cut = pictures.iter().any(|picture| picture.is_cut);
    let runs = pictures.iter().filter(|picture| is_run(picture));
    let title = if titles.is_empty() { "Statemap".to_owned() } else { titles.join(", ") };
    let mut merged = Picture {
        host: (!hosts.is_empty()).then(|| hosts.join(", ")),
        start: match alignment.is_forced {
            // Each picture has its own start.
            true => Duration::ZERO,
            false => Duration::new(
                u64::try_from(alignment.start_ns / NS_PER_S).unwrap_or(u64::MAX),
                (alignment.start_ns % NS_PER_S) as u32,
            ),
        },
        length_ns: alignment.length_ns,
        // Every poll that the report of its run calls long is long here.
        long_poll_ns: runs.map(|picture| picture.long_poll_ns).min().unwrap_or_default(),
        is_ready_known: pictures.iter().any(|picture| picture.is_ready_known),
        are_tasks_known: pictures.iter().any(|picture| picture.are_tasks_known),
        verdict: verdict(&pictures, names),
        notes,
        is_cut,
        // The other fields belong to single pictures.
        ..Picture::new(&title)
    };
    let is_only_run = pictures.iter().filter(|picture| is_run(picture)).count() <= 1;
    let named = pictures.into_iter().zip(names).zip(parts);
    for (((picture, name), part), &shift_ns) in named.zip(&alignment.shifts_ns) {
        let before = merged.origins.len();
        merged.origins.extend(picture.origins.into_iter().map(|origin| Origin {
            from_ns: origin.from_ns.saturating_add(shift_ns),
            name: if is_only_run { String::new() } else { name.clone() },
            ..origin
        }));
        for mut section in picture.sections {
            section.origin += before;
            if section.kind != SectionKind::Other && !is_only_run {
                section.title = format!("{} {part}", section.title);
            }
            let end_ns = shift_ns.saturating_add(picture.length_ns);
            let by = Shift { shift_ns, end_ns, length_ns: alignment.length_ns };
            merged.sections.push(by.shift(section));
        }
    }
    merged
}

/// Returns the verdict; of several pictures, all verdicts with the names of their pictures, the worst first.
fn verdict(pictures: &[Picture<'_>], names: &[String]) -> Option<Statement> {
    let mut named: Vec<_> = names.iter().zip(pictures).collect();
    crate::util::sort::by_key(&mut named, |(_, picture)| {
        Reverse(picture.origins.first().map(|origin| origin.severity))
    });
    let verdicts = named.into_iter();
    let verdicts = verdicts.filter_map(|(name, picture)| Some((name, picture.verdict.as_ref()?)));
    let verdicts: Vec<_> = verdicts.collect();
    match &verdicts[..] {
        [] => None,
        [(_, verdict)] => Some((*verdict).clone()),
        [(name, first), others @ ..] => {
            let mut all = Statement::new(format!("{}: {}", clean(name), first.headline));
            all.add(&first.details);
            // The reports have all verdicts.
            const MOST: usize = 7;
            for (name, other) in others.iter().take(MOST) {
                all.add(format!("{}: {other}", clean(name)));
            }
            if let Some(more) = others.len().checked_sub(MOST).filter(|more| *more > 0) {
                all.add(format!("The report has {} more.", count(more as u64, "verdict")));
            }
            Some(all)
        }
    }
}

fn notes(pictures: &[Picture<'_>], names: &[String], alignment: &Alignment) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if alignment.is_forced {
        notes.push("The files are from different times: each begins at the left edge.".to_owned());
    }
    let runs: Vec<_> = pictures.iter().filter(|picture| is_run(picture)).collect();
    let is_of_all = |note: &String| runs.iter().all(|run| run.notes.contains(note));
    let of_each = |(picture, name): (&Picture<'_>, &String)| {
        let of_it = |note: String| format!("{}: {note}", clean(name));
        let edge = picture.edge_note().map(of_it);
        let notes = picture.notes.iter().map(move |note| match is_of_all(note) {
            true => note.clone(),
            false => of_it(note.clone()),
        });
        edge.into_iter().chain(notes).collect::<Vec<_>>()
    };
    notes.extend(pictures.iter().zip(names).flat_map(of_each));
    notes.extend(
        pictures.iter().filter_map(|picture| Some(picture.whole_run.as_ref()?.detail.join(" "))),
    );
    for ((picture, name), shift_ns) in pictures.iter().zip(names).zip(&alignment.shifts_ns) {
        if !picture.gaps.is_empty() {
            let sums = if picture.whole_run.is_some() { ", and its sums," } else { "" };
            notes.push(format!(
                "The gaps of {name}{sums} aren't drawn here: each state lasts across."
            ));
        }
        let end_ns = shift_ns.saturating_add(picture.length_ns);
        if end_ns < alignment.length_ns && !picture.sections.is_empty() {
            notes.push(format!("{name} ends at {}.", moment(end_ns)));
        }
    }
    distinct(notes)
}

/// Returns the strings in their order, each once.
fn distinct<T: PartialEq + AsRef<str>>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) && !one.as_ref().is_empty() {
            distinct.push(one);
        }
    }
    distinct
}

/// The shift of a section into a merged picture.
#[derive(Clone, Copy, Debug)]
struct Shift {
    /// The begin and the end of the section in the merged picture, in ns.
    shift_ns: u64,
    end_ns: u64,
    /// The length of the merged picture, in ns.
    length_ns: u64,
}

impl Shift {
    fn shift(self, mut section: Section<'_>) -> Section<'_> {
        let ends = section.states.iter().map(|state| state.role.is_end()).collect();
        let over = (self.end_ns < self.length_ns).then(|| {
            // A row is blank after such an end, as nothing is known about it.
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

/// The rows of a source, at a later time.
struct Shifted<'a> {
    source: Box<dyn Source + 'a>,
    shift: Shift,
    /// For each state, `true` if it ends a row.
    ends: Vec<bool>,
    /// The transition after which nothing is known.
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
        self.source.knows_workers()
    }

    fn knows_wakers(&self) -> bool {
        self.source.knows_wakers()
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let mut is_ended = false;
        self.source.walk(row, &mut |transition| {
            is_ended = self.ends[transition.state as usize];
            let time_ns = transition.time_ns.saturating_add(self.shift.shift_ns);
            each(Transition { time_ns, ..transition });
        });
        if let Some(over) = self.over.filter(|_| !is_ended) {
            each(over);
        }
    }
}
