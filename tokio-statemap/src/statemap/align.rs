//! Several files on one axis of time, and a part of what they show.

use super::read::Statemap;

const NS_PER_S: u128 = 1_000_000_000;

/// Where the left edges of files are on their common axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alignment {
    /// UTC at the left edge of the axis, in ns since the Unix epoch.
    pub(crate) start_ns: u128,
    /// How long after the left edge of the axis each file begins, in ns.
    pub(crate) shifts_ns: Vec<u64>,
    /// How long all of it is, in ns.
    pub(crate) length_ns: u64,
    /// Whether the files are from different times, so that their left edges were laid upon each
    /// other.
    pub(crate) is_forced: bool,
}

impl Alignment {
    /// Files that overlap in time are laid out by UTC; of others, the left edges are the same.
    pub(crate) fn of(files: &[Statemap]) -> Self {
        // Those without any data are nowhere.
        let mut spans: Vec<(u128, u128)> =
            files.iter().filter(|file| file.has_data()).map(Statemap::span_ns).collect();
        spans.sort_unstable();
        let mut end = spans.first().map_or(0, |span| span.1);
        let do_overlap = spans.iter().all(|span| {
            let does_overlap = span.0 <= end;
            end = end.max(span.1);
            does_overlap
        });
        let first = files.iter().map(|file| file.span_ns().0).min().unwrap_or_default();
        let start_ns = spans.first().map_or(first, |span| span.0);
        let length_ns = u64::try_from(end - start_ns.min(end));
        let lengths = files.iter().map(|file| file.end_ns);
        match length_ns {
            Ok(length_ns) if do_overlap => Self {
                start_ns,
                shifts_ns: files
                    .iter()
                    .map(|file| file.span_ns().0.saturating_sub(start_ns))
                    .map(|shift| u64::try_from(shift).unwrap_or(length_ns).min(length_ns))
                    .collect(),
                length_ns: length_ns.max(lengths.max().unwrap_or_default()),
                is_forced: false,
            },
            _ => Self {
                start_ns,
                shifts_ns: vec![0; files.len()],
                length_ns: lengths.max().unwrap_or_default(),
                is_forced: true,
            },
        }
    }
}

impl Statemap {
    /// From when to when it is, in ns since the Unix epoch.
    fn span_ns(&self) -> (u128, u128) {
        let [seconds, ns] = self.metadata.start;
        let start = u128::from(seconds) * NS_PER_S + u128::from(ns);
        (start, start + u128::from(self.end_ns))
    }

    pub(crate) fn has_data(&self) -> bool {
        self.entities.iter().any(|entity| !entity.data.is_empty())
    }
}
