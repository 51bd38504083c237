//! `tokio-statemap symbolize`.

use tokio_statemap::__private::{clean, has_addresses, renewed, symbolize};
use tokio_statemap::html;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings, write_tasks};

use crate::args::SymbolizeArgs;
use crate::failure::{Failure, display_name, print_line};
use crate::input::{Content, content};
use crate::output::{print, write};
use crate::progress::Progress;
use crate::render::source_files;
use crate::usage::misused;

pub(crate) fn run(args: &SymbolizeArgs) -> Result<(), Failure> {
    let is_packed = args.file.extension().is_some_and(|name| name.eq_ignore_ascii_case("gz"));
    if args.output.is_none() && is_packed {
        let file = args.file.display();
        let problem = format!("{file} is compressed, but the output isn't: name it by `-o FILE`");
        misused("symbolize", &problem);
    }
    let output = args.output.as_ref().unwrap_or(&args.file);
    let is_stdout = output.as_os_str() == "-";
    let print_result = |text: String| match is_stdout {
        // Standard output has the data.
        true => {
            print_line(&text);
            Ok(())
        }
        false => print(&format!("{}\n", clean(&text))),
    };
    let progress = Progress::new();
    let (mut files, page) = match content(&args.file, &progress)? {
        Content::Data(data) => {
            (vec![read(data).map_err(|error| Failure::in_file(&args.file, error))?], None)
        }
        Content::Page { files, html } => (files, Some(html)),
        #[cfg(has_black_box)]
        Content::Box(_) => {
            let problem = "a black box stays as it is: make a page or data of it first, with `recover FILE -o OUT`";
            return Err(Failure::in_file(&args.file, problem));
        }
    };
    if args.source.is_some() && page.is_none() {
        let problem =
            "`--source` is for a page, as data shows no source: leave it out, or name a page";
        misused("symbolize", problem);
    }
    let runs = recordings(&files).into_iter().filter_map(|recording| match recording {
        Recording::Run { timeline, labels, files, .. } => Some((*timeline, labels, files)),
        _ => None,
    });
    let mut runs: Vec<_> = runs.collect();
    if runs.is_empty() {
        let problem = "this isn't the data of a run as tokio-statemap wrote it";
        return Err(Failure::in_file(&args.file, problem));
    }
    progress.end();
    let file = display_name(&args.file);
    if !runs.iter().any(|(timeline, ..)| has_addresses(timeline)) {
        return print_result(format!(
            "{file}: nothing to do: no function is an address with a build id"
        ));
    }
    let mut timelines: Vec<_> = runs.iter_mut().map(|(timeline, ..)| timeline).collect();
    let done = symbolize(&mut timelines, &args.binary);
    let done = done.map_err(|problem| Failure::in_file(&args.binary, problem))?;
    let source = args.source.as_deref().map(source_files).transpose()?;
    progress.begin("writing", None);
    match (&page, &runs[..]) {
        (None, [(timeline, labels, _)]) => {
            drop(files);
            write(output, |w| write_tasks(timeline, labels, progress.count_writes(w)))?;
        }
        _ => {
            for (timeline, labels, of_run) in &runs {
                for &index in of_run {
                    files[index] = renewed(&files[index], timeline, labels)
                        .map_err(|error| Failure::in_file(&args.file, error))?;
                }
            }
            let mut picture = Picture::of_data(&files);
            if let Some(source) = &source {
                picture = picture.with_source(source);
            }
            write(output, |w| html::write(&picture, progress.count_writes(w)))?;
        }
    }
    progress.end();
    let left = match done.left {
        0 => String::new(),
        left => format!(", {left} are still addresses"),
    };
    let lost_source = match source.is_none() && page.is_some_and(|page| shows_source(&page)) {
        true => "; the page no longer shows source: `--source DIR` reads it again",
        false => "",
    };
    print_result(format!("{file}: {} addresses have names{left}{lost_source}", done.found))
}

/// Returns `true` if a page shows lines of source, which its data doesn't have.
fn shows_source(page: &[u8]) -> bool {
    // Text in a page has its quotation marks escaped, so this is the member itself.
    let member = b"\"source\":{\"all\":[[";
    page.windows(member.len()).any(|part| part == member)
}
