//! `tokio-statemap check`.

use tokio_statemap::__private::clean;
use tokio_statemap::statemap::check::{check, check_ours};

use crate::args::CheckArgs;
use crate::failure::{Failure, line, name, print};
use crate::input::{Content, content};
use crate::limits;
use crate::page;
use crate::progress::Progress;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    args.files.check("check");
    let mut are_all_ok = true;
    let (mut read, mut of) = (Vec::new(), Vec::new());
    for (index, file) in args.files.files.iter().enumerate() {
        let mut progress = Progress::new();
        let checked = content(file, &mut progress).and_then(|content| match content {
            Content::Data(input) => {
                let checked = if args.ours { check_ours(input) } else { check(input) };
                checked.map(|one| vec![one]).map_err(|error| Failure::of(file, error))
            }
            Content::Page { files, .. } => {
                page::check(&files, args.ours).map_err(|problem| Failure::of(file, problem))?;
                Ok(files)
            }
        });
        drop(progress);
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
                print(&format!("{}: ok, {entities}, {changes} of state\n", clean(&name(file))))?;
                if args.limits.are_given() {
                    of.resize(of.len() + statemaps.len(), index);
                    read.extend(statemaps);
                }
            }
            Err(Failure::Bad(problem)) => {
                are_all_ok = false;
                line(&problem);
            }
            Err(failure) => return Err(failure),
        }
    }
    match are_all_ok {
        true => limits::check(args, &read, &of),
        false => Err(Failure::Said),
    }
}
