//! `tokio-statemap diff`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tokio_statemap::compare::{compare, json};
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::{Labels, Recording, recordings};
use tokio_statemap::{Timeline, html};

use crate::args::{DiffArgs, DiffFormat, Files, WindowArgs, refuse_overwrite};
use crate::failure::Failure;
use crate::input::read_all;
use crate::output;
use crate::progress::Progress;
use crate::usage::misused;

/// The runs of one version, and their labels.
type Runs = (Vec<Timeline>, Labels);

pub(crate) fn run(args: &DiffArgs) -> Result<(), Failure> {
    let format = args.format();
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    let progress = Progress::new();
    let sides = match &args.files[..] {
        [before, after] => vec![files_of(before)?, files_of(after)?],
        files => vec![files.to_vec()],
    };
    let all = Files { files: sides.concat() };
    all.check("diff");
    refuse_overwrite("diff", output, &all.files);
    let mut runs = Vec::new();
    for side in sides {
        runs.push(read_runs(side, &progress)?);
    }
    let [(before, labels), (after, _)] = match <[_; 2]>::try_from(runs) {
        Ok(sides) => sides.map(group),
        Err(all) => two_runs(all.into_iter().flatten().collect()),
    };
    progress.begin("comparing", None);
    let comparison = compare(&before.iter().collect::<Vec<_>>(), &after.iter().collect::<Vec<_>>());
    progress.end();
    let text = match format {
        DiffFormat::Text => format!("{comparison}\n"),
        DiffFormat::Json => json(&comparison) + "\n",
        DiffFormat::Html => {
            let picture = Picture::of_versions(before, after, &comparison, &labels);
            return output::write(output, |w| html::write(&picture, w));
        }
    };
    output::write(output, |w| w.write_all(text.as_bytes()))
}

/// Returns the files of one version: the named file, or the files in a folder.
fn files_of(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable =
        |error: io::Error| Failure::in_file(path, format_args!("can't be read: {error}"));
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
        return Err(Failure::in_file(path, "this folder has no .json or .json.gz files"));
    }
    files.sort();
    Ok(files)
}

/// Groups the runs of one version, under the labels of the first: they are runs of one program.
fn group(runs: Vec<(Timeline, Labels)>) -> Runs {
    let (timelines, mut labels): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    (timelines, labels.swap_remove(0))
}

/// Splits two runs whose files were named one by one, those before first.
fn two_runs(runs: Vec<(Timeline, Labels)>) -> [Runs; 2] {
    match <[_; 2]>::try_from(runs) {
        Ok(runs) => runs.map(|run| group(vec![run])),
        Err(runs) => misused(
            "diff",
            &format!(
                "these are files of {} runs, not of two: put those before into one folder, those \
                 after into another, and name the folders",
                runs.len()
            ),
        ),
    }
}

/// Reads the runs in these files. There is at least one.
fn read_runs(files: Vec<PathBuf>, progress: &Progress) -> Result<Vec<(Timeline, Labels)>, Failure> {
    let files = Files { files };
    let input = read_all(&files, WindowArgs { begin: None, duration: None }, progress)?;
    let mut runs = Vec::new();
    for recording in recordings(&input.statemaps) {
        match recording {
            Recording::Run { timeline, labels, .. } => runs.push((*timeline, labels)),
            Recording::Other { file, .. } => {
                let problem =
                    "this isn't the data of a run as tokio-statemap wrote it: it can't be compared";
                return Err(Failure::in_file(&files.files[input.sources[file]], problem));
            }
            _ => {}
        }
    }
    match runs.is_empty() {
        true => Err(Failure::Problem("there is nothing to compare".to_owned())),
        false => Ok(runs),
    }
}
