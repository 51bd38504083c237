//! Finds the place in a picture at which the first issue of a run can be seen.

use super::Picture;

/// The thing that a picture points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointsAt {
    /// The longest poll, as no report ranks the issues, or several do.
    Longest,
    /// The poll or wait that the first issue is about.
    First(Seen),
    /// Nothing: there is no issue, or the first one is about nothing that is drawn.
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
    /// Returns the thing that the picture points at. With the issues of several runs, that is the longest poll.
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
