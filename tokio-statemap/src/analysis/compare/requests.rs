//! The requests of two versions, side by side.

use std::collections::BTreeMap;

use super::run::Run;
use crate::analysis::lengths::quantile;
use crate::trace::requests::Request;

/// The spans of one kind, before and after. Whether they changed by more than chance isn't judged, as only their
/// quantiles are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestChange {
    /// The name of the spans and the values of their selected fields, such as `request GET /orders`.
    pub name: String,
    /// Their target: the module that opens them, unless the program gave another one.
    pub target: String,
    /// The spans before; `None` if there were none.
    pub before: Option<RequestFigures>,
    /// The spans after; `None` if there were none.
    pub after: Option<RequestFigures>,
}

/// The number of spans of one kind in the runs of one version, and how long they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestFigures {
    /// The number of spans in all runs.
    pub count: u64,
    /// Their median, in ns. Of several runs, the middle one of their medians.
    pub p50_ns: u64,
    /// Their 99th percentile, in ns. Of several runs, the middle one of these.
    pub p99_ns: u64,
    /// The longest span of all runs, in ns.
    pub longest_ns: u64,
    /// The sum of their times, in ns.
    pub total_ns: u64,
}

/// Returns the kinds of spans, sorted by their total time in the later runs, the longest first.
pub(super) fn find(before: &[Run<'_>], after: &[Run<'_>]) -> Vec<RequestChange> {
    // Spans of one name in two modules are two kinds.
    let mut kinds: BTreeMap<(String, &str), [Vec<&Request>; 2]> = BTreeMap::new();
    for (version, runs) in [before, after].into_iter().enumerate() {
        for request in runs.iter().flat_map(|run| &run.timeline.requests().rows) {
            let kind = kinds.entry((request.to_string(), &request.target)).or_default();
            kind[version].push(request);
        }
    }
    let changes = kinds.into_iter().map(|((name, target), [before, after])| RequestChange {
        name,
        target: target.to_owned(),
        before: RequestFigures::from_runs(&before),
        after: RequestFigures::from_runs(&after),
    });
    let mut changes: Vec<_> = changes.collect();
    let total_ns = |figures: Option<RequestFigures>| figures.map_or(0, |of| of.total_ns);
    crate::util::sort::by_key(&mut changes, |change| {
        std::cmp::Reverse((total_ns(change.after), total_ns(change.before)))
    });
    changes
}

impl RequestFigures {
    /// `rows` has the row of each run that has such spans.
    fn from_runs(rows: &[&Request]) -> Option<Self> {
        let middle = |of: fn(&Request) -> u64| {
            let mut values: Vec<u64> = rows.iter().map(|row| of(row)).collect();
            quantile(&mut values, 50)
        };
        let sum =
            |of: fn(&Request) -> u64| rows.iter().map(|row| of(row)).fold(0, u64::saturating_add);
        (!rows.is_empty()).then(|| Self {
            count: sum(|row| row.count),
            p50_ns: middle(|row| row.times.p50_ns),
            p99_ns: middle(|row| row.times.p99_ns),
            longest_ns: rows.iter().map(|row| row.times.longest_ns).max().unwrap_or_default(),
            total_ns: sum(|row| row.total_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::compare::compare;
    use crate::trace::timeline::Timeline;

    fn timeline(rows: &[(&str, u64, u64)]) -> Timeline {
        let mut timeline = Timeline::empty();
        timeline.requests.rows = rows
            .iter()
            .map(|&(fields, count, p99_ns)| {
                let mut row = Request { name: "request".to_owned(), count, ..Request::default() };
                row.fields = fields.to_owned();
                row.times.p50_ns = p99_ns / 2;
                row.times.p99_ns = p99_ns;
                row.times.longest_ns = p99_ns + count;
                row.total_ns = count * p99_ns;
                row
            })
            .collect();
        timeline
    }

    #[test]
    fn kinds_are_matched_by_name_and_the_middle_run_counts() {
        let before = timeline(&[("GET /", 10, 100), ("GET /gone", 1, 5)]);
        let after =
            [("GET /", 4, 900), ("GET /", 5, 300), ("GET /", 6, 200)].map(|row| timeline(&[row]));
        let comparison = compare(&[&before], &after.each_ref());
        let [root, gone] = &comparison.requests[..] else { panic!("{comparison:?}") };
        assert_eq!((&*root.name, &*gone.name), ("request GET /", "request GET /gone"));
        let of = |figures: Option<RequestFigures>| {
            figures.map(|of| (of.count, of.p50_ns, of.p99_ns, of.longest_ns))
        };
        assert_eq!(of(root.before), Some((10, 50, 100, 110)));
        assert_eq!(of(root.after), Some((15, 150, 300, 904)));
        assert_eq!((of(gone.before), gone.after), (Some((1, 2, 5, 6)), None));
        assert!(!comparison.has_changes(), "they aren't judged");
        let text = comparison.to_string();
        assert!(
            text.contains("request GET /gone") && text.lines().all(|line| line.len() <= 80),
            "{text}"
        );
    }

    #[test]
    fn kinds_of_one_name_are_told_apart() {
        let mut after =
            timeline(&[("GET /orders", 1, 5), ("POST /orders", 1, 5), ("GET /orders", 2, 5)]);
        for (row, module) in
            after.requests.rows.iter_mut().zip(["shop::admin", "shop::admin", "shop::api"])
        {
            row.target = module.to_owned();
        }
        let comparison = compare(&[&timeline(&[])], &[&after]);
        let text = comparison.to_string();
        for name in [
            "request GET /orders …p::admin ",
            "request GET /orders …hop::api ",
            "request POST /orders ",
        ] {
            assert_eq!(text.matches(name).count(), 1, "{text}");
        }
    }
}
