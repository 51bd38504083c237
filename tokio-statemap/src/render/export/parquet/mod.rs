//! Tables of runs in Parquet: a folder with one file for each table, so that DuckDB and the like can query many runs at
//! once.
//!
//! The guide describes the columns; a test compares the two.

mod polls;
mod run;
mod table;
mod tasks;
mod waits;
mod workers;

use std::collections::HashMap;
use std::io::{self, Write};

use super::Run;
use super::requests::{REQUEST_COLUMNS, for_each_request};
use super::rows::{Column, POLL_COLUMNS};
use table::Table;

/// A table, which is a file of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableName {
    /// The runs.
    Run,
    /// The tasks.
    Tasks,
    /// The polls.
    Polls,
    /// The waits of tasks.
    Waits,
    /// The workers.
    Workers,
    /// The kinds of spans of `tracing`.
    Requests,
}

impl TableName {
    /// All tables.
    pub const ALL: [Self; 6] =
        [Self::Run, Self::Tasks, Self::Polls, Self::Waits, Self::Workers, Self::Requests];

    /// Returns the name of its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Run => "run.parquet",
            Self::Tasks => "tasks.parquet",
            Self::Polls => "polls.parquet",
            Self::Waits => "waits.parquet",
            Self::Workers => "workers.parquet",
            Self::Requests => "requests.parquet",
        }
    }

    fn columns(self) -> &'static [Column] {
        match self {
            Self::Run => run::COLUMNS,
            Self::Tasks => tasks::COLUMNS,
            Self::Polls => &POLL_COLUMNS,
            Self::Waits => waits::COLUMNS,
            Self::Workers => workers::COLUMNS,
            Self::Requests => &REQUEST_COLUMNS,
        }
    }
}

/// Writes one table of the runs, as a stream of groups of rows.
///
/// The first column identifies the run that a row belongs to: it is the same in all tables, and differs between the
/// runs of a fleet.
///
/// # Errors
///
/// If `w` fails.
pub fn write(runs: &[&Run<'_>], name: TableName, w: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(name.columns(), w)?;
    for (run, id) in runs.iter().zip(ids(runs)) {
        match name {
            TableName::Run => run::write(run, &id, &mut table)?,
            TableName::Tasks => tasks::write(run, &id, &mut table)?,
            TableName::Polls => polls::write(run, &id, &mut table)?,
            TableName::Waits => waits::write(run, &id, &mut table)?,
            TableName::Workers => workers::write(run, &id, &mut table)?,
            TableName::Requests => for_each_request(run, &id, |cells| table.row(cells))?,
        }
    }
    table.finish()
}

/// Returns an identifier for each run, made of program, host, runtime and start.
fn ids(runs: &[&Run<'_>]) -> Vec<String> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let ids = runs.iter().map(|run| {
        let timeline = run.timeline;
        let host = run.labels.host.as_deref().unwrap_or("unknown");
        let runtime = timeline.runtime.as_ref().map(|name| format!("/{name}"));
        let start_ns = timeline.utc_at_zero.as_nanos();
        let (program, runtime) = (&run.labels.title, runtime.unwrap_or_default());
        let id = format!("{program}{runtime}@{host}#{start_ns}");
        // The tasks and the workers of a run count as two runs if they could not be matched.
        let times = known.entry(id.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{id}#{times}") } else { id }
    });
    ids.collect()
}
