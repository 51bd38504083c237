//! Places several files on one time axis.

#[cfg(feature = "read")]
use super::read::Statemap;

#[cfg(feature = "read")]
const NS_PER_S: u128 = 1_000_000_000;

/// The positions of files on a common time axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alignment {
    /// UTC at the left edge of the axis, in ns since the Unix epoch.
    pub(crate) start_ns: u128,
    /// The distance of each file's start from the left edge of the axis, in ns.
    pub(crate) shifts_ns: Vec<u64>,
    /// The length of the axis, in ns.
    pub(crate) length_ns: u64,
    /// `true` if the files are from different times, so that all begin at the left edge.
    pub(crate) is_forced: bool,
}

impl Alignment {
    /// Lays out files that overlap in time by UTC, and others from a common left edge.
    #[cfg(feature = "read")]
    pub(crate) fn from_files(files: &[Statemap]) -> Self {
        let spans = files.iter().map(|file| {
            let [seconds, ns] = file.metadata.start;
            let start_ns = u128::from(seconds) * NS_PER_S + u128::from(ns);
            (start_ns, file.end_ns, file.entities.iter().any(|entity| !entity.data.is_empty()))
        });
        Self::from_spans(&spans.collect::<Vec<_>>())
    }

    /// Aligns spans, each of which has a start, a length, and whether it has any data.
    #[cfg(feature = "read")]
    pub(crate) fn from_spans(all: &[(u128, u64, bool)]) -> Self {
        let span = |&(start_ns, length_ns, _): &(u128, u64, bool)| {
            (start_ns, start_ns + u128::from(length_ns))
        };
        // Spans without data have no position.
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

    /// Lays out spans of one program by UTC.
    pub(crate) fn by_utc(all: &[(u128, u64, bool)]) -> Self {
        // Spans without data have no position.
        let with_data = all.iter().filter(|span| span.2).map(|span| span.0);
        let start_ns = with_data.min().unwrap_or_default();
        let mut shifts_ns = Vec::with_capacity(all.len());
        let mut length_ns = 0_u64;
        for &(from_ns, own_length_ns, has_data) in all {
            let since_ns = if has_data { from_ns - start_ns } else { 0 };
            let shift_ns = u64::try_from(since_ns).unwrap_or(u64::MAX);
            if has_data {
                length_ns = length_ns.max(shift_ns.saturating_add(own_length_ns));
            }
            shifts_ns.push(shift_ns);
        }
        Self { start_ns, shifts_ns, length_ns, is_forced: false }
    }

    /// Makes each file begin at the left edge.
    #[cfg(feature = "read")]
    pub(crate) fn at_left_edge(all: &[(u128, u64, bool)]) -> Self {
        Self {
            start_ns: all.iter().map(|file| file.0).min().unwrap_or_default(),
            shifts_ns: vec![0; all.len()],
            length_ns: all.iter().map(|file| file.1).max().unwrap_or_default(),
            is_forced: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_of_one_program_are_laid_out_by_utc() {
        // The second begins after the first has ended; the third has no data.
        let spans = [(1_000, 50, true), (2_000, 10, true), (3, 7, false)];
        let Alignment { start_ns, shifts_ns, length_ns, is_forced } = Alignment::by_utc(&spans);
        assert_eq!(
            (start_ns, shifts_ns, length_ns, is_forced),
            (1_000, vec![0, 1_000, 0], 1_010, false)
        );
        assert_eq!(Alignment::by_utc(&[]).length_ns, 0);
    }
}
