//! Holds what `tokio-statemap awaits` says against the source: a walk over the syntax that shares no code
//! with it.

mod listed;
mod written;

use std::collections::BTreeMap;

pub use listed::{Listed, listed};
pub use written::{Written, written};

/// What an async fn, block or closure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An `async fn`.
    Fn,
    /// An `async` block, or an `async fn` that an attribute makes one.
    Block,
    /// An `async` closure.
    Closure,
}

/// Where one may be suspended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Point {
    /// An `.await` in this line.
    Line(usize),
    /// A macro of this name.
    Macro(String),
}

/// What came of the comparison.
#[derive(Debug, Default)]
pub struct Compared {
    /// How many async fns, blocks and closures have exactly the points that are written.
    pub right: usize,
    /// How many points these have.
    pub points: usize,
    /// Those that don't, and those that aren't written, in words.
    pub wrong: Vec<String>,
    /// Those that are written, but not in the program: nothing uses them.
    pub left_out: Vec<String>,
    /// Those of which the walk can't tell: a macro that it doesn't know awaits.
    pub unclear: usize,
}

/// Compares what is listed with what is written in `file`.
pub fn compare(all: &[Listed], file: &str, written: Vec<Written>) -> Compared {
    let mut compared = Compared::default();
    // Those of one line are in the order of the source in both.
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
