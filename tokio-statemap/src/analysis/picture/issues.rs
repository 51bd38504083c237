//! The issues of a run, each with the places in the picture where it can be seen.

use super::threads::within;
use super::why::Why;
use crate::analysis::{Explanation, Issue, Lengths, Report, source_line};
use crate::trace::timeline::Timeline;

/// An issue as the page lists it. Times are in ns from the left edge.
#[derive(Clone, Debug)]
pub(crate) struct ListedIssue {
    pub(crate) explanation: Explanation,
    /// The function, or the spawn location; `None` if neither is known.
    pub(crate) label: Option<String>,
    /// The file and line of the function.
    pub(crate) source: Option<String>,
    /// The spawn location, as the group of its tasks is called.
    pub(crate) group: Option<String>,
    /// The sentences about it. For the first issue, they are the verdict.
    pub(crate) text: String,
    pub(crate) number: u64,
    pub(crate) total_ns: u64,
    pub(crate) lengths: Option<Lengths>,
    /// The culprit, as an index into those of the picture.
    pub(crate) culprit: Option<usize>,
    /// The polls or waits that show it: the row, as an index into the source, the begin, and the length.
    pub(crate) spots: Vec<(u32, u64, u64)>,
}

impl ListedIssue {
    /// Returns all issues of a report.
    pub(super) fn all(timeline: &Timeline, report: &Report, why: &Why) -> Vec<Self> {
        let mut all = Vec::new();
        for issue in report.issues() {
            all.push(Self::new(timeline, issue, why));
        }
        all
    }

    fn new(timeline: &Timeline, issue: &Issue, why: &Why) -> Self {
        let evidence = issue.evidence();
        let group = evidence.place.map(|place| place.to_string());
        let mut spots = Vec::new();
        for spot in evidence.spots {
            if let Some(row) = timeline.tasks.position(spot.task) {
                spots.push((row as u32, within(timeline, spot.start_ns), spot.length_ns));
            }
        }
        Self {
            explanation: issue.explanation(),
            label: match evidence.frame {
                Some(frame) => Some(frame.function.to_string()),
                None => group.clone(),
            },
            source: evidence.frame.and_then(source_line),
            group,
            text: issue.to_string(),
            number: evidence.number,
            total_ns: evidence.total_ns,
            lengths: evidence.lengths.cloned(),
            culprit: why.culprits.iter().position(|of| evidence.culprit == Some(of.index)),
            spots,
        }
    }

    /// Moves the issue to a later time.
    pub(super) fn shift(&mut self, by_ns: u64) {
        for (_, start_ns, _) in &mut self.spots {
            *start_ns = start_ns.saturating_add(by_ns);
        }
    }
}
