//! Where tasks come from: what the report groups them by.

use std::fmt;

use super::format;
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

    /// The same in at most `width` columns: what is too long loses its left.
    pub(super) fn fit(&self, width: usize) -> String {
        let Some(location) = self.location else {
            return format::keep_right(self.nameless(), width);
        };
        let suffix = if self.is_root { " (main)" } else { "" };
        let path = location.to_string();
        let path = format::keep_right(&clean(&path), width.saturating_sub(suffix.len()));
        format!("{path}{suffix}")
    }

    fn nameless(&self) -> &'static str {
        if self.is_root { "main" } else { "location unknown" }
    }
}

/// The order of places in the source, as [`Place`] has it, by their names: that of a place that isn't
/// known is the first.
#[cfg(feature = "read")]
pub(crate) fn source_order(name: &str) -> (Option<(&str, u64, u64)>, bool) {
    let (path, is_root) = match name.strip_suffix(" (main)") {
        Some(path) => (path, true),
        None => (name, name == "main"),
    };
    let mut parts = path.rsplitn(3, ':');
    let mut number = || parts.next()?.parse().ok();
    let (column, line) = (number(), number());
    let location = parts.next().zip(line).zip(column);
    (location.map(|((file, line), column)| (file, line, column)), is_root)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fit(usize::MAX))
    }
}

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;
    use crate::trace::event::SpawnLocation;

    #[test]
    fn names_have_the_order_of_places() {
        let at = |file, line, column| Some(SpawnLocation { file, line, column });
        let locations =
            [None, at("a.rs", 9, 1), at("a.rs", 10, 2), at("a.rs", 10, 10), at("b:c.rs", 1, 1)];
        let places = locations
            .into_iter()
            .flat_map(|location| [false, true].map(|is_root| Place { location, is_root }));
        let places: Vec<Place> = places.collect();
        assert!(places.is_sorted());
        let names: Vec<String> = places.iter().map(Place::to_string).collect();
        assert!(names.iter().map(|name| source_order(name)).is_sorted(), "{names:?}");
    }
}
