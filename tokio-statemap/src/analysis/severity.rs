//! Sorts several runtimes, the worst first.

use std::cmp::Reverse;

use super::issues::Issue;
use super::report::Report;
use crate::trace::timeline::Timeline;
use crate::util::sort::by_key;

/// Pairs timelines with their reports, and sorts them by the severity of their first issues, the worst first. Equal
/// ones keep their order.
pub(crate) fn worst_first<'a>(
    timelines: &'a [Timeline],
    reports: &'a [Report],
) -> Vec<(&'a Timeline, &'a Report)> {
    let mut ranked: Vec<_> = timelines.iter().zip(reports).collect();
    by_key(&mut ranked, |(_, report)| Reverse(severity(report)));
    ranked
}

/// The severity of a report's first issue: a rank of its kind, then its amount in ns. Greater is worse.
pub(crate) type Severity = (u8, u128);

/// Returns the severity of a report's first issue.
pub(crate) fn severity(report: &Report) -> Severity {
    let Some(issue) = report.issues().first() else { return (0, 0) };
    let kind = match issue {
        Issue::Stall(_) => 7,
        Issue::LongPolls(polls) if polls.did_harm => return (6, polls.harm_ns),
        // As within a report, tasks that certainly hang come before polls that delayed others for a shorter time.
        Issue::NeverFinished(never) if never.is_sure() => return (6, never.waited_ns.into()),
        Issue::Contended(queue) if queue.is_by_itself() => return (6, queue.total_ns),
        Issue::BusyWorkers(_) | Issue::ExhaustedPool(_) | Issue::OwnThreads(_) => 5,
        Issue::NeverFinished(_) | Issue::Contended(_) => 4,
        Issue::MaybeLeaked(_) => 3,
        Issue::Starved(_) | Issue::InPlace(_) => 2,
        Issue::LongPolls(_) => 1,
    };
    (kind, issue.evidence().total_ns.into())
}
