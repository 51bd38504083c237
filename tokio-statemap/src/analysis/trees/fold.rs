//! Groups tasks that are at the same place.

use super::{TaskTree, TreeFrame, TreePlace};
use crate::trace::state::TaskState;
use crate::util::map::Map;

/// Tasks that were spawned at the same place and are in the same functions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TreeGroup<'a> {
    /// The task that has been in its state for longest.
    pub first: &'a TaskTree,
    /// The number of tasks.
    pub tasks: usize,
    /// The shortest time that one of them has been in its state, in ns.
    pub least_ns: u64,
}

/// The properties that tasks of a group have in common.
type Key<'a> = (Option<&'a str>, Option<&'a str>, TaskState, bool, Vec<Frame<'a>>);
/// The depth of a function, its name, file and line.
type Frame<'a> = (usize, &'a str, Option<&'a str>, Option<u32>);

impl<'a> TreeGroup<'a> {
    /// Groups `trees`, in the order of their first tasks. The calls of a group may have different arguments.
    pub fn fold(trees: &'a [TaskTree]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known: Map<Key<'_>, usize> = Map::default();
        for tree in trees {
            let group = Self { first: tree, tasks: 1, least_ns: tree.for_ns };
            let Some(key) = key(tree) else {
                groups.push(group);
                continue;
            };
            let place = *known.get_or_insert_with(key, || groups.len());
            match groups.get_mut(place) {
                Some(group) => {
                    group.tasks += 1;
                    group.least_ns = group.least_ns.min(tree.for_ns);
                    if tree.for_ns > group.first.for_ns {
                        group.first = tree;
                    }
                }
                None => groups.push(group),
            }
        }
        groups
    }
}

fn key(tree: &TaskTree) -> Option<Key<'_>> {
    // A task that is being polled is a group of its own, and so is a root future.
    if tree.state == TaskState::Running || tree.id.is_none() {
        return None;
    }
    let (mut frames, mut is_known) = (Vec::new(), false);
    match &tree.place {
        TreePlace::Waits(waits) => {
            is_known = true;
            add(&mut frames, waits, 0);
        }
        TreePlace::NothingWakes => is_known = true,
        _ => {}
    }
    Some((tree.location.as_deref(), tree.polled_in.as_deref(), tree.state, is_known, frames))
}

fn add<'a>(frames: &mut Vec<Frame<'a>>, added: &'a [TreeFrame], depth: usize) {
    for frame in added {
        let name = frame.name.as_deref().unwrap_or(&frame.function);
        frames.push((depth, name, frame.file.as_deref(), frame.line));
        add(frames, &frame.awaits, depth + 1);
    }
}
