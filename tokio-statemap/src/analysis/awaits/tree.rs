//! The tree of an async fn: what it awaits, what that awaits, and so on.

use std::collections::HashSet;

use super::{AsyncFn, Kind, Place, Point, Target};
use crate::util::source_path::shown;

/// An async fn, a suspend point, or what is awaited there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The file and the line, if known: `src/main.rs:7`. If the `.await` is in a macro, the lines of the async fn that
    /// calls the macro: `src/main.rs:5-9`.
    pub place: Option<String>,
    /// The name.
    pub name: String,
    /// A remark on it.
    pub note: Option<Note>,
    /// The futures that it awaits.
    pub children: Vec<Node>,
}

/// A remark on what is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Only the running program knows the type of the future.
    Dyn,
    /// The function is one of those that await it.
    Recursion,
    /// The function's tree is shown further up.
    ShownAbove,
    /// The function's tree is left out, as the output would be too long.
    LeftOut,
}

impl Note {
    /// Returns the remark in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Dyn => "known at run time only",
            Self::Recursion => "recursion",
            Self::ShownAbove => "as above",
            Self::LeftOut => "more is left out",
        }
    }
}

/// The greatest depth of a tree.
const MAX_DEPTH: usize = 60;

/// The most nodes of all trees.
const MAX_NODES: usize = 300_000;

/// Returns the trees of the async fns that `is_meant` selects.
pub(super) fn trees(all: &[AsyncFn], is_meant: impl Fn(&AsyncFn) -> bool) -> Vec<Node> {
    let mut left = MAX_NODES;
    let mut trees = Vec::new();
    for (i, root) in all.iter().enumerate().filter(|(_, function)| is_meant(function)) {
        let mut tree = Tree { all, open: vec![i], shown: HashSet::new(), left };
        let children = tree.points(root);
        left = tree.left.saturating_sub(1);
        let place = root.begin.as_ref().map(place_of);
        let note = (left == 0).then_some(Note::LeftOut);
        trees.push(Node { place, name: format!("{} {}", root.kind, root.path), note, children });
        if left == 0 {
            break;
        }
    }
    trees
}

/// A tree while it is built.
struct Tree<'a> {
    all: &'a [AsyncFn],
    /// The functions on the path from the root.
    open: Vec<usize>,
    /// The functions that are in the tree.
    shown: HashSet<usize>,
    /// The number of nodes that may be added.
    left: usize,
}

impl Tree<'_> {
    fn points(&mut self, function: &AsyncFn) -> Vec<Node> {
        function.points.iter().filter_map(|point| self.point(function, point)).collect()
    }

    fn point(&mut self, function: &AsyncFn, point: &Point) -> Option<Node> {
        let in_macro = point.place.as_ref().filter(|place| is_of_other_file(function, place));
        let mut node = match &point.awaited[..] {
            // The source shows the macro, not the future that it makes.
            [Target::Other { name, inside, .. }] if in_macro.is_some() && is_poll_fn(name) => {
                self.node(String::new(), None, inside)?
            }
            [one] => self.target(one)?,
            several => self.node(format!("one of {}", several.len()), None, several)?,
        };
        match (in_macro, &point.place) {
            (Some(place), _) => {
                let written = macro_of(place);
                let text = [written.as_str(), node.name.as_str()];
                node.name =
                    text.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
                node.place = range_of(function);
            }
            (None, place) => node.place = place.as_ref().map(place_of),
        }
        Some(node)
    }

    fn target(&mut self, target: &Target) -> Option<Node> {
        let i = match target {
            Target::Fn(i) => *i,
            Target::Other { name, is_dyn, inside } => {
                return self.node(name.clone(), is_dyn.then_some(Note::Dyn), inside);
            }
        };
        let all = self.all;
        let function = &all[i];
        let name = match (function.kind, &function.begin) {
            (Kind::Fn, _) | (_, None) => function.path.clone(),
            (kind, Some(begin)) => format!("{kind} {} ({})", function.path, place_of(begin)),
        };
        let note = match () {
            () if function.points.is_empty() => None,
            () if self.open.contains(&i) => Some(Note::Recursion),
            () if self.shown.contains(&i) => Some(Note::ShownAbove),
            () if self.open.len() >= MAX_DEPTH => Some(Note::LeftOut),
            () => None,
        };
        let mut node = self.node(name, note, &[])?;
        if note.is_none() {
            self.shown.insert(i);
            self.open.push(i);
            node.children = self.points(function);
            self.open.pop();
        }
        Some(node)
    }

    /// Returns `None` once there are too many nodes.
    fn node(&mut self, name: String, note: Option<Note>, inside: &[Target]) -> Option<Node> {
        self.left = self.left.checked_sub(1)?;
        let children = inside.iter().filter_map(|target| self.target(target)).collect();
        Some(Node { place: None, name, note, children })
    }
}

fn is_of_other_file(function: &AsyncFn, place: &Place) -> bool {
    function.begin.as_ref().is_some_and(|begin| begin.file != place.file)
}

fn is_poll_fn(name: &str) -> bool {
    name.split('<').next().is_some_and(|path| path.ends_with("PollFn"))
}

fn place_of(place: &Place) -> String {
    shown(&place.to_string()).into_owned()
}

/// Returns the lines of an async fn.
fn range_of(function: &AsyncFn) -> Option<String> {
    let begin = function.begin.as_ref()?;
    Some(match &function.end {
        Some(end) if end.file == begin.file && end.line > begin.line => {
            format!("{}-{}", place_of(begin), end.line)
        }
        _ => place_of(begin),
    })
}

/// Returns the name of the macro that the `.await` at `place` is in.
fn macro_of(place: &Place) -> String {
    let known = place.known_macro();
    known.map_or_else(|| format!("a macro of {}", place_of(place)), str::to_owned)
}
