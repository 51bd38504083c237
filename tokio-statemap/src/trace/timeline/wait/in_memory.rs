//! Converts what was read from a task's memory to the functions that are shown, in the same form as
//! the chains of a probe.

use super::tree::is_plumbing;
use super::{AwaitFrame, Wait};
use crate::symbols::coroutines::cells::AwaitNode;
use crate::symbols::{FrameOrigin, StackFrame, package};

/// Converts the futures that a task awaits to functions.
pub(in crate::trace::timeline) fn wait_from_memory(awaits: &AwaitNode) -> Wait {
    Wait { frames: frames(awaits, Above::default()) }
}

/// The context of a future: the functions that await it.
#[derive(Clone, Copy, Default)]
struct Above<'a> {
    /// `true` if the nearest one belongs to a dependency, whose internals are left out.
    is_inside: bool,
    /// The program's crate, from the nearest function of the program.
    own_crate: Option<&'a str>,
}

/// Returns the function with the functions that it awaits below it, or only those if the function
/// itself is left out.
fn frames<'a>(node: &'a AwaitNode, above: Above<'a>) -> Vec<AwaitFrame> {
    // A macro polls several futures for the function that it is written in.
    let is_macro = node.function.ends_with('!');
    let origin = match is_macro {
        true => FrameOrigin::Runtime,
        false => origin(node, above.own_crate),
    };
    let is_async = node.kind.is_some();
    let function = match is_async {
        true => format!("async {}", node.function),
        false => node.function.clone(),
    };
    let (file, line) = match origin {
        // A line within Tokio doesn't help the reader.
        FrameOrigin::Runtime => (None, None),
        _ => (node.file.as_deref().map(Into::into), node.line),
    };
    let function = StackFrame { function: function.into(), file, line, origin };
    let keeps = match origin {
        _ if is_macro => true,
        FrameOrigin::Program => true,
        FrameOrigin::Dependency => !above.is_inside || is_async,
        FrameOrigin::Runtime => !above.is_inside && !is_plumbing(&function),
        // Futures are boxed and wrapped by these. Only an awaited leaf is worth showing.
        FrameOrigin::Std | FrameOrigin::System => !above.is_inside && node.children.is_empty(),
    };
    let below = match (keeps && !is_macro, origin) {
        (true, FrameOrigin::Program) => {
            Above { is_inside: false, own_crate: first_crate(&node.function) }
        }
        (true, _) => Above { is_inside: true, ..above },
        (false, _) => above,
    };
    let mut awaits: Vec<_> = node.children.iter().flat_map(|child| frames(child, below)).collect();
    if !is_macro {
        // The futures of a `join_all` are mostly alike.
        awaits.dedup();
    }
    match keeps {
        true => vec![AwaitFrame { function, awaits, name: None, call: None }],
        false => awaits,
    }
}

/// Returns the origin of a future: by its file if it is a function, or else by the crate of its
/// path.
fn origin(node: &AwaitNode, own_crate: Option<&str>) -> FrameOrigin {
    match (first_crate(&node.function), &node.file) {
        (Some("tokio" | "tokio_statemap"), _) => FrameOrigin::Runtime,
        (_, Some(file)) => package(file),
        (Some("std" | "core" | "alloc") | None, None) => FrameOrigin::Std,
        (of, None) if of == own_crate => FrameOrigin::Program,
        _ => FrameOrigin::Dependency,
    }
}

/// Returns the crate that a path begins with, such as that of the type in `<shop::Cart as
/// Price>::cents`.
fn first_crate(path: &str) -> Option<&str> {
    let path = path.trim_start_matches(['<', '&']);
    let (first, _) = path.split_once("::")?;
    first.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::coroutines::Kind;

    /// A function of the program or, with a file of a registry, of a dependency.
    fn function(name: &str, file: &str, line: u32, children: Vec<AwaitNode>) -> AwaitNode {
        AwaitNode {
            function: name.to_owned(),
            kind: Some(Kind::Fn),
            file: Some(file.to_owned()),
            line: Some(line),
            children,
        }
    }

    fn future(name: &str, children: Vec<AwaitNode>) -> AwaitNode {
        AwaitNode { function: name.to_owned(), kind: None, file: None, line: None, children }
    }

    fn show(frames: &[AwaitFrame]) -> String {
        let show = |frame: &AwaitFrame| match &frame.awaits[..] {
            [] => frame.function.to_string(),
            awaits => format!("{} ({})", frame.function, show(awaits)),
        };
        frames.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_same_is_shown_as_of_a_probe() {
        const HYPER: &str = "/registry/src/index/hyper-1.0.0/src/conn.rs";
        const TOKIO: &str = "/registry/src/index/tokio-1.54.1/src/sync/mutex.rs";
        let sleep = || future("tokio::time::sleep::Sleep", Vec::new());
        let leaf = || function("shop::leaf", "src/main.rs", 3, vec![sleep()]);
        let lock = || {
            let acquire = future("tokio::sync::batch_semaphore::Acquire", Vec::new());
            let inner = function("tokio::sync::mutex::Mutex<T>::acquire", TOKIO, 8, vec![acquire]);
            function("tokio::sync::mutex::Mutex<T>::lock", TOKIO, 5, vec![inner])
        };
        const LEAF: &str = "async shop::leaf at src/main.rs:3 (tokio::time::sleep::Sleep)";
        for (awaits, shown) in [
            (leaf(), LEAF.to_owned()),
            // The internals of a dependency are left out, unless they lead to the program's own
            // code.
            (lock(), "async tokio::sync::mutex::Mutex<T>::lock".to_owned()),
            (
                future("tokio::time::timeout::Timeout<T>", vec![leaf()]),
                format!("tokio::time::timeout::Timeout<T> ({LEAF})"),
            ),
            (
                function("hyper::conn::run", HYPER, 7, vec![future("hyper::Io", vec![lock()])]),
                format!("async hyper::conn::run at {HYPER}:7"),
            ),
            (
                future(
                    "core::pin::Boxed<T>",
                    vec![future("tokio_statemap::Probe<T>", vec![leaf()])],
                ),
                LEAF.to_owned(),
            ),
            (
                function("shop::a", "src/main.rs", 1, vec![future("shop::Cart", vec![leaf()])]),
                format!("async shop::a at src/main.rs:1 (shop::Cart ({LEAF}))"),
            ),
            // All branches of a macro are kept, and each distinct one of a dependency once.
            (
                future("tokio::join!", vec![leaf(), leaf(), sleep()]),
                format!("tokio::join! ({LEAF}, {LEAF}, tokio::time::sleep::Sleep)"),
            ),
            (
                future("futures_util::JoinAll<F>", vec![leaf(), leaf()]),
                format!("futures_util::JoinAll<F> ({LEAF})"),
            ),
            (future("dyn Future<Output=()>", Vec::new()), "dyn Future<Output=()>".to_owned()),
        ] {
            assert_eq!(show(&wait_from_memory(&awaits).frames), shown);
        }
    }
}
