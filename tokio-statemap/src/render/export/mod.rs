//! Files for other tools: traces, stacks and tables, from the same timeline and analysis as the report and the page.
//!
//! | module | output |
//! | --- | --- |
//! | [`perfetto`] | tracks with slices, for ui.perfetto.dev |
//! | [`folded`] | the stacks of polls, for flame graphs |
//! | [`csv`] | one row for each poll, or for each kind of span |
//! | [`parquet`] | tables of many runs, for SQL (the feature `parquet`) |

pub mod csv;
pub mod folded;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod perfetto;
mod requests;
mod rows;
mod text;

use crate::analysis::Report;
use crate::statemap::read::Statemap;
use crate::statemap::{Labels, Recording};
use crate::trace::timeline::Timeline;

/// A run to export, with its report.
#[derive(Debug)]
pub struct Run<'a> {
    timeline: &'a Timeline,
    labels: &'a Labels,
    title: &'a str,
    report: Report,
}

/// Data to export.
#[derive(Debug)]
pub enum Source<'a> {
    /// A run that this crate recorded.
    Run(Box<Run<'a>>),
    /// Data of another program, of which only states are known.
    Other(&'a Statemap),
}

impl<'a> Run<'a> {
    /// Prepares `timeline` for export, under `title` or else the title of the labels.
    pub fn new(timeline: &'a Timeline, labels: &'a Labels, title: Option<&'a str>) -> Self {
        let title = title.unwrap_or(&labels.title);
        Self { timeline, labels, title, report: timeline.report() }
    }

    /// Returns whether the file of the tasks is missing, so that no poll is known.
    pub fn lacks_tasks(&self) -> bool {
        self.timeline.lacking.tasks
    }
}

impl<'a> Source<'a> {
    /// Prepares a recording that was read, under `title` or else its own.
    pub fn from_recording(recording: &'a Recording<'a>, title: Option<&'a str>) -> Self {
        match recording {
            Recording::Run { timeline, labels, .. } => {
                Self::Run(Box::new(Run::new(timeline, labels, title)))
            }
            Recording::Other { data, .. } => Self::Other(data),
        }
    }
}
