//! Long polls as issues: of each culprit, and of the spawn locations of whose long polls too little is kept to name one.

use super::{Issue, IssueKind};
use crate::analysis::culprits::is_harm;
use crate::analysis::locations::LocationRow;
use crate::analysis::report::Report;
use crate::analysis::verdict::Verdict;
use crate::analysis::whole_run;

/// An issue, and what it is put in order by.
pub(super) struct Found {
    pub(super) issue: Issue,
    pub(super) did_harm: bool,
    /// How long others were delayed, or else how long workers were held, in the whole run, in ns.
    pub(super) harm_ns: u128,
}

/// All of them: those that did harm first, and of these the worst first.
pub(super) fn find(report: &Report) -> Vec<Found> {
    let mut culprits = (0..report.culprits.len()).peekable();
    let mut rows = report.unexplained.iter().peekable();
    let mut found = Vec::new();
    loop {
        let culprit = culprits.peek().map(|&index| &report.culprits[index]);
        let next = match rows.next_if(|row| whole_run::is_worse(row, culprit)) {
            Some(row) => Some(of_row(report, *row)),
            None => match culprits.next() {
                Some(index) => of_culprit(report, index),
                None => break,
            },
        };
        found.extend(next);
    }
    // Stable.
    found.sort_by_key(|found| !found.did_harm);
    let others = found.len().saturating_sub(1);
    if let Some(first) = found.first_mut() {
        if let Verdict::LongPolls { others: of, .. }
        | Verdict::LongPollsNotKept { others: of, .. } = &mut first.issue.finding
        {
            *of = others;
        }
    }
    found
}

fn of_culprit(report: &Report, index: usize) -> Option<Found> {
    let (culprit, long_poll) = (&report.culprits[index], report.long_poll);
    let row = *report.locations.iter().find(|row| row.place == culprit.place)?;
    let did_harm = culprit.did_harm(long_poll);
    let finding = Verdict::LongPolls {
        culprit: Box::new(culprit.clone()),
        row,
        did_harm,
        long_poll,
        others: 0,
    };
    let (place, number, total_ns) = (Some(culprit.place), culprit.polls, culprit.own_ns);
    let issue = Issue {
        frame: culprit.frame.clone(),
        lengths: Some(culprit.lengths.clone()),
        culprit: Some(index),
        ..Issue::new(IssueKind::LongPolls, place, number, total_ns, finding)
    };
    Some(Found { issue, did_harm, harm_ns: culprit.harm_ns() })
}

fn of_row(report: &Report, row: LocationRow) -> Found {
    let long_poll = report.long_poll;
    let longest_ns = row.longest_ns.min(row.long_polls_ns);
    let harm_ns = u128::from(row.long_polls_ns);
    let did_harm = is_harm(harm_ns, longest_ns, long_poll);
    let finding = Verdict::LongPollsNotKept { row, did_harm, long_poll, others: 0 };
    let (number, total_ns) = (row.long_polls, row.long_polls_ns);
    let issue = Issue::new(IssueKind::LongPolls, Some(row.place), number, total_ns, finding);
    Found { issue, did_harm, harm_ns }
}
