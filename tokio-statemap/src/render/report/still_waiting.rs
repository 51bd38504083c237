//! The tasks that were still waiting at the end.

use super::layout::{COLUMNS, keep_right};
use crate::analysis::{Report, TreeFrame, TreePlace};
use crate::symbols::without_async;
use crate::util::clean::clean;
use crate::util::quantity::{count, human};
use crate::util::source_path::shown;

/// The most groups of tasks that are listed, and the most lines of each.
const GROUPS: usize = 5;
const PLACES: usize = 4;

impl Report {
    /// Lists the tasks that were still waiting, by where; the longest wait first.
    pub(super) fn still_waiting_lines(&self) -> Vec<String> {
        let groups = &self.still_waiting;
        if groups.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![String::new(), "Who still waited at the end:".to_owned()];
        for group in groups.iter().take(GROUPS) {
            let tree = &group.longest;
            let name = tree.name.as_ref().map(|name| format!(" \"{}\"", clean(name)));
            let others = match group.tasks {
                1 => String::new(),
                n => format!(" and {}", count(n as u64 - 1, "other task")),
            };
            let forgotten = if tree.is_forgotten { ", forgotten" } else { "" };
            let name = name.unwrap_or_default();
            let waited = human(tree.for_ns);
            let host = tree.polled_in.as_ref().map(|host| format!(" in {host}"));
            let host = host.unwrap_or_default();
            lines.push(keep_right(
                &format!("{}{name}{others}{host}, {waited}{forgotten}", tree.task),
                COLUMNS,
            ));
            let mut places = Vec::new();
            match &tree.place {
                TreePlace::Waits(frames) => {
                    frames.iter().for_each(|frame| innermost(frame, None, &mut places));
                }
                _ => places.push("nothing took its waker: nothing will wake it".to_owned()),
            }
            let more = places.len().saturating_sub(PLACES);
            lines.extend(
                places
                    .into_iter()
                    .take(PLACES)
                    .map(|place| format!("  {}", keep_right(&place, COLUMNS - 2))),
            );
            if more > 0 {
                lines.push(format!("  … and {more} more"));
            }
        }
        if groups.len() > GROUPS {
            lines.push(format!("… and {} more", groups.len() - GROUPS));
        }
        lines
    }
}

/// Finds the innermost function of the program in each branch; or else the innermost one with a line, or the innermost one.
fn innermost<'a>(frame: &'a TreeFrame, outer: Option<&'a TreeFrame>, places: &mut Vec<String>) {
    let is_nearer = frame.is_of_program || outer.is_none_or(|outer| !outer.is_of_program);
    let own = if frame.line.is_some() && is_nearer { Some(frame) } else { outer };
    if frame.awaits.is_empty() {
        let place = own.unwrap_or(frame);
        let function = without_async(&place.function);
        let text = match (&place.file, place.line) {
            (Some(file), Some(line)) => format!("{function} at {}:{line}", shown(file)),
            _ => function.to_owned(),
        };
        let text = clean(&text).into_owned();
        if !places.contains(&text) {
            places.push(text);
        }
    }
    frame.awaits.iter().for_each(|next| innermost(next, own, places));
}
