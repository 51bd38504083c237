//! A function that a thread is in.

use std::fmt;
use std::sync::Arc;

/// A function that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StackFrame {
    /// The function as a person would write it: `shop::render_invoice`, `async shop::handle`. If its name isn't known,
    /// the address and the build id of its file.
    pub function: Arc<str>,
    /// The source file; `None` in a build without line tables.
    pub file: Option<Arc<str>>,
    /// The line, from 1 on.
    pub line: Option<u32>,
    /// The owner of the function.
    pub origin: FrameOrigin,
}

/// The owner of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameOrigin {
    /// The program.
    Program,
    /// A crate that the program depends on.
    Dependency,
    /// Rust's standard library.
    Std,
    /// Tokio, or this crate.
    Runtime,
    /// The system: the C library and the like.
    System,
}

/// The word before the path of an async function, block, or closure.
pub(super) const ASYNC: &str = "async ";

/// Returns a function's name without the word that it is async.
pub(crate) fn without_async(function: &str) -> &str {
    function.trim_start_matches(ASYNC)
}

impl StackFrame {
    /// Returns whether it is an async function whose name is known.
    pub(crate) fn is_async(&self) -> bool {
        self.function.starts_with(ASYNC)
    }

    /// Returns whether it is an async function without a name, such as `an async fn`. Only its place is known then. Inlined functions
    /// have no name in builds without full debug information.
    pub(crate) fn is_nameless_async(&self) -> bool {
        self.function.starts_with("an async ")
    }

    /// Returns the function's name without its path: `render_invoice`, `async handle`. Paths within brackets
    /// stay.
    pub(crate) fn short(&self) -> String {
        let (kind, name) = match self.function.strip_prefix(ASYNC) {
            Some(name) => (ASYNC, name),
            None => ("", &*self.function),
        };
        let (mut from, mut depth) = (0, 0_usize);
        for (at, c) in name.char_indices() {
            match c {
                '<' | '(' | '{' | '[' => depth += 1,
                '>' if name[..at].ends_with('-') => {}
                '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
                ':' if depth == 0 && name[at..].starts_with("::") => from = at + 2,
                _ => {}
            }
        }
        format!("{kind}{}", &name[from..])
    }
}

/// `shop::render_invoice at src/shop.rs:21`
impl fmt::Display for StackFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, " at {file}:{line}"),
            (Some(file), None) => write!(f, " at {file}"),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_is_the_functions_own() {
        for (name, short) in [
            ("render", "render"),
            ("shop::render_invoice", "render_invoice"),
            ("async shop::handle", "async handle"),
            ("<a::B as c::D>::e", "e"),
            ("a::b<c::D>", "b<c::D>"),
            ("a::{closure#0}", "{closure#0}"),
            ("f::g<fn() -> x::Y>", "g<fn() -> x::Y>"),
            ("\u{e9}::", ""),
        ] {
            let (function, origin) = (name.into(), FrameOrigin::Program);
            let frame = StackFrame { function, file: None, line: None, origin };
            assert_eq!(frame.short(), short, "{name}");
        }
    }
}
