//! Compares the output of `tokio-statemap awaits` with the source.
//!
//! The source is read by a walk over the syntax that shares no code with the command.

mod listed;
mod written;

use std::collections::BTreeMap;

pub use listed::{Listed, listed};
pub use written::{Written, written};

/// The kind of an async item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An `async fn`.
    Fn,
    /// An `async` block, or an `async fn` that an attribute turns into one.
    Block,
    /// An `async` closure.
    Closure,
}

/// A suspend point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// An `.await` in this line.
    Line(usize),
    /// A macro of this name.
    Macro(String),
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Compared {
    /// The number of async items whose listed points are exactly those of the source.
    pub right: usize,
    /// The number of points of these items.
    pub points: usize,
    /// Descriptions of items that differ from the source, or aren't in it.
    pub wrong: Vec<String>,
    /// The places of items that are in the source, but not in the program, as nothing uses them.
    pub left_out: Vec<String>,
    /// The number of items that the walk can't judge: a macro that it doesn't know awaits in them.
    pub unclear: usize,
}

/// Compares the listed items of `file` with those of its source.
pub fn compare(all: &[Listed], file: &str, written: Vec<Written>) -> Compared {
    let mut compared = Compared::default();
    // Both have the items of one line in the order of the source.
    let mut by_line: BTreeMap<(usize, Kind), Vec<Written>> = BTreeMap::new();
    for written in written.into_iter().rev() {
        by_line.entry((written.begin, written.kind)).or_default().push(written);
    }
    for listed in all.iter().filter(|listed| listed.file == file) {
        let found = by_line.get_mut(&(listed.line, listed.kind)).and_then(Vec::pop);
        match found {
            Some(written) if written.is_unclear => compared.unclear += 1,
            Some(written) if written.points == listed.points() => {
                compared.right += 1;
                compared.points += written.points.len();
            }
            found => compared.wrong.push(format!("{listed:?} is {found:?}")),
        }
    }
    let left = by_line.into_values().flatten();
    compared.left_out = left.map(|written| format!("{file}:{}", written.begin)).collect();
    compared
}
