//! The issues of a run, as the report has them, with where in the picture each can be seen.

use super::threads::within;
use super::why::Why;
use crate::analysis::{Issue, IssueKind, Lengths, Report, source_line};
use crate::trace::timeline::Timeline;

/// An issue as the page lists it. Times are in ns from the left edge.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) kind: IssueKind,
    /// Whom or what it is about: a function, or a spawn location; `None` if neither is known.
    pub(crate) label: Option<String>,
    /// Of a function its file and line.
    pub(crate) source: Option<String>,
    /// The spawn location, as the group of its tasks is called.
    pub(crate) group: Option<String>,
    /// What there is to say: of the first issue the verdict.
    pub(crate) text: String,
    pub(crate) number: u64,
    pub(crate) total_ns: u64,
    pub(crate) lengths: Option<Lengths>,
    /// Which of the culprits it is, as an index into those that are told of.
    pub(crate) culprit: Option<usize>,
    /// The polls or waits that show it: a row, as an index into the source, when it begins, and how long it takes.
    pub(crate) spots: Vec<(u32, u64, u64)>,
}

impl Told {
    /// All of a report.
    pub(super) fn all(timeline: &Timeline, report: &Report, why: &Why) -> Vec<Self> {
        report.issues.iter().map(|issue| Self::of(timeline, issue, why)).collect()
    }

    fn of(timeline: &Timeline, issue: &Issue, why: &Why) -> Self {
        let group = issue.place.map(|place| place.to_string());
        let frame = issue.frame.as_ref();
        let source = frame.and_then(source_line);
        let spots = issue.spots.iter().filter_map(|spot| {
            let row = timeline.tasks.position(spot.task)? as u32;
            Some((row, within(timeline, spot.start_ns), spot.length_ns))
        });
        Self {
            kind: issue.kind,
            label: frame.map(|frame| frame.function.to_string()).or_else(|| group.clone()),
            source,
            group,
            text: issue.to_string(),
            number: issue.number,
            total_ns: issue.total_ns,
            lengths: issue.lengths.clone(),
            culprit: why.culprits.iter().position(|of| issue.culprit == Some(of.index)),
            spots: spots.collect(),
        }
    }

    /// The same at a later time.
    #[cfg(feature = "read")]
    pub(super) fn shift(&mut self, by_ns: u64) {
        for (_, start_ns, _) in &mut self.spots {
            *start_ns = start_ns.saturating_add(by_ns);
        }
    }
}
