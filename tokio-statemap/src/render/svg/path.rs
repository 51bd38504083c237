//! The columns of a row as paths, one per state.

use std::fmt::Write;

use super::columns::Columns;
use crate::analysis::picture::RowState;

/// Writes the paths of a row that is `height` pixels high.
///
/// The most frequent state is drawn as one bar over the whole life and the others on top of it. So no light
/// seams appear between neighbours when the picture is scaled. The time after the end is a thin line.
pub(super) fn write(columns: &Columns, states: &[RowState], height: u32, to: &mut String) {
    let is_end = |state: u32| states.get(state as usize).is_some_and(|state| state.role.is_end());
    let mut seen = vec![0_u64; states.len()];
    for &(from, end, state) in &columns.runs {
        if let Some(seen) = seen.get_mut(state as usize) {
            *seen += u64::from(end - from);
        }
    }
    let live = (0..states.len() as u32).filter(|&state| !is_end(state));
    let ground = live.rev().max_by_key(|&state| seen[state as usize]);
    let mut order: Vec<u32> =
        (0..states.len() as u32).filter(|&state| seen[state as usize] > 0).collect();
    order.sort_by_key(|&state| Some(state) != ground);
    for state in order {
        let _ = write!(to, "<path class=\"s{state}\" d=\"");
        let mut path = Path { to, at: None, top: 0, height };
        if is_end(state) {
            path.height = (height / 5).max(1);
            path.top = (height - path.height) / 2;
        }
        if Some(state) == ground {
            let mut stretch: Option<(u32, u32)> = None;
            for &(from, end, state) in &columns.runs {
                match &mut stretch {
                    _ if is_end(state) => {
                        path.bar_of(stretch.take());
                    }
                    Some(stretch) if stretch.1 == from => stretch.1 = end,
                    _ => path.bar_of(stretch.replace((from, end))),
                }
            }
            path.bar_of(stretch);
        } else {
            for run in columns.runs.iter().filter(|run| run.2 == state) {
                path.bar_of(Some((run.0, run.1)));
            }
        }
        to.push_str("\"/>");
    }
    outline(&columns.long, "l", height, to);
}

/// Writes an outline around stretches of a row.
pub(super) fn outline(stretches: &[(u32, u32)], class: &str, height: u32, to: &mut String) {
    if stretches.is_empty() {
        return;
    }
    let _ = write!(to, "<path class=\"{class}\" d=\"");
    let mut path = Path { to, at: None, top: 0, height };
    for &stretch in stretches {
        path.bar_of(Some(stretch));
    }
    to.push_str("\"/>");
}

struct Path<'a> {
    to: &'a mut String,
    /// The start of the last bar.
    at: Option<u32>,
    top: u32,
    height: u32,
}

impl Path<'_> {
    fn bar_of(&mut self, stretch: Option<(u32, u32)>) {
        let Some((from, end)) = stretch else {
            return;
        };
        let (width, height, top) = (end - from, self.height, self.top);
        // Writing to a string can't fail. A closed path returns to its start.
        let _ = match self.at {
            None => write!(self.to, "M{from} {top}h{width}v{height}h-{width}z"),
            Some(at) => write!(self.to, "m{} 0h{width}v{height}h-{width}z", from - at),
        };
        self.at = Some(from);
    }
}
