//! Where tasks come from: what the report groups them by.

use std::fmt;

use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{Task, TaskKey};
use crate::util::clean::clean;

/// Where tasks come from: the report has one row for each.
///
/// `Display` is `src/main.rs:42:9`, with ` (main)` behind it for the root future, or
/// `location unknown`; of a package of a registry `axum-0.8.9/src/serve/mod.rs:389:5`. What could disturb a
/// terminal is escaped.
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
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.location, self.is_root) {
            (Some(location), true) => write!(f, "{} (main)", told(location)),
            (Some(location), false) => f.write_str(&told(location)),
            (None, true) => f.write_str("main"),
            (None, false) => f.write_str("location unknown"),
        }
    }
}

fn told(location: SpawnLocation) -> String {
    clean(in_package(&location.to_string())).into_owned()
}

/// The path of a package's source file from the package on: where packages are kept says nothing.
pub(crate) fn in_package(path: &str) -> &str {
    let after = path.split_once("/registry/src/").and_then(|(_, rest)| rest.split_once('/'));
    after.map_or(path, |(_, in_package)| in_package)
}
