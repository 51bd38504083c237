//! A function that a thread is in.

use std::fmt;
use std::sync::Arc;

/// A function that a thread is in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFrame {
    /// The function as a person would write it: `shop::render_invoice`, `async shop::handle`. Its
    /// address and the build id of its file, if nothing else is known of it.
    pub function: Arc<str>,
    /// The source file; `None` in a build without line tables.
    pub file: Option<Arc<str>>,
    /// The line, from 1 on.
    pub line: Option<u32>,
    /// Whose function it is.
    pub origin: FrameOrigin,
}

/// Whose a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameOrigin {
    /// The program's own.
    Program,
    /// That of a crate that the program depends on.
    Dependency,
    /// Rust's standard library's.
    Std,
    /// Tokio's, or this crate's.
    Runtime,
    /// The system's: the C library's, and the like.
    System,
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
