//! Where tasks come from: what the report groups them by.

use std::fmt;

use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{Task, TaskKey};
use crate::util::clean::clean;

/// Where tasks come from: the report has one row for each.
///
/// `Display` is `src/main.rs:42:9`, with ` (main)` behind it for the root future, or
/// `location unknown`. What could disturb a terminal is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// Where they were spawned; for `main` where the function stands. `None` if that isn't known.
    pub location: Option<SpawnLocation>,
    /// Whether it is the root future of `block_on` rather than spawned tasks.
    pub is_root: bool,
}

impl Place {
    pub(crate) fn of(task: &Task) -> Self {
        Self { location: task.location, is_root: matches!(task.key, TaskKey::Root(_)) }
    }

    /// What stands behind the location.
    pub(crate) fn suffix(&self) -> &'static str {
        if self.is_root { " (main)" } else { "" }
    }

    /// What stands where the location isn't known.
    pub(crate) fn nameless(&self) -> &'static str {
        if self.is_root { "main" } else { "location unknown" }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            Some(location) => {
                write!(f, "{}{}", clean(&location.to_string()), self.suffix())
            }
            None => f.write_str(self.nameless()),
        }
    }
}
