//! The outputs of a run, and how each is written.

#[cfg(feature = "html")]
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::env;
use super::path::Names;
use super::progress::Progress;
use super::runtimes::Recorded;
use super::settings::Settings;
use super::target::Target;
use super::targets::Targets;
use crate::analysis::picture::{Picture, SourceFiles};
use crate::analysis::{Report, severity};
use crate::config::TraceTarget;
use crate::error::Error;
use crate::render::report;
use crate::render::report::terminal::{self, Colours};
use crate::statemap::{Labels, write_tasks, write_workers};
use crate::trace::timeline::Timeline;
use crate::util::clean::clean;
use crate::util::message::{print, print_in_test};
use crate::util::parallel::{MANY_EVENTS, run_parallel};

/// The targets of all outputs.
#[derive(Debug)]
pub(super) struct Outputs {
    tasks: Option<Target>,
    workers: Option<Target>,
    html: Option<Target>,
    svg: Option<Target>,
    /// `None` for stderr.
    report: Option<Target>,
    /// The page beside which those are that are written while the program runs; `None` if there are none.
    #[cfg_attr(not(feature = "html"), allow(dead_code, reason = "there are none"))]
    dump: Option<Target>,
    labels: Labels,
    /// The source files for the page; `None` if it shows no source.
    source: Option<SourceFiles>,
    /// The colours that stderr supports, if it is a terminal.
    colours: Colours,
    /// `true` if the report must be printed so that a test harness captures it.
    is_test: bool,
    is_delayed: bool,
}

/// A file, and whether it was written.
type Outcome = (Target, Result<(), Error>);

/// Sentences at the end of a report: on runtimes that are not shown, and on the pages that were written before.
type Notes<'a> = (&'a [String], &'a [String]);

/// The paths of the files, as given by the user: the keys of the outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OutputPaths {
    /// The tasks' statemap data.
    pub(super) tasks: Option<PathBuf>,
    /// The workers' statemap data.
    pub(super) workers: Option<PathBuf>,
    /// The page.
    pub(super) html: Option<PathBuf>,
    /// The SVG.
    pub(super) svg: Option<PathBuf>,
    /// The report; `None` for stderr.
    pub(super) report: Option<PathBuf>,
}

impl OutputPaths {
    /// Returns the paths that are set, or else the defaults: the page if this build supports it,
    /// otherwise the data.
    fn from_settings(settings: &Settings, has_html: bool) -> Self {
        let given = settings.outputs.clone();
        if given != Self::default() {
            return given;
        }
        let stem = default_stem(settings);
        let default =
            |is_traced: bool, end: &str| is_traced.then(|| format!("{stem}.{end}").into());
        let trace = settings.config.trace_target;
        match has_html {
            true => Self { html: default(trace != TraceTarget::None, "statemap.html"), ..given },
            false => Self {
                tasks: default(trace.tracks_tasks(), "tasks.json"),
                workers: default(trace.tracks_workers(), "workers.json"),
                ..given
            },
        }
    }
}

/// Returns the beginning of the names of files for which no path is given.
fn default_stem(settings: &Settings) -> String {
    let of_test = settings.test.map(|test| format!(".{}", test.replace("::", ".")));
    format!("{{bin}}{}", of_test.unwrap_or_default())
}

impl Outputs {
    /// Resolves the targets, creates their folders, and warns about those that can't be written.
    /// `file` is the source file that starts the recording.
    ///
    /// With `has_dumps`, pages are written while the program runs, too.
    pub(super) fn prepare(settings: &Settings, has_dumps: bool, file: &'static str) -> Self {
        let names = Names::of_this_process(settings.test.is_some());
        let paths = OutputPaths::from_settings(settings, cfg!(feature = "html"));
        let trace = settings.config.trace_target;
        let mut targets = Targets::new(&names);
        let mut target = |key, path, is_traced| targets.prepare(key, path, is_traced);
        let is_any_traced = trace != TraceTarget::None;
        let tasks = target("tasks", paths.tasks, trace.tracks_tasks());
        let workers = target("workers", paths.workers, trace.tracks_workers());
        let html = target("html", paths.html, is_any_traced);
        Self {
            tasks,
            workers,
            dump: has_dumps.then(|| {
                let page = html.clone().filter(|page| !page.is_stream());
                page.unwrap_or_else(|| {
                    let page = format!("{}.statemap.html", default_stem(settings));
                    Target::new("dump_on", &names.fill_in(Path::new(&page)))
                })
            }),
            html,
            svg: target("svg", paths.svg, is_any_traced),
            // An empty report says that it is empty.
            report: target("report", paths.report, true),
            labels: Labels { title: names.bin.clone(), host: names.host.clone() },
            source: settings.source.then(|| match settings.package.or_else(env::package) {
                Some(package) => SourceFiles::of_package(package, file),
                None => SourceFiles::of_dependencies(),
            }),
            colours: Colours::for_stream(&io::stderr()),
            is_test: settings.test.is_some(),
            is_delayed: settings.start_after.is_some(),
        }
    }

    /// Writes all outputs. An error leads to a line on stderr and nothing else.
    /// `dumps` has sentences on the pages that were written before. Returns whether all files could be written.
    pub(super) fn write(&self, recorded: &Recorded, dumps: &[String], progress: &Progress) -> bool {
        let reports: Vec<_> = recorded.timelines.iter().map(Timeline::report).collect();
        let ranked = severity::worst_first(&recorded.timelines, &reports);
        let forgotten = recorded.forgotten.sentences();
        let picture = (self.html.is_some() || self.svg.is_some()).then(|| {
            let picture = Picture::of_runtimes(&ranked, &self.labels);
            let picture = picture.with_note(forgotten.join(" ")).with_note(dumps.join(" "));
            match (&self.source, &self.html) {
                (Some(files), Some(_)) => picture.with_source(files),
                _ => picture,
            }
        });
        let mut results = self.files(&ranked, picture.as_ref(), progress);
        if let Some(target) = &self.report {
            let text = self.report_text(&ranked, (&forgotten, dumps), Colours::None);
            let result = target.write(&|w| w.write_all(text.as_bytes()));
            results.push((target.clone(), result));
        }
        self.print(&ranked, (&forgotten, dumps), &results);
        results.iter().all(|(_, result)| result.is_ok())
    }

    /// Writes the page of a moment while the program runs, with `why` it is written. It has the number `first`, or the next one
    /// that is free. Returns its number, where it is, and its size in bytes.
    #[cfg(feature = "html")]
    pub(super) fn dump(
        &self,
        recorded: &Recorded,
        first: u32,
        why: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(u32, Target, u64), Error> {
        let pages = self.dump.as_ref().expect("it has a place");
        let target = pages.of_dump(first);
        // The folder may have been removed since the start.
        target.find()?;
        let reports: Vec<_> = recorded.timelines.iter().map(Timeline::report).collect();
        let ranked = severity::worst_first(&recorded.timelines, &reports);
        let picture = Picture::of_runtimes(&ranked, &self.labels);
        let picture = picture.with_note(recorded.forgotten.sentences().join(" "));
        let mut picture = picture.with_note(format!("Written while the program ran: {why}."));
        if let Some(files) = &self.source {
            picture = picture.with_source(files);
        }
        let number = pages.write_dump(first, &|w| {
            write_page(&picture, w)?;
            match is_over() {
                true => Err(io::Error::other("the program ended first")),
                false => Ok(()),
            }
        })?;
        let target = pages.of_dump(number);
        let written = fs::metadata(&target.path).map_err(|source| target.error(source))?;
        Ok((number, target, written.len()))
    }

    /// Returns the pages that are there, of this process and of others, each with its number and its size in bytes, the oldest first.
    #[cfg(feature = "html")]
    pub(super) fn dumps(&self) -> Vec<(u32, PathBuf, u64)> {
        self.dump.as_ref().map(Target::dumps).unwrap_or_default()
    }

    /// Prints the report, unless it has a file, and which files were written and which weren't.
    fn print(&self, ranked: &[(&Timeline, &Report)], notes: Notes<'_>, results: &[Outcome]) {
        let mut text = String::new();
        if self.report.is_none() {
            // The terminal may have been replaced since.
            let report_text = self.report_text(ranked, notes, self.colours_now());
            text = format!(
                "Report of tokio-statemap on {} (process {}):\n{}\n",
                clean(&self.labels.title),
                std::process::id(),
                report_text.trim_end()
            );
            let written = results.iter().filter(|(_, result)| result.is_ok());
            let written: Vec<_> = written.map(|(to, _)| to.shown.display().to_string()).collect();
            if !written.is_empty() {
                text += &format!("Written: {}\n", written.join(", "));
            }
        }
        for (target, result) in results {
            if let Err(error) = result {
                text += &format!("tokio-statemap: not written: `{}`: {error}\n", target.key);
            }
        }
        match self.is_test {
            true => print_in_test(text),
            false => print(format_args!("{text}")),
        }
    }

    /// Writes the files that show the timelines. With many events this is done in parallel, as
    /// rendering takes longer than writing.
    fn files(
        &self,
        ranked: &[(&Timeline, &Report)],
        picture: Option<&Picture<'_>>,
        progress: &Progress,
    ) -> Vec<Outcome> {
        type Format = fn(&Timeline, &Labels, &mut dyn Write) -> io::Result<()>;
        let labels = &self.labels;
        let is_one = ranked.len() == 1;
        let mut formats: Vec<(&Target, Format, bool)> = Vec::new();
        for (target, format) in [
            (&self.tasks, (|timeline, labels, w| write_tasks(timeline, labels, w)) as Format),
            (&self.workers, |timeline, labels, w| write_workers(timeline, labels, w)),
        ] {
            if let Some(target) = target {
                formats.push((target, format, !is_one && target.is_stream()));
            }
        }
        let mut jobs: Vec<Box<dyn FnOnce() -> Outcome + Send + '_>> = Vec::new();
        for &(timeline, _) in ranked {
            for &(target, format, is_shared) in &formats {
                // The format has one run per file. Only a stream is shared by runtimes.
                let target = match &timeline.runtime {
                    Some(name) if !is_one && !is_shared => target.of_runtime(name),
                    _ => target.clone(),
                };
                jobs.push(Box::new(move || {
                    let result =
                        target.write(&|w| format(timeline, labels, &mut progress.counted(w)));
                    (target, result)
                }));
            }
        }
        type Draw = fn(&Picture<'_>, &mut dyn Write) -> io::Result<()>;
        for (target, draw) in [(&self.html, write_page as Draw), (&self.svg, write_svg as Draw)] {
            if let (Some(target), Some(picture)) = (target, picture) {
                jobs.push(Box::new(move || {
                    let result = target.write(&|w| draw(picture, &mut progress.counted(w)));
                    (target.clone(), result)
                }));
            }
        }
        let events: u64 = ranked.iter().map(|(timeline, _)| timeline.events).sum();
        if events < MANY_EVENTS || formats.iter().any(|(.., is_shared)| *is_shared) {
            return jobs.into_iter().map(|job| job()).collect();
        }
        run_parallel(jobs)
    }

    /// Returns the colours that stderr supports now: the program may have redirected it.
    fn colours_now(&self) -> Colours {
        if !self.is_test && io::stderr().is_terminal() { self.colours } else { Colours::None }
    }

    fn report_text(
        &self,
        ranked: &[(&Timeline, &Report)],
        (forgotten, dumps): Notes<'_>,
        colours: Colours,
    ) -> String {
        let is_empty =
            |(timeline, _): &(&Timeline, _)| timeline.events == 0 && timeline.recorded_ns() == 0;
        if self.is_delayed && ranked.iter().all(is_empty) {
            return "Nothing was recorded: the program ended before `start_after`.\n".into();
        }
        let text = |report: &Report| match colours {
            Colours::None => report.to_string(),
            colours => terminal::coloured_report(&report.to_string(), report, colours),
        };
        let mut all = match ranked {
            [(_, only)] if forgotten.is_empty() => text(only),
            _ => report::of_runtimes(ranked, forgotten, &text),
        };
        if !dumps.is_empty() {
            all = format!("{}\n\n{}\n", all.trim_end(), dumps.join("\n"));
        }
        all
    }
}

#[cfg(feature = "html")]
fn write_page(picture: &Picture<'_>, w: &mut dyn Write) -> io::Result<()> {
    crate::render::html::write(picture, w)
}

/// Unreachable: without the feature, neither a key nor the default asks for a page.
#[cfg(not(feature = "html"))]
fn write_page(_: &Picture<'_>, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this is a build without the feature `html`"))
}

#[cfg(feature = "svg")]
fn write_svg(picture: &Picture<'_>, w: &mut dyn Write) -> io::Result<()> {
    crate::render::svg::write(picture, w)
}

/// Unreachable: without the feature no key asks for an SVG.
#[cfg(not(feature = "svg"))]
fn write_svg(_: &Picture<'_>, _: &mut dyn Write) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this is a build without the feature `svg`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(trace_target: TraceTarget) -> Settings {
        let mut settings = Settings::main();
        settings.config.trace_target = trace_target;
        settings
    }

    #[test]
    fn by_default_it_is_the_page_or_else_the_data() {
        let settings = Settings::main();
        let page =
            OutputPaths { html: Some("{bin}.statemap.html".into()), ..OutputPaths::default() };
        assert_eq!(OutputPaths::from_settings(&settings, true), page);
        let data = OutputPaths {
            tasks: Some("{bin}.tasks.json".into()),
            workers: Some("{bin}.workers.json".into()),
            ..OutputPaths::default()
        };
        assert_eq!(OutputPaths::from_settings(&settings, false), data);

        let settings = Settings { test: Some("shop::orders::paid"), ..Settings::main() };
        let page = OutputPaths {
            html: Some("{bin}.shop.orders.paid.statemap.html".into()),
            ..OutputPaths::default()
        };
        assert_eq!(OutputPaths::from_settings(&settings, true), page);

        let settings = recording(TraceTarget::Workers);
        assert_eq!(
            OutputPaths::from_settings(&settings, false),
            OutputPaths { tasks: None, ..data }
        );
        let settings = recording(TraceTarget::None);
        for has_html in [true, false] {
            assert_eq!(OutputPaths::from_settings(&settings, has_html), OutputPaths::default());
        }
    }

    #[test]
    fn any_path_takes_the_place_of_the_default() {
        let path = || Some(PathBuf::from("given"));
        for outputs in [
            OutputPaths { tasks: path(), ..OutputPaths::default() },
            OutputPaths { workers: path(), ..OutputPaths::default() },
            OutputPaths { html: path(), ..OutputPaths::default() },
            OutputPaths { svg: path(), ..OutputPaths::default() },
            OutputPaths { report: path(), ..OutputPaths::default() },
        ] {
            let settings = Settings { outputs: outputs.clone(), ..Settings::main() };
            assert_eq!(OutputPaths::from_settings(&settings, true), outputs);
        }
    }
}
