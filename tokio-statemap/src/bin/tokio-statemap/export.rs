//! `tokio-statemap render` to what other tools read.

use std::io::{self, Write};
use std::path::Path;

use tokio_statemap::__private::export::{Run, Source, csv, folded, perfetto};
use tokio_statemap::__private::write_file;
use tokio_statemap::statemap::read::Statemap;
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::{Format, RenderArgs};
use crate::failure::Failure;
use crate::progress::Progress;

pub(crate) fn run(
    args: &RenderArgs,
    format: Format,
    files: &[Statemap],
    of: &[usize],
    mut progress: Progress,
) -> Result<(), Failure> {
    let recordings = recordings(files);
    let sources: Vec<_> =
        recordings.iter().map(|recording| Source::of(recording, args.title.as_deref())).collect();
    let output = args.output.as_path();
    progress.begin("writing", None);
    if format == Format::Perfetto {
        return write(output, |w| perfetto::write(&sources, progress.counting(w)));
    }
    let runs = runs(args, of, &recordings, &sources)?;
    match format {
        Format::Folded => write(output, |w| folded::write(&runs, progress.counting(w))),
        Format::Csv => write(output, |w| csv::write(&runs, progress.counting(w))),
        _ => tables(output, &runs, &mut progress),
    }
}

/// The runs, if all are: of other data no poll is known.
fn runs<'a>(
    args: &RenderArgs,
    of: &[usize],
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
        let name = file.and_then(|file| args.files.files.get(of[file]));
        let name = name.map_or(Path::new("-"), |name| name);
        match source {
            Source::Run(run) if run.lacks_tasks() => {
                let problem = "this has workers only: polls are in the tasks' data of the same run";
                return Err(Failure::of(name, problem));
            }
            Source::Run(run) => runs.push(&**run),
            Source::Other(_) => {
                let problem = "this isn't the data of a run as tokio-statemap wrote it, so no poll is \
                               known: only .html, .svg and .pftrace can be made of it";
                return Err(Failure::of(name, problem));
            }
        }
    }
    Ok(runs)
}

fn write(
    output: &Path,
    export: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    if output.as_os_str() == "-" {
        return export(&mut io::stdout().lock()).map_err(|error| Failure::stdout(&error));
    }
    write_file(output, export).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::of(output, format_args!("can't be written: {error}")),
    })
}

/// Writes a folder of tables, each of which takes its file's place when it is complete.
#[cfg(feature = "parquet")]
fn tables(output: &Path, runs: &[&Run<'_>], progress: &mut Progress) -> Result<(), Failure> {
    use tokio_statemap::__private::export::parquet::{self, TableName};

    if output.exists() && !output.is_dir() {
        let problem = "this is a file: Parquet is a folder of tables, so give it another name";
        return Err(Failure::of(output, problem));
    }
    let cannot = |error| Failure::of(output, format_args!("can't be made: {error}"));
    std::fs::create_dir_all(output).map_err(cannot)?;
    for name in TableName::ALL {
        write(&output.join(name.file_name()), |w| {
            parquet::write(runs, name, &mut progress.counting(w))
        })?;
    }
    Ok(())
}

/// The arguments are refused where this isn't built.
#[cfg(not(feature = "parquet"))]
fn tables(output: &Path, _: &[&Run<'_>], _: &mut Progress) -> Result<(), Failure> {
    Err(Failure::of(output, "this command was built without Parquet"))
}
