//! The origin of tasks, by which the report groups them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{StackFrame, Task, TaskKey};
use crate::util::clean::clean;
use crate::util::columns::{COLUMNS, keep_right};
use crate::util::map::Map;
use crate::util::source_path::{self, is_of_dependency, shown_at};

/// The origin of tasks. The report has a row for each place.
///
/// `Display` writes `src/main.rs:42:9`, followed by ` (main)` for the root future, or `location unknown`. The path
/// begins with the package if that is from a registry: `axum-0.8.9/src/serve/mod.rs:389:5`. The path has more parts if
/// another spawn location of the run would look the same. Characters that could disturb a terminal are escaped.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Place {
    /// The location at which they were spawned; for `main`, the location of the function. `None` if that isn't known.
    pub location: Option<SpawnLocation>,
    /// `true` if it is the root future of `block_on` rather than spawned tasks.
    pub is_root: bool,
    /// The number of parts of the path that are shown beyond the usual ones: see
    /// [`levels`](crate::util::source_path::levels). It doesn't matter for equality.
    pub(super) level: u8,
}

impl Place {
    pub(crate) fn new(location: Option<SpawnLocation>, is_root: bool) -> Self {
        Self { location, is_root, level: 0 }
    }

    pub(crate) fn of_task(task: &Task) -> Self {
        Self::new(task.location, matches!(task.key, TaskKey::Root(_)))
    }

    /// Returns whether the tasks were spawned by code of a dependency, or of std.
    pub(super) fn is_of_dependency(self) -> bool {
        self.location.is_some_and(|location| is_of_dependency(location.file))
    }

    fn key(&self) -> (Option<SpawnLocation>, bool) {
        (self.location, self.is_root)
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The numbers of places. Facts about each place can then be in a vector rather than in a map.
#[derive(Default)]
pub(super) struct Places {
    /// The places, in the order of their numbers.
    pub(super) all: Vec<Place>,
    numbers: Map<Place, usize>,
}

impl Places {
    /// Returns the number of a place. A new place gets the next number.
    pub(super) fn number(&mut self, place: Place) -> usize {
        let next = self.all.len();
        let number = *self.numbers.get_or_insert_with(place, || next);
        if number == next {
            self.all.push(place);
        }
        number
    }

    /// Returns the number of a place, if it has one.
    pub(super) fn number_of(&self, place: Place) -> Option<usize> {
        self.numbers.get(&place).copied()
    }

    /// Returns the places with their numbers, sorted.
    pub(super) fn sorted(&self) -> Vec<(Place, usize)> {
        let mut sorted = Vec::with_capacity(self.all.len());
        for (number, &place) in self.all.iter().enumerate() {
            sorted.push((place, number));
        }
        crate::util::sort::by_key(&mut sorted, |(place, _)| *place);
        sorted
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |SpawnLocation { file, line, column }| {
            let location = format!("{}:{line}:{column}", shown_at(file, self.level));
            clean(&location).into_owned()
        };
        match (self.location, self.is_root) {
            (Some(location), true) => write!(f, "{} (main)", shown(location)),
            (Some(location), false) => f.write_str(&shown(location)),
            (None, true) => f.write_str("main"),
            (None, false) => f.write_str("location unknown"),
        }
    }
}

/// Returns the name of a function alone: `shop::render_invoice`. A name longer than a line is shortened.
pub(super) fn bare_name(frame: &StackFrame) -> String {
    keep_right(&clean(&frame.function), COLUMNS)
}

/// Returns the file and line of a function, as all outputs show them: `src/shop.rs:21`; `None` if they aren't known.
pub(crate) fn source_line(frame: &StackFrame) -> Option<String> {
    let file = source_path::shown(frame.file.as_deref()?);
    Some(match frame.line {
        Some(line) => format!("{file}:{line}"),
        None => file.into_owned(),
    })
}
