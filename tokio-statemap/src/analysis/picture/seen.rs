//! Where the first issue of a run can be seen: what a picture points at.

use super::Picture;

/// The thing that a picture points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointsAt {
    /// The longest poll: there is no report that ranks what is worse.
    Longest,
    /// The poll or wait that the first issue is about.
    First(Seen),
    /// The first issue is about nothing that is drawn, or there is none.
    Nothing,
}

/// A poll or a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The name of the kind of issue.
    pub(crate) issue: &'static str,
    pub(crate) section: usize,
    /// The row, as an index into the source.
    pub(crate) row: u32,
    pub(crate) start_ns: u64,
}

impl Picture<'_> {
    /// Returns what it points at. Of several runs with issues, it points at no issue.
    pub(crate) fn points_at(&self) -> PointsAt {
        let sections = self.sections.iter().enumerate();
        let mut judged =
            sections.filter_map(|(index, of)| Some((index, of, of.issues.as_ref()?.first())));
        let Some((section, of, first)) = judged.next().filter(|_| judged.next().is_none()) else {
            return PointsAt::Longest;
        };
        let seen = first.and_then(|first| {
            let why = of.why.as_ref();
            let poll = why.zip(first.culprit).and_then(|(why, culprit)| why.longest_of(culprit));
            let poll = poll.map(|poll| (poll.row, poll.start_ns));
            let (row, start_ns) =
                poll.or_else(|| first.spots.first().map(|&(row, start_ns, _)| (row, start_ns)))?;
            Some(Seen { issue: first.explanation.name, section, row, start_ns })
        });
        seen.map_or(PointsAt::Nothing, PointsAt::First)
    }
}
