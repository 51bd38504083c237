//! The limits of `tokio-statemap check`.

use std::time::Duration;

use tokio_statemap::__private::{FileOf, Limits, clean, judge};
use tokio_statemap::statemap::read::Statemap;
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::{CheckArgs, LimitArgs};
use crate::failure::{Failure, line, name, print};

impl LimitArgs {
    /// Whether there are any.
    pub(crate) fn are_given(&self) -> bool {
        self.max_poll.is_some() || self.max_ready.is_some() || !self.no_long_polls_from.is_empty()
    }
}

/// Judges the runs that `read` is of: each is `of_file` of the files of the arguments.
pub(crate) fn check(args: &CheckArgs, read: &[Statemap], of_file: &[usize]) -> Result<(), Failure> {
    let name_of = |index: usize| name(&args.files.files[of_file[index]]);
    let LimitArgs { max_poll, max_ready, no_long_polls_from } = &args.limits;
    let files = |path: &str, of: FileOf| {
        let glob = no_long_polls_from.iter().find(|glob| glob.matches(path, of))?;
        Some(glob.text().to_owned())
    };
    let limits = Limits {
        max_poll: max_poll.map(Duration::from_nanos),
        max_ready: max_ready.map(Duration::from_nanos),
        no_long_polls_from: (!no_long_polls_from.is_empty()).then_some(&files),
    };
    let (mut is_over, mut is_unknown) = (false, false);
    for recording in recordings(read) {
        let (judgement, of) = match recording {
            Recording::Run { mut timeline, files, .. } => (judge(&mut timeline, &limits), files),
            Recording::Other { file, .. } => {
                is_unknown = true;
                let file = name_of(file);
                line(&format!(
                    "{file}: this is no run of tokio-statemap: its limits can't be judged"
                ));
                continue;
            }
            _ => continue,
        };
        let mut names: Vec<_> = of.iter().map(|&file| name_of(file)).collect();
        // A page has several.
        names.dedup();
        let names = names.join(", ");
        judgement.exceeded.iter().for_each(|over| line(&format!("{names}: {over}")));
        let unknown = |why| format!("{names}: its limits can't be judged: {why}");
        judgement.unknown.iter().for_each(|why| line(&unknown(why)));
        is_over |= !judgement.exceeded.is_empty();
        is_unknown |= !judgement.unknown.is_empty();
        if judgement.is_kept() {
            print(&format!("{}: within the limits\n", clean(&names)))?;
        }
    }
    match (is_over, is_unknown) {
        (true, _) => Err(Failure::Over),
        (false, true) => Err(Failure::Said),
        (false, false) => Ok(()),
    }
}
