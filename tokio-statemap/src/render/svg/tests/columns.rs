//! A row at the resolution of the picture agrees with the row.

use super::super::columns::{Columns, Look, Scale, reduce, spans};
use super::super::path;
use super::*;

fn columns_of(section: &Section<'_>, row: u32, scale: Scale) -> Columns {
    reduce(section, row, scale, Look { long_poll_ns: MS, gaps: &[] }, |_, _| ())
}

/// Returns the state that each column shows.
fn shown(columns: &Columns, scale: Scale) -> Vec<Option<u32>> {
    let mut shown = vec![None; scale.columns as usize];
    for &(from, end, state) in &columns.runs {
        for column in &mut shown[from as usize..end as usize] {
            assert_eq!(column.replace(state), None, "two states in one column");
        }
    }
    shown
}

/// Each column shows the state with the largest share (a state after the end counts least), or a long poll that
/// no other column would show. Each long poll is visible in one of its columns.
#[test]
fn shows_the_largest_share_and_every_long_poll() {
    let mut random = Random(7);
    for round in 0..400 {
        let length_ns = [20, 1000, 3 * MS, 100 * MS, 5000 * MS][round % 5];
        let section = tasks(random_rows(&mut random, 1, 60, length_ns), 1);
        let scale = Scale::new(length_ns, 1 + random.below(300) as u32);
        let columns = columns_of(&section, 0, scale);
        let shown = shown(&columns, scale);
        let width = |from: u64, to: u64, column: usize| {
            // In units of 1 / columns ns, so that all of it is exact.
            let n = u128::from(scale.columns);
            let (left, right) = (
                column as u128 * u128::from(length_ns),
                (column + 1) as u128 * u128::from(length_ns),
            );
            (u128::from(to) * n).min(right).saturating_sub((u128::from(from) * n).max(left))
        };
        let mut shares = vec![[0_u128; 4]; shown.len()];
        let mut long = vec![false; shown.len()];
        let mut totals = vec![0; 4];
        spans(&section, 0, length_ns, |from, to, begun| {
            totals[begun.state as usize] += to - from;
            let is_long = begun.state == RUNNING && to - from >= MS;
            let mut is_shown = !is_long;
            for column in 0..shown.len() {
                let share = width(from, to, column);
                shares[column][begun.state as usize] += share;
                if is_long && share > 0 {
                    long[column] = true;
                    is_shown |= shown[column] == Some(RUNNING);
                    let column = column as u32;
                    assert!(columns.long.iter().any(|l| l.0 <= column && column < l.1));
                }
            }
            assert!(is_shown, "a long poll from {from} to {to} does not show");
        });
        assert_eq!(columns.totals, totals);
        for (column, (&state, shares)) in shown.iter().zip(&shares).enumerate() {
            let Some(state) = state else {
                assert_eq!(shares, &[0; 4], "column {column} is empty");
                continue;
            };
            if long[column] && state == RUNNING {
                continue;
            }
            let live = shares[..COMPLETED as usize].iter().max().unwrap();
            let largest = if *live > 0 { *live } else { shares[COMPLETED as usize] };
            // Shares are whole ns: of two that differ by less, either may be shown.
            let slack = 2 * u128::from(scale.columns);
            assert!(shares[state as usize] + slack >= largest, "column {column}: {shares:?}");
        }
    }
}

#[test]
fn a_row_of_an_instant_is_visible() {
    for (time, length) in [(0, 0), (10, 10), (10, 11)] {
        let rows = vec![("task-1".to_owned(), None, vec![Transition::new(time, SPAWNED)])];
        let section = tasks(Given { rows, description: None }, 1);
        let scale = Scale::new(length, 1024);
        assert_eq!(columns_of(&section, 0, scale).runs.len(), 1, "{time} of {length}");
    }
}

#[test]
fn a_short_life_is_visible_before_a_long_end() {
    let life = [(50, SPAWNED), (51, RUNNING), (60, COMPLETED)];
    let life = life.map(|(time, state)| Transition::new(time, state));
    let rows = vec![("task-1".to_owned(), None, life.to_vec())];
    let section = tasks(Given { rows, description: None }, 1);
    let columns = columns_of(&section, 0, Scale::new(1_000_000, 1000));
    assert_eq!(columns.runs, [(0, 1, RUNNING), (1, 1000, COMPLETED)]);
}

/// Returns what the paths of a row show: the first lies beneath the others.
fn read(paths: &str, columns: usize) -> Vec<Option<u32>> {
    let mut shown = vec![None; columns];
    for element in super::xml::parse(&format!("<g>{paths}</g>")) {
        let class = element.attribute("class").unwrap_or_default();
        let Some(state) = class.strip_prefix('s').and_then(|state| state.parse().ok()) else {
            continue;
        };
        let mut x = 0;
        for bar in element.attribute("d").unwrap().split_terminator('z') {
            let (start, rest) = bar.split_once('h').unwrap();
            let (width, _) = rest.split_once('v').unwrap();
            let (by, _) = start[1..].split_once(' ').unwrap();
            let by: usize = by.parse().unwrap();
            x = if start.starts_with('M') { by } else { x + by };
            shown[x..x + width.parse::<usize>().unwrap()].fill(Some(state));
        }
    }
    shown
}

#[test]
fn there_is_one_path_per_colour() {
    let mut random = Random(11);
    for _ in 0..300 {
        let section = tasks(random_rows(&mut random, 1, 80, 50 * MS), 1);
        let scale = Scale::new(50 * MS, 1 + random.below(200) as u32);
        let columns = columns_of(&section, 0, scale);
        let mut paths = String::new();
        path::write(&columns, &section.states, 20, &mut paths);
        assert_eq!(read(&paths, scale.columns as usize), shown(&columns, scale));
        for state in 0..4 {
            assert!(paths.matches(&format!("class=\"s{state}\"")).count() <= 1);
        }
    }
}
