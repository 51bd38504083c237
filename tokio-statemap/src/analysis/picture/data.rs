//! The picture of statemap data that was read.

mod notes;
mod rows;
mod section;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Kind, Picture};
use crate::render::report::DataReport;
use crate::statemap::read::Statemap;
use crate::statemap::{Alignment, Ours};
use crate::util::clean::clean;

/// From when on a poll is called long if nobody says: data doesn't.
const LONG_POLL_NS: u64 = 1_000_000;
const NS_PER_S: u128 = 1_000_000_000;

impl<'a> Picture<'a> {
    /// The picture of statemap data, of one file or of several: a section each, one below the other.
    ///
    /// Files that overlap in time are laid out by UTC; of others the left edges are the same, and
    /// the picture says so. This crate's own data is recognised: its workers stand above its tasks,
    /// and these are grouped by spawn location. Of other data each entity has a row, in the file's
    /// own states and colours.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::picture::Picture;
    /// use tokio_statemap::statemap::read::read;
    /// use tokio_statemap::svg;
    ///
    /// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
    /// {"time":"0","entity":"cpu-0","state":0}
    /// {"time":"70","entity":"cpu-0","state":1}
    /// {"time":"90","entity":"cpu-0","state":0}
    /// "#;
    /// let files = [read(&data[..])?];
    /// let mut drawn = Vec::new();
    /// svg::write(&Picture::of_data(&files), &mut drawn)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_data(files: &'a [Statemap]) -> Self {
        let alignment = Alignment::of(files);
        let reports: Vec<Option<DataReport>> =
            files.iter().map(|file| file.metadata.ours().map(|_| file.report())).collect();
        let ours: Vec<_> = files.iter().map(|file| file.metadata.ours()).collect();
        let mut sections: Vec<_> = files
            .iter()
            .zip(&alignment.shifts_ns)
            .map(|(file, &shift_ns)| section::of(file, shift_ns, alignment.length_ns, files))
            .filter(|section| !section.rows.is_empty())
            .collect();
        sections.sort_by_key(|section| match section.kind {
            Kind::Workers => 0,
            Kind::Blocking => 1,
            Kind::Tasks => 2,
            Kind::Other => 3,
        });
        let hosts: BTreeSet<_> =
            files.iter().filter_map(|file| file.metadata.host.as_deref()).collect();
        let has = |what: fn(&Ours) -> bool| ours.iter().flatten().any(what);
        Self {
            title: title(files),
            host: (!hosts.is_empty()).then(|| hosts.into_iter().collect::<Vec<_>>().join(", ")),
            runtime: None,
            start: match alignment.is_forced {
                // Each file has its own.
                true => Duration::ZERO,
                false => Duration::new(
                    u64::try_from(alignment.start_ns / NS_PER_S).unwrap_or(u64::MAX),
                    (alignment.start_ns % NS_PER_S) as u32,
                ),
            },
            length_ns: alignment.length_ns,
            long_poll_ns: LONG_POLL_NS,
            is_ready_known: has(|ours| matches!(ours, Ours::Tasks { is_ready_known: true })),
            are_tasks_known: ours.contains(&None)
                || files.iter().any(|file| {
                    matches!(file.metadata.ours(), Some(Ours::Tasks { .. }))
                        && file.metadata.has_task_hooks()
                        && file.metadata.is_recorded()
                }),
            verdict: verdict(files, &reports),
            culprit: culprit(&reports),
            notes: notes::of(files, &reports, &alignment),
            gaps: Vec::new(),
            sections,
        }
    }
}

/// What the files are called, each name once.
fn title(files: &[Statemap]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for file in files {
        let name = file.metadata.stem();
        if !names.contains(&name) && !name.is_empty() {
            names.push(name);
        }
    }
    if names.is_empty() { "Statemap".to_owned() } else { names.join(", ") }
}

/// What the reports say of our own data, the tasks first. Where there are several files of a kind it is
/// said which of them says it.
fn verdict(files: &[Statemap], reports: &[Option<DataReport>]) -> Option<String> {
    let is_tasks = |file: &Statemap| matches!(file.metadata.ours(), Some(Ours::Tasks { .. }));
    let mut verdicts: Vec<String> = Vec::new();
    for of_tasks in [true, false] {
        let of_kind = files.iter().zip(reports).filter(|(file, _)| is_tasks(file) == of_tasks);
        let told: Vec<_> = of_kind
            .filter_map(|(file, report)| Some((file, report.as_ref()?.verdict.as_ref()?)))
            .collect();
        verdicts.extend(told.iter().map(|(file, verdict)| match told.len() {
            1 => (*verdict).clone(),
            _ => format!("{}: {verdict}", clean(file.metadata.stem())),
        }));
    }
    (!verdicts.is_empty()).then(|| verdicts.join(" "))
}

/// The location that the verdict names, if it is but one.
fn culprit(reports: &[Option<DataReport>]) -> Option<String> {
    let mut culprits = reports.iter().flatten().filter_map(|report| report.culprit.as_ref());
    let culprit = culprits.next()?;
    culprits.next().is_none().then(|| culprit.clone())
}
