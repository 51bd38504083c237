//! The functions from which tasks came to a line at which they wait: a function that only takes a lock, a permit or a connection has
//! the line, and its callers are the ones that differ.

use std::cmp::Reverse;
use std::fmt;

use super::last_wait::LastWaits;
use crate::analysis::place::source_line;
use crate::analysis::waits::line_of;
use crate::analysis::waits::path::caller;
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::timeline::TaskKey;
use crate::util::clean::clean;

/// The lines from which tasks came that wait at one line at the end, each with the number of these, the most first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::analysis) struct ComeFrom {
    lines: Vec<(String, u64)>,
    /// The number of tasks that came from no known line.
    others: u64,
}

/// The most lines that are named.
const MOST: usize = 3;

impl ComeFrom {
    /// Finds them for those tasks that wait at this line, for the future of this name, and are meant.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        (line, awaits): (&StackFrame, Option<&str>),
        is_meant: &dyn Fn(TaskKey) -> bool,
    ) -> Self {
        let mut others = 0;
        let mut from: Vec<(String, u64)> = Vec::new();
        for (wait, spots) in last.long(0) {
            let [own] = wait.lines()[..] else { continue };
            if line_of(own) != (line, awaits) {
                continue;
            }
            let tasks = spots.iter().filter(|spot| is_meant(spot.task)).count() as u64;
            let caller = caller(wait, line).filter(|of| of.origin == FrameOrigin::Program);
            let Some(place) = caller.and_then(source_line).filter(|_| tasks > 0) else {
                others += tasks;
                continue;
            };
            match from.iter_mut().find(|(known, _)| *known == place) {
                Some((_, number)) => *number += tasks,
                None => from.push((place, tasks)),
            }
        }
        crate::util::sort::by_key(&mut from, |(place, tasks)| (Reverse(*tasks), place.clone()));
        Self { lines: from, others }
    }
}

impl fmt::Display for ComeFrom {
    /// Writes a sentence; nothing if no such line is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lines[..] {
            [] => Ok(()),
            [(only, _)] if self.others == 0 => write!(f, "They came there from {}.", clean(only)),
            several => {
                f.write_str("They came there from ")?;
                for (nth, (place, tasks)) in several.iter().take(MOST).enumerate() {
                    let before = if nth == 0 { "" } else { ", " };
                    write!(f, "{before}{} ({tasks})", clean(place))?;
                }
                match several.len().saturating_sub(MOST) {
                    0 => f.write_str("."),
                    1 => f.write_str(", and another line."),
                    more => write!(f, ", and {more} other lines."),
                }
            }
        }
    }
}
