//! Several files on one axis of time.

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
        let spans = files.iter().map(|file| {
            let [seconds, ns] = file.metadata.start;
            let start_ns = u128::from(seconds) * NS_PER_S + u128::from(ns);
            (start_ns, file.end_ns, file.entities.iter().any(|entity| !entity.data.is_empty()))
        });
        Self::of_spans(&spans.collect::<Vec<_>>())
    }

    /// The same of whatever has a start, a length, and perhaps any data.
    pub(crate) fn of_spans(all: &[(u128, u64, bool)]) -> Self {
        let span = |&(start_ns, length_ns, _): &(u128, u64, bool)| {
            (start_ns, start_ns + u128::from(length_ns))
        };
        // Those without any data are nowhere.
        let mut spans: Vec<_> = all.iter().filter(|(.., has_data)| *has_data).map(span).collect();
        spans.sort_unstable();
        let mut end = spans.first().map_or(0, |span| span.1);
        let do_overlap = spans.iter().all(|span| {
            let does_overlap = span.0 <= end;
            end = end.max(span.1);
            does_overlap
        });
        let first = all.iter().map(|file| file.0).min().unwrap_or_default();
        let start_ns = spans.first().map_or(first, |span| span.0);
        let length_ns = u64::try_from(end - start_ns.min(end));
        let longest_ns = all.iter().map(|file| file.1).max().unwrap_or_default();
        match length_ns {
            Ok(length_ns) if do_overlap => Self {
                start_ns,
                shifts_ns: all
                    .iter()
                    .map(|file| file.0.saturating_sub(start_ns))
                    .map(|shift| u64::try_from(shift).unwrap_or(length_ns).min(length_ns))
                    .collect(),
                length_ns: length_ns.max(longest_ns),
                is_forced: false,
            },
            _ => Self { start_ns, ..Self::at_left_edge(all) },
        }
    }

    /// Each begins at the left edge, whenever that was.
    pub(crate) fn at_left_edge(all: &[(u128, u64, bool)]) -> Self {
        Self {
            start_ns: all.iter().map(|file| file.0).min().unwrap_or_default(),
            shifts_ns: vec![0; all.len()],
            length_ns: all.iter().map(|file| file.1).max().unwrap_or_default(),
            is_forced: true,
        }
    }
}
