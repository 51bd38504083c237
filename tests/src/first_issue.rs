//! The first issue of a report, if it is of a certain kind.

use tokio_statemap::report::{BusyWorkers, Culprit, Issue, LongPollIssue, Report};

/// Returns the first issue, if it is about long polls that are blamed on a culprit.
pub fn long_polls(report: &Report) -> Option<(&Culprit, &LongPollIssue)> {
    match report.issues().first()? {
        Issue::LongPolls(polls) => Some((polls.culprit.as_ref()?, polls)),
        _ => None,
    }
}

/// Returns the first issue, if it is about busy workers.
pub fn busy_workers(report: &Report) -> Option<&BusyWorkers> {
    match report.issues().first()? {
        Issue::BusyWorkers(busy) => Some(busy),
        _ => None,
    }
}
