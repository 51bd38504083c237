//! `tokio-statemap diff`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tokio_statemap::__private::write_file;
use tokio_statemap::compare::{compare, json};
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::{Labels, Recording, recordings};
use tokio_statemap::{Timeline, html};

use crate::args::{DiffArgs, DiffFormat, Files, WindowArgs};
use crate::failure::{Failure, name, print};
use crate::input::read_all;
use crate::progress::Progress;
use crate::usage::misused;

/// The runs of one version, and what they are called.
type Runs = (Vec<Timeline>, Labels);

pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let format = args.format();
    let mut progress = Progress::new();
    let [(before, labels), (after, _)] = match &args.files[..] {
        [before, after] => {
            let sides = [files(before)?, files(after)?];
            Files { files: sides.concat() }.check("diff");
            sides.iter().for_each(|side| args.check_output(side));
            let [before, after] = sides;
            [runs(before, &mut progress)?, runs(after, &mut progress)?]
        }
        _ => {
            Files { files: args.files.clone() }.check("diff");
            args.check_output(&args.files);
            two_runs(&args.files, &mut progress)?
        }
    };
    progress.begin("comparing", None);
    let comparison = compare(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>());
    let text = match format {
        DiffFormat::Text => format!("{comparison}\n"),
        DiffFormat::Json => json(&comparison) + "\n",
        DiffFormat::Html => {
            let picture = Picture::of_versions(before, after, &comparison, &labels);
            return write(args.output.as_deref(), progress, |w| html::write(&picture, w));
        }
    };
    write(args.output.as_deref(), progress, |w| w.write_all(text.as_bytes()))
}

/// Writes to a file, or to standard output.
fn write(
    output: Option<&Path>,
    mut progress: Progress,
    content: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    progress.end();
    let Some(output) = output.filter(|output| output.as_os_str() != "-") else {
        let mut text = Vec::new();
        content(&mut text).map_err(|error| Failure::stdout(&error))?;
        return print(&String::from_utf8_lossy(&text));
    };
    write_file(output, content).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::of(output, format_args!("can't be written: {error}")),
    })
}

/// The files of one version: the one that is named, or those in a folder.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |error: io::Error| Failure::of(path, format_args!("can't be read: {error}"));
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_data = name.ends_with(".json") || name.ends_with(".json.gz");
        if is_data && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Failure::of(path, "there are no .json or .json.gz files in this folder"));
    }
    files.sort();
    Ok(files)
}

fn runs(files: Vec<PathBuf>, progress: &mut Progress) -> Result<Runs, Failure> {
    let read = read_runs(files, progress)?;
    let (timelines, mut labels): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    // They are of one program, unless somebody put others there.
    Ok((timelines, labels.swap_remove(0)))
}

/// The tasks' and workers' files of two runs, those before first.
fn two_runs(files: &[PathBuf], progress: &mut Progress) -> Result<[Runs; 2], Failure> {
    let runs = read_runs(files.to_vec(), progress)?;
    let number = runs.len();
    let mut runs = runs.into_iter().map(|(timeline, labels)| (vec![timeline], labels));
    match (runs.next(), runs.next(), runs.next()) {
        (Some(before), Some(after), None) => Ok([before, after]),
        _ => {
            let problem = format!(
                "these files are of {number} runs, not of two: put those before into one folder, those after into \
                 another, and name the folders"
            );
            misused("diff", &problem)
        }
    }
}

/// The runs that files are of, at least one.
fn read_runs(
    files: Vec<PathBuf>,
    progress: &mut Progress,
) -> Result<Vec<(Timeline, Labels)>, Failure> {
    let files = Files { files };
    let read = read_all(&files, WindowArgs { begin: None, duration: None }, progress)?;
    let mut runs = Vec::new();
    for recording in recordings(&read.statemaps) {
        match recording {
            Recording::Run { timeline, labels, .. } => runs.push((*timeline, labels)),
            Recording::Other { file, .. } => {
                let problem =
                    "this is no run of tokio-statemap, or was changed: it can't be compared";
                return Err(Failure::Bad(format!(
                    "{}: {problem}",
                    name(&files.files[read.of[file]])
                )));
            }
            _ => {}
        }
    }
    match runs.is_empty() {
        true => Err(Failure::Bad("there is nothing to compare".to_owned())),
        false => Ok(runs),
    }
}
