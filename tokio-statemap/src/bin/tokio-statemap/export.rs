//! `tokio-statemap render` to formats of other tools.

use std::path::Path;

use tokio_statemap::__private::export::{Run, Source, csv, folded, perfetto};
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::{Format, RenderArgs};
use crate::failure::Failure;
use crate::input::Input;
use crate::output::write;
use crate::progress::Progress;

pub(crate) fn run(
    args: &RenderArgs,
    format: Format,
    input: &Input,
    progress: &Progress,
) -> Result<(), Failure> {
    let recordings = recordings(&input.statemaps);
    let sources: Vec<_> = recordings
        .iter()
        .map(|recording| Source::from_recording(recording, args.title.as_deref()))
        .collect();
    let output = args.output.as_path();
    progress.begin("writing", None);
    let written = if format == Format::Perfetto {
        write(output, |w| perfetto::write(&sources, progress.count_writes(w)))
    } else {
        let runs = runs(args, input, &recordings, &sources)?;
        match format {
            Format::Folded => write(output, |w| folded::write(&runs, progress.count_writes(w))),
            Format::Csv if args.requests => {
                write(output, |w| csv::write_requests(&runs, progress.count_writes(w)))
            }
            Format::Csv => write(output, |w| csv::write_polls(&runs, progress.count_writes(w))),
            _ => write_tables(output, &runs, progress),
        }
    };
    progress.end();
    written
}

/// Returns the runs. Data without polls is refused.
fn runs<'a>(
    args: &RenderArgs,
    input: &Input,
    recordings: &[Recording<'_>],
    sources: &'a [Source<'a>],
) -> Result<Vec<&'a Run<'a>>, Failure> {
    let mut runs = Vec::with_capacity(sources.len());
    for (recording, source) in recordings.iter().zip(sources) {
        let file = match recording {
            Recording::Run { files, .. } => files.first().copied(),
            Recording::Other { file, .. } => Some(*file),
            _ => None,
        };
        let problem = match source {
            Source::Run(run) if run.lacks_tasks() => {
                "this has workers only: polls are in the tasks' data of the same run"
            }
            Source::Run(run) => {
                runs.push(&**run);
                continue;
            }
            Source::Other(_) => {
                "this isn't the data of a run of tokio-statemap, so its polls are unknown: it can \
                 only be written as .html, .svg or .pftrace"
            }
        };
        let file = file.and_then(|file| args.files.files.get(input.sources[file]));
        return Err(Failure::in_file(file.map_or(Path::new("-"), |file| file), problem));
    }
    Ok(runs)
}

/// Writes a folder of tables. Each table replaces its file once it is complete.
#[cfg(feature = "parquet")]
fn write_tables(output: &Path, runs: &[&Run<'_>], progress: &Progress) -> Result<(), Failure> {
    use tokio_statemap::__private::export::parquet::{self, TableName};

    if output.exists() && !output.is_dir() {
        let problem = "this is a file, but Parquet is a folder of tables: name another output";
        return Err(Failure::in_file(output, problem));
    }
    let cannot = |error| Failure::in_file(output, format_args!("can't be created: {error}"));
    std::fs::create_dir_all(output).map_err(cannot)?;
    TableName::ALL.into_iter().try_for_each(|name| {
        write(&output.join(name.file_name()), |w| {
            parquet::write(runs, name, &mut progress.count_writes(w))
        })
    })
}

/// Unreachable in this build: the arguments refuse Parquet.
#[cfg(not(feature = "parquet"))]
fn write_tables(output: &Path, _: &[&Run<'_>], _: &Progress) -> Result<(), Failure> {
    Err(Failure::in_file(output, "this command was built without Parquet"))
}
