//! Cuts the stack of a sample at the poll of its task.

use crate::symbols::{FrameOrigin, StackFrame};

/// Removes the functions outside of the task. Returns `true` if the poll of the task was found.
pub(super) fn up_to_task(frames: &mut Vec<StackFrame>) -> bool {
    let end = frames.iter().position(polls_task);
    match end {
        Some(end) => frames.truncate(end),
        None => leave_out_main(frames),
    }
    end.is_some()
}

/// Returns `true` for the functions of the runtime that poll a task or a root future; all callers
/// of these belong to the runtime. Other functions of the same modules spawn and join, and are
/// called by tasks.
pub(super) fn polls_task(frame: &StackFrame) -> bool {
    const MODULES: [&str; 4] = [
        "tokio::runtime::task::core::",
        "tokio::runtime::task::harness::",
        "tokio::runtime::task::raw::",
        "::recorder::root_future::",
    ];
    const FILES: [&str; 4] = [
        "/runtime/task/core.rs",
        "/runtime/task/harness.rs",
        "/runtime/task/raw.rs",
        "/recorder/root_future.rs",
    ];
    let polls = |name: &str| matches!(name, "poll" | "poll_inner" | "poll_future");
    let is_of_module = || MODULES.iter().any(|module| frame.function.contains(module));
    let is_of_file = |file: &str| FILES.iter().any(|of| file.ends_with(of));
    frame.origin == FrameOrigin::Runtime
        && polls(last_part(&frame.function))
        && (is_of_module() || frame.file.as_deref().is_some_and(is_of_file))
}

/// Returns a function's name without its path and types: `poll` for `tokio::Core<T>::poll<U>`.
fn last_part(function: &str) -> &str {
    let mut name = function;
    // Skips a list of types at the end.
    let mut depth = 0_u32;
    if name.ends_with('>') {
        for at in (0..name.len()).rev() {
            match name.as_bytes()[at] {
                b'>' if at == 0 || name.as_bytes()[at - 1] != b'-' => depth += 1,
                b'<' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                name = &name[..at];
                break;
            }
        }
    }
    name.rsplit_once("::").map_or(name, |(_, name)| name)
}

/// Removes the `fn main` that blocks on the root future and its callers, unless the program has no
/// other function in the stack. It is not a part of a task, and the end of the task's own part
/// isn't always known.
fn leave_out_main(frames: &mut Vec<StackFrame>) {
    let is_main = |frame: &StackFrame| {
        let of = frame.function.split_once("::");
        frame.origin == FrameOrigin::Program
            && of.is_some_and(|(of, name)| name == "main" && !of.contains(' '))
    };
    let is_theirs =
        |frame: &StackFrame| matches!(frame.origin, FrameOrigin::Program | FrameOrigin::Dependency);
    let Some(main) = frames.iter().rposition(is_main) else { return };
    if frames[..main].iter().any(is_theirs) {
        frames.truncate(main);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: Option<&str>, origin: FrameOrigin) -> StackFrame {
        StackFrame { function: function.into(), file: file.map(Into::into), line: None, origin }
    }

    #[test]
    fn the_poll_of_a_task_is_told_from_what_a_task_calls() {
        const CORE: &str = "/index/tokio-1.54.1/src/runtime/task/core.rs";
        for (function, file, polls) in [
            ("tokio::runtime::task::core::Core<T,S>::poll", None, true),
            ("tokio::runtime::task::core::poll", Some(CORE), true),
            ("poll<async shop::handle>", Some(CORE), true),
            ("poll<fn() -> u8>", Some(CORE), true),
            ("tokio::runtime::task::raw::poll", None, true),
            ("tokio::runtime::task::harness::Harness<T, S>::poll", None, true),
            (
                "<tokio_statemap::recorder::root_future::Root<F> as core::future::Future>::poll",
                None,
                true,
            ),
            ("new<async shop::handle>", Some(CORE), false),
            ("tokio::runtime::task::core::Cell<T, S>::new", None, false),
            ("<tokio::runtime::task::join::JoinHandle<T> as Future>::poll", None, false),
            ("tokio::runtime::task::list::OwnedTasks<S>::bind", None, false),
        ] {
            let frame = frame(function, file, FrameOrigin::Runtime);
            assert_eq!(polls_task(&frame), polls, "{function}");
        }
        let of_program = frame("poll", Some("src/runtime/task/core.rs"), FrameOrigin::Program);
        assert!(!polls_task(&of_program));
    }

    #[test]
    fn main_is_left_out_if_there_is_something_better() {
        let get = || frame("reqwest::get", None, FrameOrigin::Dependency);
        let main = || frame("shop::main", None, FrameOrigin::Program);
        let body = || frame("async shop::main", None, FrameOrigin::Program);
        let start = || frame("std::rt::lang_start", None, FrameOrigin::Std);
        for (all, left) in [
            (vec![get(), main(), start()], vec![get()]),
            (vec![get(), body(), main(), start()], vec![get(), body()]),
            (vec![main(), start()], vec![main(), start()]),
            (vec![get(), start()], vec![get(), start()]),
        ] {
            let mut frames = all;
            leave_out_main(&mut frames);
            assert_eq!(frames, left);
        }
    }
}
