//! `tokio-statemap check`.

use tokio_statemap::__private::clean;
use tokio_statemap::statemap::check::{check, check_ours};

use crate::args::CheckArgs;
use crate::failure::{Failure, line, name, print};
use crate::input::read_with;
use crate::limits;
use crate::progress::Progress;

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    args.files.check("check");
    let mut are_all_ok = true;
    let mut read = Vec::new();
    for file in &args.files.files {
        let mut progress = Progress::new();
        let checked = read_with(file, &mut progress, |input| match args.ours {
            true => check_ours(input),
            false => check(input),
        });
        drop(progress);
        match checked {
            Ok(statemap) => {
                let entities = match statemap.entities.len() {
                    1 => "1 entity".to_owned(),
                    n => format!("{n} entities"),
                };
                let changes = match statemap.entities.iter().map(|e| e.data.len()).sum::<usize>() {
                    1 => "1 change".to_owned(),
                    n => format!("{n} changes"),
                };
                print(&format!("{}: ok, {entities}, {changes} of state\n", clean(&name(file))))?;
                if args.limits.are_given() {
                    read.push(statemap);
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
        true => limits::check(args, &read),
        false => Err(Failure::Said),
    }
}
