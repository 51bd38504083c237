//! From the chains that were captured in a poll to the tree of functions that a person reads.

use super::{AwaitFrame, Wait};
use crate::symbols::{FrameOrigin, StackFrame};

/// A function of a chain, and the address that it is of: several are of one if they were inlined there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) address: u64,
    pub(super) frame: StackFrame,
}

impl Located {
    fn is_async(&self) -> bool {
        self.frame.function.starts_with("async ")
    }

    fn is_same_place(&self, other: &Self) -> bool {
        self.frame == other.frame
    }
}

/// Leaves the functions that a person would name, of a chain whose outermost is first.
///
/// Those are the program's own, those that are `async`, and of what the program calls of others the first.
/// How futures are boxed, pinned and joined is left out.
pub(super) fn essential(chain: Vec<Located>) -> Vec<Located> {
    let mut kept: Vec<Located> = Vec::new();
    // Whether the last one that was kept is of another's code, whose inside is its own affair.
    let mut is_inside = false;
    for mut located in chain {
        let is_of_last = kept.last().is_some_and(|last| {
            // The closure of a `join!` or `select!` has the name of the function that it is in.
            last.frame.function.trim_start_matches("async ") == &*located.frame.function
        });
        let is_ours = is_ours(&located.frame);
        let keeps = match located.frame.origin {
            _ if is_of_last || is_ours => false,
            FrameOrigin::Program => true,
            FrameOrigin::Dependency => !is_inside || located.is_async(),
            FrameOrigin::Runtime => !is_inside,
            FrameOrigin::Std | FrameOrigin::System => false,
        };
        if keeps {
            is_inside = located.frame.origin != FrameOrigin::Program;
            located.frame.function = future_of(&located.frame.function).into();
            kept.push(located);
        }
    }
    kept
}

fn is_ours(frame: &StackFrame) -> bool {
    frame.function.contains("tokio_statemap::") && frame.origin == FrameOrigin::Runtime
}

/// The future that is polled by `function`: `shop::Cart` of `<shop::Cart as Future>::poll`.
fn future_of(function: &str) -> &str {
    let of_trait = function
        .strip_suffix(" as core::future::future::Future>::poll")
        .and_then(|of| of.strip_prefix('<'));
    of_trait.unwrap_or(function)
}

/// The tree of several chains, each with its outermost function first, in the order in which they were
/// captured.
pub(super) fn tree(mut chains: Vec<Vec<Located>>) -> Wait {
    // One that was captured before another was over by then if both are awaited by the same `async fn`, on
    // different lines: it goes on to the next line only when the first is over.
    let mut at = 0;
    while at < chains.len() {
        let is_over = chains[at + 1..].iter().any(|later| is_before(&chains[at], later));
        match is_over {
            true => drop(chains.remove(at)),
            false => at += 1,
        }
    }
    let mut frames = Vec::new();
    for chain in &chains {
        add(&mut frames, chain);
    }
    Wait { frames: frames.into_iter().map(Node::frame).collect() }
}

/// Whether an `async fn` awaits `earlier` on one line and `later` on another.
fn is_before(earlier: &[Located], later: &[Located]) -> bool {
    let mut both = earlier.iter().zip(later);
    both.find(|(a, b)| !a.is_same_place(b)).is_some_and(|(a, b)| {
        a.is_async() && b.is_async() && a.frame.function == b.frame.function
    })
}

/// A part of the tree, with what tells it from others of the same names.
struct Node {
    located: Located,
    awaits: Vec<Self>,
}

impl Node {
    fn frame(self) -> AwaitFrame {
        AwaitFrame {
            function: self.located.frame,
            awaits: self.awaits.into_iter().map(Self::frame).collect(),
        }
    }
}

/// Adds a chain to the last branch, as far as that is the same.
fn add(mut nodes: &mut Vec<Node>, chain: &[Located]) {
    for (at, located) in chain.iter().enumerate() {
        // What is called from two places is two futures, though the names are the same.
        let is_same = |node: &Node| {
            node.located.is_same_place(located)
                && (node.located.address == located.address
                    || chain.get(at + 1).zip(node.awaits.last()).is_some_and(|(next, last)| {
                        !next.is_same_place(&last.located)
                    }))
        };
        let found = nodes.iter().rposition(is_same);
        let place = found.unwrap_or_else(|| {
            nodes.push(Node { located: located.clone(), awaits: Vec::new() });
            nodes.len() - 1
        });
        nodes = &mut nodes[place].awaits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `foo:1 bar:2`, from the outermost on; those that begin with a small letter are `async fn`s of the
    /// program, others of Tokio. What follows `@` is the address.
    fn chain(text: &str) -> Vec<Located> {
        let located = |(i, word): (usize, &str)| {
            let (name, address) = word.split_once('@').unwrap_or((word, ""));
            let (name, line) = name.split_once(':').unwrap_or((name, "0"));
            let is_own = name.starts_with(|c: char| c.is_lowercase());
            let frame = StackFrame {
                function: if is_own { format!("async {name}") } else { name.to_owned() }.into(),
                file: Some("src/main.rs".into()),
                line: line.parse().ok(),
                origin: if is_own { FrameOrigin::Program } else { FrameOrigin::Runtime },
            };
            Located { address: address.parse().unwrap_or(i as u64), frame }
        };
        text.split_whitespace().enumerate().map(located).collect()
    }

    fn show(frames: &[AwaitFrame]) -> String {
        let show = |frame: &AwaitFrame| {
            let name = frame.function.function.trim_start_matches("async ");
            let inner = if frame.awaits.is_empty() { String::new() } else { format!("({})", show(&frame.awaits)) };
            format!("{name}:{}{inner}", frame.function.line.unwrap())
        };
        frames.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn chains_become_a_tree() {
        for (chains, expected) in [
            (&["a:1 b:2 Sleep"][..], "a:1(b:2(Sleep:0))"),
            (&["a:1 b:2 Sleep", "a:1 c:3 Recv"], "a:1(b:2(Sleep:0) c:3(Recv:0))"),
            // Two calls of the same function.
            (&["a:1 b:2@7 Sleep", "a:1 b:2@8 Sleep"], "a:1(b:2(Sleep:0) b:2(Sleep:0))"),
            // The same, inlined into the one that calls them.
            (&["a:1@5 b:2@7 Sleep", "a:1@6 c:2@8 Sleep"], "a:1(b:2(Sleep:0) c:2(Sleep:0))"),
            // It went on from line 1 to line 2.
            (&["a:1 Recv", "a:2 Sleep"], "a:2(Sleep:0)"),
            (&["a:1 b:2 Recv", "a:1 b:3 Sleep", "a:1 c:1 Sleep"], "a:1(b:3(Sleep:0) c:1(Sleep:0))"),
            (&[], ""),
        ] {
            let wait = tree(chains.iter().map(|text| chain(text)).collect());
            assert_eq!(show(&wait.frames), expected, "{chains:?}");
        }
    }

    #[test]
    fn the_inside_of_other_code_is_left_out() {
        let names = |text: &str| {
            let kept = essential(chain(text));
            let names: Vec<_> = kept.iter().map(|at| at.frame.function.to_string()).collect();
            names.join(" ")
        };
        assert_eq!(names("a Timeout Coop b Mutex Acquire"), "async a Timeout async b Mutex");
        let future = "<tokio::time::sleep::Sleep as core::future::future::Future>::poll";
        assert_eq!(future_of(future), "tokio::time::sleep::Sleep");
        // A closure of the function itself.
        let mut all = chain("a b");
        all[1].frame.function = "a".into();
        assert_eq!(essential(all).len(), 1);
    }
}
