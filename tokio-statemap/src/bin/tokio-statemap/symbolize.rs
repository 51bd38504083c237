//! `tokio-statemap symbolize`.

use std::io::{self, Write};

use tokio_statemap::__private::{clean, has_addresses, renewed, symbolize, write_file};
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Labels, Recording, recordings, write_tasks};
use tokio_statemap::{Timeline, html};

use crate::args::SymbolizeArgs;
use crate::failure::{Failure, line, name, print};
use crate::input::{Content, content};
use crate::progress::Progress;
use crate::render::source_in;
use crate::usage::misused;

/// A run, and which of the files it is of.
type Run = (Timeline, Labels, Vec<usize>);

pub(crate) fn run(args: &SymbolizeArgs) -> Result<(), Failure> {
    let is_packed = args.file.extension().is_some_and(|name| name.eq_ignore_ascii_case("gz"));
    if args.output.is_none() && is_packed {
        let problem = format!(
            "{} is compressed, and what is written isn't: say where by `-o FILE`",
            args.file.display()
        );
        misused("symbolize", &problem);
    }
    let output = args.output.as_ref().unwrap_or(&args.file);
    let is_stdout = output.as_os_str() == "-";
    // What is read there is the data.
    let say = |text: String| match is_stdout {
        true => {
            line(&text);
            Ok(())
        }
        false => print(&format!("{}\n", clean(&text))),
    };
    let mut progress = Progress::new();
    let (mut files, shows_source) = match content(&args.file, &mut progress)? {
        Content::Data(input) => {
            (vec![read(input).map_err(|error| Failure::of(&args.file, error))?], None)
        }
        Content::Page { files, shows_source } => (files, Some(shows_source)),
    };
    let is_page = shows_source.is_some();
    if args.source.is_some() && !is_page {
        let problem =
            "`--source` is for a page, which alone shows source: leave it out, or name a page";
        misused("symbolize", problem);
    }
    let mut runs = runs(&files);
    if runs.is_empty() {
        let problem = "this isn't the data of a run as tokio-statemap wrote it";
        return Err(Failure::of(&args.file, problem));
    }
    progress.end();
    let file = name(&args.file);
    if !runs.iter().any(|(timeline, ..)| has_addresses(timeline)) {
        return say(format!("{file}: nothing to do: no function is an address with a build id"));
    }
    let mut timelines: Vec<_> = runs.iter_mut().map(|(timeline, ..)| timeline).collect();
    let done = symbolize(&mut timelines, &args.binary);
    let done = done.map_err(|problem| Failure::of(&args.binary, problem))?;
    if is_page {
        for (timeline, labels, of) in &runs {
            for &file in of {
                files[file] = renewed(&files[file], timeline, labels)
                    .map_err(|error| Failure::of(&args.file, error))?;
            }
        }
    } else {
        files.clear();
    }
    let source = args.source.as_deref().map(source_in).transpose()?;
    progress.begin("writing", None);
    let mut write = |w: &mut dyn Write| {
        let w = progress.counting(w);
        match &runs[..] {
            [(timeline, labels, _)] if !is_page => write_tasks(timeline, labels, w),
            _ => {
                let mut picture = Picture::of_data(&files);
                if let Some(source) = &source {
                    picture = picture.with_source(source);
                }
                html::write(&picture, w)
            }
        }
    };
    if is_stdout {
        write(&mut io::stdout().lock()).map_err(|error| Failure::stdout(&error))?;
    } else {
        write_file(output, write).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::of(output, format_args!("can't be written: {error}")),
        })?;
    }
    drop(progress);
    let left = match done.left {
        0 => String::new(),
        left => format!(", {left} are still addresses"),
    };
    let source = match (shows_source, source) {
        (Some(true), None) => "; the page shows no source any more: `--source DIR` has it read",
        _ => "",
    };
    say(format!("{file}: {} addresses have names{left}{source}", done.found))
}

/// The runs that these files are of.
fn runs(files: &[Statemap]) -> Vec<Run> {
    let runs = recordings(files).into_iter().filter_map(|recording| match recording {
        Recording::Run { timeline, labels, files, .. } => Some((*timeline, labels, files)),
        _ => None,
    });
    runs.collect()
}
