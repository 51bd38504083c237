//! Tasks that are at the same place, as one.

use std::collections::HashMap;

use super::{TaskTree, TreeFrame, TreePlace};
use crate::trace::state::TaskState;

/// Tasks that were spawned at the same place and are in the same functions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TreeGroup<'a> {
    /// The one that is in its state for the longest time.
    pub first: &'a TaskTree,
    /// How many they are.
    pub tasks: usize,
    /// For how long the one is in its state that is so for the shortest time, in ns.
    pub least_ns: u64,
}

/// What tasks of a group have in common.
type Key<'a> = (Option<&'a str>, Option<&'a str>, TaskState, bool, Vec<Frame<'a>>);
/// How deep a function is, what it is, and where.
type Frame<'a> = (usize, &'a str, Option<&'a str>, Option<u32>);

impl<'a> TreeGroup<'a> {
    /// The groups of `trees`, in the order of their first tasks. Their calls may
    /// have different arguments.
    pub fn fold(trees: &'a [TaskTree]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut known: HashMap<Key<'_>, usize> = HashMap::new();
        for tree in trees {
            let group = Self { first: tree, tasks: 1, least_ns: tree.for_ns };
            let Some(key) = key(tree) else {
                groups.push(group);
                continue;
            };
            let place = *known.entry(key).or_insert(groups.len());
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
    // A poll that goes on is one of its own, and so is a root future.
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

fn add<'a>(frames: &mut Vec<Frame<'a>>, of: &'a [TreeFrame], depth: usize) {
    for frame in of {
        let name = frame.name.as_deref().unwrap_or(&frame.function);
        frames.push((depth, name, frame.file.as_deref(), frame.line));
        add(frames, &frame.awaits, depth + 1);
    }
}
