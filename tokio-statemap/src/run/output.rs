//! The files of a run.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::env;
use super::path::Names;
use super::settings::{Report, Settings};
use super::stream::{Stream, is_stream};
use crate::error::Error;
use crate::message::{print, say};
use crate::statemap::{Labels, write_tasks, write_workers};
use crate::timeline::Timeline;

/// Where everything goes.
#[derive(Debug)]
pub(super) struct Outputs {
    tasks: Option<Target>,
    workers: Option<Target>,
    /// `None` is stderr.
    report: Option<Target>,
    labels: Labels,
    /// Tests print by `eprint!`, which their harness captures.
    is_test: bool,
    is_delayed: bool,
}

/// One file that is to be written.
#[derive(Debug)]
struct Target {
    /// The key of the attribute that names it.
    key: &'static str,
    /// As the user knows it.
    shown: PathBuf,
    /// The same whatever the working folder becomes.
    path: PathBuf,
}

impl Outputs {
    /// Finds out where everything goes, makes the folders, and warns of what can't be written.
    pub(super) fn prepare(settings: &Settings) -> Self {
        let names = Names::of_this_process(settings.test.is_some());
        let (mut tasks, mut workers) = (settings.tasks.clone(), settings.workers.clone());
        let report = match &settings.report {
            Report::Stderr => None,
            Report::Path(path) => Some(path.clone()),
        };
        if tasks.is_none() && workers.is_none() && report.is_none() {
            let of_test = settings.test.map(|test| format!(".{}", test.replace("::", ".")));
            let stem = format!("{{bin}}{}", of_test.unwrap_or_default());
            let default = |kind: &str| Some(format!("{stem}.{kind}.json").into());
            tasks = settings.trace.tracks_tasks().then(|| default("tasks")).flatten();
            workers = settings.trace.tracks_workers().then(|| default("workers")).flatten();
        }
        let mut used: Vec<(&str, PathBuf)> = Vec::new();
        let mut target = |key: &'static str, path: Option<PathBuf>| {
            let target = Target::new(key, &names.fill_in(&path?));
            if let Some((first, _)) =
                used.iter().find(|(_, path)| *path == target.path && !is_stream(path))
            {
                say(format_args!(
                    "`{key}` is not written: {} is the file of `{first}`",
                    target.shown.display()
                ));
                return None;
            }
            used.push((key, target.path.clone()));
            if let Err(error) = target.check() {
                say(format_args!("`{key}` can't be written: {error}"));
            }
            Some(target)
        };
        let trace = settings.trace;
        for (key, path, is_traced) in
            [("tasks", &tasks, trace.tracks_tasks()), ("workers", &workers, trace.tracks_workers())]
        {
            if path.is_some() && !is_traced {
                say(format_args!("the file of `{key}` will be empty: `trace` leaves them out"));
            }
        }
        Self {
            tasks: target("tasks", tasks),
            workers: target("workers", workers),
            report: target("report", report),
            labels: Labels { title: names.bin.clone(), host: names.host.clone() },
            is_test: settings.test.is_some(),
            is_delayed: settings.start_after.is_some(),
        }
    }

    /// Writes everything. What fails costs a line, and nothing else.
    pub(super) fn write(&self, timeline: &Timeline) {
        let mut written = Vec::new();
        let mut failed = Vec::new();
        let mut write =
            |target: &Option<Target>, content: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
                if let Some(target) = target {
                    match target.write(content) {
                        Ok(()) => written.push(target.shown.display().to_string()),
                        Err(error) => failed.push(format!("`{}`: {error}", target.key)),
                    }
                }
            };
        write(&self.tasks, &|w| write_tasks(timeline, &self.labels, w));
        write(&self.workers, &|w| write_workers(timeline, &self.labels, w));
        let report = self.report_text(timeline);
        write(&self.report, &|w| w.write_all(report.as_bytes()));
        let mut text = String::new();
        if self.report.is_none() {
            text = format!("{}\n", report.trim_end());
            if !written.is_empty() {
                text += &format!("Written: {}\n", written.join(", "));
            }
        }
        for error in failed {
            text += &format!("tokio-statemap: not written: {error}\n");
        }
        match self.is_test {
            true => eprint!("{text}"),
            false => print(format_args!("{text}")),
        }
    }

    fn report_text(&self, timeline: &Timeline) -> String {
        if self.is_delayed && timeline.events == 0 && timeline.recorded_ns() == 0 {
            return "Nothing was recorded: the program ended before `start_after`.\n".into();
        }
        timeline.report().to_string()
    }
}

impl Target {
    fn new(key: &'static str, path: &Path) -> Self {
        let shown = match env::folder() {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        };
        let path = std::path::absolute(&shown).unwrap_or_else(|_| shown.clone());
        Self { key, shown, path }
    }

    /// Whether it can be written, as far as one can tell without writing it. Makes the folders.
    fn check(&self) -> Result<(), Error> {
        let check = || {
            if self.path.file_name().is_none() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
            }
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            match fs::metadata(&self.path) {
                Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
                // Only writing tells.
                Ok(_) if is_stream(&self.path) => Ok(()),
                _ => {
                    let (beside, _) = self.create_beside()?;
                    fs::remove_file(beside)
                }
            }
        };
        check().map_err(|source| self.error(source))
    }

    /// Writes `content`, which buffers by itself, so that the file is all there or untouched: beside it first, then renamed.
    fn write(&self, content: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        let write = || {
            // `/dev/stdout`, `/dev/full`, a pipe: replacing those by a file is not what is meant.
            if is_stream(&self.path) {
                return content(&mut Stream::open(&self.path)?);
            }
            let (beside, mut file) = self.create_beside()?;
            let renamed = content(&mut file).and_then(|()| fs::rename(&beside, self.real()));
            if renamed.is_err() {
                let _ = fs::remove_file(&beside);
            }
            renamed
        };
        write().map_err(|source| self.error(source))
    }

    /// A new file in the folder that the target is really in, and its path.
    fn create_beside(&self) -> io::Result<(PathBuf, File)> {
        // Runs side by side may write the same file, and somebody may have been there before.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        const TRIES: usize = 100;
        let real = self.real();
        let mut failed = None;
        for _ in 0..TRIES {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".statemap-{}-{count}.tmp", std::process::id());
            let beside = real.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => {
                    // Whoever may read the old one may read the new one, and nobody else.
                    if let Ok(old) = fs::metadata(&real) {
                        let _ = file.set_permissions(old.permissions());
                    }
                    return Ok((beside, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// The path behind symbolic links, of which the last may lead to a file that isn't there yet.
    fn real(&self) -> PathBuf {
        const MOST_LINKS: usize = 40;
        let mut path = self.path.clone();
        for _ in 0..MOST_LINKS {
            match fs::read_link(&path) {
                Ok(next) => path = path.parent().map_or(next.clone(), |folder| folder.join(next)),
                Err(_) => break,
            }
        }
        path
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { path: self.shown.clone(), source }
    }
}
