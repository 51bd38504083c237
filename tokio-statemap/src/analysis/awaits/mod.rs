//! What each async fn of a program awaits, from its debug information.

mod merge;
mod tree;

use std::path::Path;

pub use tree::{Node, Note};

use crate::symbols::FrameOrigin;
use crate::symbols::coroutines::{Awaited, Coroutines, Kind, Place};

/// The async fns, blocks and closures of a program, with their suspend points.
#[derive(Debug)]
pub struct Awaits {
    /// By file and line.
    all: Vec<AsyncFn>,
}

/// An async fn, block or closure, with all of its instances if it is generic.
#[derive(Debug)]
pub(crate) struct AsyncFn {
    path: String,
    kind: Kind,
    begin: Option<Place>,
    end: Option<Place>,
    origin: FrameOrigin,
    /// In the order of the source.
    points: Vec<Point>,
}

/// A suspend point.
#[derive(Debug)]
struct Point {
    place: Option<Place>,
    /// What is awaited there: more than one if instances differ.
    awaited: Vec<Target>,
}

/// What is awaited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// An async fn, block or closure, as an index.
    Fn(usize),
    /// A future of another type.
    Other {
        name: String,
        /// Whether only the running program knows its type.
        is_dyn: bool,
        /// The futures within it.
        inside: Vec<Target>,
    },
}

impl Awaits {
    /// Reads the debug information of the file at `path`; an error is what is wrong with it. Its bytes stay
    /// in memory.
    pub fn open(path: &Path) -> Result<Self, String> {
        let coroutines = Coroutines::open(path)?;
        merge::merge(&coroutines)
    }

    /// How many there are, instances of the same counted once.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The trees of those whose path contains `pattern`, by file and line; without one, those of the
    /// program itself, or of all.
    pub fn trees(&self, pattern: Option<&str>, of_all: bool) -> Vec<Node> {
        let is_meant = |of: &AsyncFn| match pattern {
            Some(pattern) => of.path.contains(pattern),
            None => of_all || of.origin == FrameOrigin::Program,
        };
        tree::trees(&self.all, is_meant)
    }
}
