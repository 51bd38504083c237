//! Names of coroutines and types, as a person would write them.

use std::fmt;

use super::object_file::{demangle, readable};

/// The longest part of a name that is read, in bytes: names of types may have any length.
const MAX_BYTES: usize = 1 << 16;

/// The kind of a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// An `async fn`.
    Fn,
    /// An `async` block.
    Block,
    /// An `async` closure.
    Closure,
}

impl Kind {
    /// Returns the kind by the compiler's name for the coroutine.
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            _ if name.starts_with("{async_block") => Self::Block,
            _ if name.starts_with("{async_closure") => Self::Closure,
            _ => Self::Fn,
        }
    }
}

/// Formats the words that stand before the path.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fn => "async fn",
            Self::Block => "async block in",
            Self::Closure => "async closure in",
        })
    }
}

/// Returns the path of a namespace, from its symbol if it has one.
pub(super) fn of_scope(path: &str, symbol: Option<&str>) -> String {
    match symbol {
        Some(symbol) => readable(&demangle(cut(symbol)), None),
        None => readable(cut(path), None),
    }
}

/// Returns the path of a type.
pub(super) fn of_type(path: &str, name: &str) -> String {
    match path {
        "" => readable(cut(name), None),
        _ => readable(&format!("{path}::{}", cut(name)), None),
    }
}

/// Returns the trait object in the name of a pointer to one, without paths: `dyn Future<Output=()> + Send`.
pub(super) fn of_dyn(name: &str) -> String {
    let name = cut(name);
    let Some(at) = name.find("dyn ") else { return readable(name, None) };
    let mut depth = 0_u32;
    let mut end = name.len();
    let mut before = ' ';
    for (i, c) in name[at..].char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' if depth == 0 => {
                end = at + i;
                break;
            }
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                end = at + i;
                break;
            }
            _ => {}
        }
        before = c;
    }
    without_paths(&name[at..end])
}

/// Returns `Future<Output=()>` for `core::future::future::Future<Output=()>`.
fn without_paths(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut word_from = 0;
    for c in text.chars() {
        match c {
            ':' => short.truncate(word_from),
            _ => short.push(c),
        }
        if !c.is_alphanumeric() && c != '_' && c != ':' {
            word_from = short.len();
        }
    }
    short
}

fn cut(name: &str) -> &str {
    let mut end = name.len().min(MAX_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_object_is_named_without_its_pointer() {
        const FUTURE: &str = "dyn core::future::future::Future<Output=()>";
        for (name, short) in [
            (
                format!("alloc::boxed::Box<({FUTURE} + core::marker::Send), alloc::alloc::Global>"),
                "dyn Future<Output=()> + Send",
            ),
            (format!("alloc::boxed::Box<{FUTURE}, alloc::alloc::Global>"), "dyn Future<Output=()>"),
            (format!("&mut {FUTURE}"), "dyn Future<Output=()>"),
            ("&mut dyn".to_owned(), "&mut dyn"),
            ("&dyn core::ops::Fn(u8) -> u8".to_owned(), "dyn Fn(u8) -> u8"),
            ("dyn >>>".to_owned(), "dyn "),
        ] {
            assert_eq!(of_dyn(&name), short, "{name}");
        }
    }

    #[test]
    fn names_may_be_of_any_length() {
        let name = "ä".repeat(MAX_BYTES);
        assert_eq!(cut(&name).len(), MAX_BYTES);
        assert_eq!(cut(&format!("a{name}")).len(), MAX_BYTES - 1);
        assert!(of_dyn(&"dyn <".repeat(MAX_BYTES)).len() <= MAX_BYTES);
    }
}
