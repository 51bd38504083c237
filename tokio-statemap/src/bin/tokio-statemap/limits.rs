//! The limits of `tokio-statemap check`.

use std::time::Duration;

use tokio_statemap::__private::{FileOf, Limits, clean, judge};
use tokio_statemap::statemap::read::Statemap;
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::{CheckArgs, LimitArgs};
use crate::failure::{Failure, print_line};
use crate::input::names;
use crate::output::print;
use crate::units;
use crate::usage::misused;

impl LimitArgs {
    /// Returns `true` if any limit is given.
    pub(crate) fn are_given(&self) -> bool {
        self.max_poll.is_some()
            || self.max_ready.is_some()
            || !self.max_span.is_empty()
            || !self.no_long_polls_from.is_empty()
    }

    /// Returns the names of spans, each with its limit. Ends the process if a limit is none.
    pub(crate) fn max_spans(&self) -> Vec<(String, Duration)> {
        let mut spans = Vec::new();
        for pair in self.max_span.chunks(2) {
            let [name, time] = pair else { continue };
            let limit = units::limit(time).unwrap_or_else(|problem| {
                misused("check", &format!("invalid value '{time}' for '--max-span': {problem}"))
            });
            spans.push((name.clone(), Duration::from_nanos(limit)));
        }
        spans
    }
}

/// Judges the runs in `read`. `sources` has the input file of each statemap, as an index.
pub(crate) fn check(args: &CheckArgs, read: &[Statemap], sources: &[usize]) -> Result<(), Failure> {
    let names = |files: &[usize]| names(&args.files, files.iter().map(|&file| sources[file]));
    let LimitArgs { max_poll, max_ready, no_long_polls_from, .. } = &args.limits;
    let max_spans = args.limits.max_spans();
    let matching_glob = |path: &str, of: FileOf| {
        let glob = no_long_polls_from.iter().find(|glob| glob.matches(path, of))?;
        Some(glob.text().to_owned())
    };
    let limits = Limits {
        max_poll: max_poll.map(Duration::from_nanos),
        max_ready: max_ready.map(Duration::from_nanos),
        max_spans: &max_spans,
        no_long_polls_from: (!no_long_polls_from.is_empty()).then_some(&matching_glob),
    };
    let (mut is_over, mut is_unknown) = (false, false);
    for recording in recordings(read) {
        let (judgement, files) = match recording {
            Recording::Run { mut timeline, files, .. } => (judge(&mut timeline, &limits), files),
            Recording::Other { file, .. } => {
                is_unknown = true;
                let file = names(&[file]);
                print_line(&format!(
                    "{file}: limits apply to runs of tokio-statemap; this is none"
                ));
                continue;
            }
            _ => continue,
        };
        let names = names(&files);
        for over in &judgement.exceeded {
            print_line(&format!("{names}: {over}"));
        }
        for why in &judgement.unknown {
            print_line(&format!("{names}: the limits can't be judged: {why}"));
        }
        is_over |= !judgement.exceeded.is_empty();
        is_unknown |= !judgement.unknown.is_empty();
        if judgement.is_kept() {
            print(&format!("{}: within the limits\n", clean(&names)))?;
        }
    }
    match (is_over, is_unknown) {
        (true, _) => Err(Failure::OverLimit),
        (false, true) => Err(Failure::Reported),
        (false, false) => Ok(()),
    }
}
