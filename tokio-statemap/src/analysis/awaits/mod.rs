//! Reads from debug information which futures each async fn of a program awaits.

mod merge;
mod tree;

use std::path::Path;

pub use tree::{Node, Note};

use crate::symbols::FrameOrigin;
use crate::symbols::coroutines::{Awaited, Coroutines, Kind, Place};

/// The async fns, blocks and closures of a program, with their suspend points.
#[derive(Debug)]
pub struct Awaits {
    /// In the order of files and lines.
    all: Vec<AsyncFn>,
}

/// An async fn, block or closure, with all instances if it is generic.
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
    /// The futures that are awaited there: several if the instances of the async fn await different ones.
    awaited: Vec<Target>,
}

/// A future that is awaited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// An async fn, block or closure, as an index.
    Fn(usize),
    /// A future of another type.
    Other {
        name: String,
        /// `true` if only the running program knows its type.
        is_dyn: bool,
        /// The futures within it.
        inside: Vec<Target>,
    },
}

impl Awaits {
    /// Reads the debug information of the file at `path`, whose bytes stay in memory.
    ///
    /// # Errors
    ///
    /// A description of the problem with the file.
    pub fn open(path: &Path) -> Result<Self, String> {
        let coroutines = Coroutines::open(path)?;
        merge::merge(&coroutines)
    }

    /// Returns the number of async fns. The instances of a generic one count once.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there are no async fns.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the trees of the async fns whose path contains `pattern`, in the order of files and lines. Without a
    /// pattern, returns those of the program itself, or those of all async fns if `of_all`.
    pub fn trees(&self, pattern: Option<&str>, of_all: bool) -> Vec<Node> {
        let is_meant = |function: &AsyncFn| match pattern {
            Some(pattern) => function.path.contains(pattern),
            None => of_all || function.origin == FrameOrigin::Program,
        };
        tree::trees(&self.all, is_meant)
    }
}
