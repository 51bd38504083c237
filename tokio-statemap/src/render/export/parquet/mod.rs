//! Tables of runs, as Parquet: a folder with one file a table, so that DuckDB and its like ask many of them at once.
//!
//! The guide says what stands in which column; a test holds it to that.

mod polls;
mod run;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
mod waits;
mod workers;

use std::collections::HashMap;
use std::io::{self, Write};

use super::Run;
use table::{Column, Table};

/// A table: a file of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableName {
    /// What each run was.
    Run,
    /// The tasks.
    Tasks,
    /// The polls.
    Polls,
    /// The waits of tasks.
    Waits,
    /// The workers.
    Workers,
}

impl TableName {
    /// All tables.
    pub const ALL: [Self; 5] = [Self::Run, Self::Tasks, Self::Polls, Self::Waits, Self::Workers];

    /// Its file.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Run => "run.parquet",
            Self::Tasks => "tasks.parquet",
            Self::Polls => "polls.parquet",
            Self::Waits => "waits.parquet",
            Self::Workers => "workers.parquet",
        }
    }

    fn columns(self) -> &'static [Column] {
        match self {
            Self::Run => run::COLUMNS,
            Self::Tasks => tasks::COLUMNS,
            Self::Polls => polls::COLUMNS,
            Self::Waits => waits::COLUMNS,
            Self::Workers => workers::COLUMNS,
        }
    }
}

/// Writes one table of the runs.
///
/// It is written as a stream, in groups of rows. The first column is which run a row is of, the same in all tables, and
/// another for each run of a fleet.
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
        }
    }
    table.finish()
}

/// What the runs are told apart by: program, host, runtime and start.
fn ids(runs: &[&Run<'_>]) -> Vec<String> {
    let mut known: HashMap<String, u32> = HashMap::new();
    let ids = runs.iter().map(|run| {
        let timeline = run.timeline;
        let host = run.labels.host.as_deref().unwrap_or("unknown");
        let runtime = timeline.runtime.as_ref().map(|name| format!("/{name}"));
        let start_ns = timeline.utc_at_zero.as_nanos();
        let (program, runtime) = (&run.labels.title, runtime.unwrap_or_default());
        let id = format!("{program}{runtime}@{host}#{start_ns}");
        // The tasks and the workers of a run are two if they could not be brought together.
        let times = known.entry(id.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{id}#{times}") } else { id }
    });
    ids.collect()
}
