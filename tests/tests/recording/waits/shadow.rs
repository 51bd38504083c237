//! The tree of frames that a program keeps by hand, and the recorded tree, as text.

use std::sync::{Arc, Mutex, Weak};

use tokio_statemap::Timeline;
use tokio_statemap::timeline::{AwaitFrame, FrameOrigin, Task};

/// The name of calls whose name isn't shown.
pub(crate) const UNNAMED: &str = "unnamed";

/// The frames that are awaited at one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shadow(Arc<Mutex<Vec<Arc<Node>>>>);

#[derive(Debug)]
struct Node {
    name: &'static str,
    line: Mutex<u32>,
    awaits: Shadow,
    /// The frames that it awaits, if another function made them.
    inner: Mutex<Option<Shadow>>,
}

/// A frame of a function; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Frame {
    node: Arc<Node>,
    up: Weak<Mutex<Vec<Arc<Node>>>>,
}

impl Shadow {
    /// Enters the function `name`.
    pub(crate) fn enter(&self, name: &'static str) -> Frame {
        let node = Arc::new(Node {
            name,
            line: Mutex::new(0),
            awaits: Self::default(),
            inner: Mutex::default(),
        });
        self.0.lock().unwrap().push(Arc::clone(&node));
        Frame { node, up: Arc::downgrade(&self.0) }
    }

    /// Returns the tree as text: `outer:3(inner:5(Sleep))`, with branches in alphabetical order.
    pub(crate) fn text(&self) -> String {
        let text = |node: &Arc<Node>| {
            let inner = node.inner.lock().unwrap();
            let awaits = inner.as_ref().unwrap_or(&node.awaits).text();
            show(node.name, *node.line.lock().unwrap(), &awaits)
        };
        joined(self.0.lock().unwrap().iter().map(text).collect())
    }
}

impl Frame {
    /// Notes that the function is about to await on `line`. The awaited functions get the result.
    pub(crate) fn at(&self, line: u32) -> Shadow {
        *self.node.line.lock().unwrap() = line;
        self.node.awaits.0.lock().unwrap().clear();
        self.node.awaits.clone()
    }

    /// Notes that the function is about to await on `line` a future with its frames in `inner`.
    pub(crate) fn continues(&self, line: u32, inner: &Shadow) {
        *self.node.line.lock().unwrap() = line;
        *self.node.inner.lock().unwrap() = Some(inner.clone());
    }

    /// Notes that the function is about to await `leaf` on `line`.
    pub(crate) fn waits(&self, line: u32, leaf: &'static str) {
        // The leaf stays until the function awaits something else.
        std::mem::forget(self.at(line).enter(leaf));
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        if let Some(up) = self.up.upgrade() {
            up.lock().unwrap().retain(|node| !Arc::ptr_eq(node, &self.node));
        }
    }
}

fn show(name: &str, line: u32, awaits: &str) -> String {
    let line = if line == 0 { String::new() } else { format!(":{line}") };
    let awaits = if awaits.is_empty() { String::new() } else { format!("({awaits})") };
    format!("{name}{line}{awaits}")
}

fn joined(mut all: Vec<String>) -> String {
    all.sort();
    all.join(" ")
}

/// Returns the recorded tree of `task` in the same form.
pub(crate) fn found(timeline: &Timeline, task: &Task) -> String {
    let wait = timeline.wait_at_end(task);
    wait.map_or_else(|| "unknown".to_owned(), |wait| found_in(&wait.frames))
}

pub(crate) fn found_in(frames: &[AwaitFrame]) -> String {
    let text = |frame: &AwaitFrame| {
        let function = &frame.function;
        // The programs don't know the lines of other crates' functions.
        let line = function.line.filter(|_| function.origin == FrameOrigin::Program);
        let name = frame.name.as_deref().unwrap_or(short(&function.function));
        let name = if name == UNNAMED { short(&function.function) } else { name };
        show(name, line.unwrap_or(0), &found_in(&frame.awaits))
    };
    joined(frames.iter().map(text).collect())
}

/// Returns the last part of a path, without types.
fn short(function: &str) -> &str {
    let path = function.trim_start_matches("async ");

    let end = if path.ends_with('>') { path.find('<').unwrap_or(path.len()) } else { path.len() };
    path[..end].rsplit("::").next().unwrap_or(path)
}
