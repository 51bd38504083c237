//! `tokio-statemap check`.

use tokio_statemap::__private::clean;
use tokio_statemap::statemap::check::{check, check_ours};
use tokio_statemap::statemap::read::Statemap;
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::CheckArgs;
use crate::failure::{Failure, display_name, print_line};
use crate::input::{Content, content};
use crate::limits;
use crate::output::print;
use crate::progress::Progress;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    args.files.check("check");
    args.limits.max_spans();
    let mut are_all_ok = true;
    let (mut read, mut sources) = (Vec::new(), Vec::new());
    for (index, file) in args.files.files.iter().enumerate() {
        let progress = Progress::new();
        let checked = content(file, &progress).and_then(|content| match content {
            Content::Data(data) => {
                let checked = if args.ours { check_ours(data) } else { check(data) };
                checked.map(|one| vec![one]).map_err(|error| Failure::in_file(file, error))
            }
            Content::Page { files, .. } => match problem_of_page(&files, args.ours) {
                Some(problem) => {
                    Err(Failure::in_file(file, format_args!("the data in the page: {problem}")))
                }
                None => Ok(files),
            },
            #[cfg(has_black_box)]
            Content::Box(files) => Ok(files),
        });
        progress.end();
        match checked {
            Ok(statemaps) => {
                let entities = statemaps.iter().flat_map(|statemap| &statemap.entities);
                let changes = match entities.clone().map(|e| e.data.len()).sum::<usize>() {
                    1 => "1 change".to_owned(),
                    n => format!("{n} changes"),
                };
                let entities = match entities.count() {
                    1 => "1 entity".to_owned(),
                    n => format!("{n} entities"),
                };
                let name = display_name(file);
                print(&format!("{}: ok, {entities}, {changes} of state\n", clean(&name)))?;
                sources.resize(sources.len() + statemaps.len(), index);
                read.extend(statemaps.into_iter().filter(|_| args.limits.are_given()));
            }
            Err(Failure::Problem(problem)) => {
                are_all_ok = false;
                print_line(&problem);
            }
            Err(failure) => return Err(failure),
        }
    }
    match are_all_ok {
        true => limits::check(args, &read, &sources),
        false => Err(Failure::Reported),
    }
}

/// Returns the first rule that the data in a page breaks, beyond those that reading the page checks.
fn problem_of_page(files: &[Statemap], is_ours: bool) -> Option<String> {
    recordings(files).iter().find_map(|recording| match recording {
        Recording::Other { .. } if is_ours => Some("this isn't the data of a run".to_owned()),
        Recording::Other { data, .. } => {
            let tag = data.tags.iter().find(|tag| !tag.is_defined)?;
            Some(format!("tag `{}` of state {} has no definition", tag.tag, tag.state))
        }
        _ => None,
    })
}
