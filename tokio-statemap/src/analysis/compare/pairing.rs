//! Matches the spawn locations of two versions of a program: lines move when others are added above them.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::place::Place;
use crate::util::source_path::shown;

/// The most pairs of lines of one file that are tried. With more, only equal lines are matched.
const MOST_PAIRS: usize = 2_500;

/// Pairs the places of both versions that are the same. Each place is in one pair, which may be without a partner.
pub(super) fn pair(
    before: &BTreeSet<Place>,
    after: &BTreeSet<Place>,
) -> Vec<(Option<Place>, Option<Place>)> {
    let (mut files, mut pairs) = (BTreeMap::<_, [Vec<Place>; 2]>::new(), Vec::new());
    for (side, places) in [before, after].into_iter().enumerate() {
        for &place in places {
            files.entry(file(place)).or_default()[side].push(place);
        }
    }
    for [before, after] in files.into_values() {
        let matched = if before == after || before.len() * after.len() > MOST_PAIRS {
            let equal = before
                .iter()
                .enumerate()
                .filter_map(|(i, place)| after.binary_search(place).ok().map(|j| (i, j)));
            equal.collect()
        } else {
            align(&before, &after)
        };
        let rest = |all: &[Place], is_matched: &dyn Fn(usize) -> bool| {
            let rest = all.iter().enumerate().filter(|(index, _)| !is_matched(*index));
            rest.map(|(_, place)| *place).collect::<Vec<_>>()
        };
        let old = rest(&before, &|index| matched.iter().any(|(i, _)| *i == index));
        let new = rest(&after, &|index| matched.iter().any(|(_, j)| *j == index));
        pairs.extend(matched.iter().map(|&(i, j)| (Some(before[i]), Some(after[j]))));
        pairs.extend(old.into_iter().map(|place| (Some(place), None)));
        pairs.extend(new.into_iter().map(|place| (None, Some(place))));
    }
    pairs
}

/// Returns the properties that both places of a pair share: the file, whatever the version of its package, and the
/// kind.
fn file(place: Place) -> (Option<String>, bool) {
    let file = place.location.map(|location| without_version(location.file));
    (file, place.is_root)
}

/// Returns the path of a file from its package on, without the package's version.
pub(super) fn without_version(path: &str) -> String {
    let inner = shown(path);
    match inner.split_once('/') {
        Some((package, rest)) if inner.len() < path.len() => {
            let is_version = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
            let name = package.match_indices('-').find(|(at, _)| is_version(&package[at + 1..]));
            format!("{}/{rest}", name.map_or(package, |(at, _)| &package[..at]))
        }
        _ => path.to_owned(),
    }
}

/// A way to pair lines, up to a certain pair.
#[derive(Clone, Copy)]
struct Way {
    cost: usize,
    /// The previous pair.
    from: Option<(usize, usize)>,
}

/// Returns the indices of matching places of one file, in their order, with the fewest places left over and the fewest
/// changes of the distance by which lines moved.
fn align(before: &[Place], after: &[Place]) -> Vec<(usize, usize)> {
    let at = |place: Place| place.location.map_or((0, 0), |of| (i64::from(of.line), of.column));
    let shift = |i: usize, j: usize| at(after[j]).0 - at(before[i]).0;
    let mut ways = vec![vec![Way { cost: 0, from: None }; after.len()]; before.len()];
    let mut best = Way { cost: before.len() + after.len(), from: None };
    for i in 0..before.len() {
        for j in 0..after.len() {
            // Another column may mean another expression.
            let own = usize::from(at(before[i]).1 != at(after[j]).1);
            let first = i + j + usize::from(shift(i, j) != 0);
            let mut way = Way { cost: first + own, from: None };
            for (k, row) in ways[..i].iter().enumerate() {
                for (l, other) in row[..j].iter().enumerate() {
                    let left_over = i - k - 1 + j - l - 1;
                    let moves = usize::from(shift(i, j) != shift(k, l));
                    let cost = other.cost + left_over + moves + own;
                    if cost < way.cost {
                        way = Way { cost, from: Some((k, l)) };
                    }
                }
            }
            ways[i][j] = way;
            let cost = way.cost + before.len() - 1 - i + after.len() - 1 - j;
            if cost < best.cost {
                best = Way { cost, from: Some((i, j)) };
            }
        }
    }
    let mut pairs = Vec::new();
    let mut last = best.from;
    while let Some((i, j)) = last {
        pairs.push((i, j));
        last = ways[i][j].from;
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::SpawnLocation;

    fn places(lines: &[u32]) -> BTreeSet<Place> {
        let at = |&line: &u32| SpawnLocation { file: "src/main.rs", line, column: 5 };
        lines.iter().map(|line| Place::new(Some(at(line)), false)).collect()
    }

    fn lines(before: &[u32], after: &[u32]) -> Vec<(u32, u32)> {
        let line = |place: Option<Place>| {
            place.and_then(|place| place.location).map_or(0, |location| location.line)
        };
        let pairs = pair(&places(before), &places(after));
        pairs.into_iter().map(|(before, after)| (line(before), line(after))).collect()
    }

    #[test]
    fn lines_are_found_where_they_have_moved_to() {
        for (before, after, expected) in [
            (&[10, 20][..], &[10, 20][..], &[(10, 10), (20, 20)][..]),
            // Lines were added above all others, and in between.
            (&[10, 20, 30], &[20, 30, 40], &[(10, 20), (20, 30), (30, 40)]),
            (&[10, 20, 30], &[10, 20, 35], &[(10, 10), (20, 20), (30, 35)]),
            // One line is gone, or one is new.
            (&[10, 20, 30], &[10, 30], &[(10, 10), (30, 30), (20, 0)]),
            (&[10, 30], &[10, 20, 30], &[(10, 10), (30, 30), (0, 20)]),
            (&[10, 20, 30], &[13, 33], &[(10, 13), (30, 33), (20, 0)]),
            (&[], &[7], &[(0, 7)]),
            (&[7], &[9], &[(7, 9)]),
        ] {
            assert_eq!(lines(before, after), expected, "{before:?}, {after:?}");
        }
        let many: Vec<u32> = (1..200).collect();
        assert_eq!(lines(&many, &many[1..]).len(), many.len());
    }

    #[test]
    fn the_version_of_a_package_is_not_its_name() {
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        for (path, expected) in [
            ("src/main.rs", "src/main.rs"),
            (&format!("{registry}/axum-0.8.9/src/serve.rs"), "axum/src/serve.rs"),
            (&format!("{registry}/tower-http-0.6.2-rc1/src/a.rs"), "tower-http/src/a.rs"),
        ] {
            assert_eq!(without_version(path), expected);
        }
    }
}
