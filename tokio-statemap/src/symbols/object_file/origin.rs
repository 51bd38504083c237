//! Determines the owner of a function: the program, a dependency, the standard library, or the runtime.

use super::package::package;
use super::symbol_table::crate_of_symbol;
use crate::symbols::{FrameOrigin, without_async};

/// The facts about a function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known<'a> {
    /// Its source file.
    pub(super) file: Option<&'a str>,
    /// Its name without what the compiler adds, a path if one is known.
    pub(super) path: Option<&'a str>,
    /// The symbol that it is in, if it wasn't inlined there.
    pub(super) symbol: Option<&'a str>,
    /// `true` if it is in the program's own file, not in a loaded library.
    pub(super) is_program: bool,
    /// The program's crate.
    pub(super) program_crate: Option<&'a str>,
}

impl FrameOrigin {
    /// Returns the origin of a function by its source file, or by its name if the file isn't known.
    pub(super) fn from_known(known: Known<'_>) -> Self {
        let crates = match known.path {
            Some(path) => crates_of(path),
            None => [None, None],
        };
        match (crates, known.file) {
            ([Some("tokio" | "tokio_statemap"), None], _) => Self::Runtime,
            (_, Some(file)) => package(file),
            ([None, None], None) => Self::System,
            (crates, None) => {
                // The symbol has the crate of the implementation, while the name has only its type.
                let crates = match known.symbol.and_then(crate_of_symbol) {
                    Some(written_in) => [Some(written_in), None],
                    None => crates,
                };
                let mut origin = Self::System;
                for of in &crates {
                    let Some(of) = of else { continue };
                    let other = known.origin_of_crate(of);
                    if other.dependents() > origin.dependents() {
                        origin = other;
                    }
                }
                origin
            }
        }
    }

    /// Returns the rank of a crate: the greater, the more crates it may use. An `impl` is in the crate of the trait or
    /// of the type, in the one that may use the other: its rank is greater.
    fn dependents(self) -> u8 {
        match self {
            Self::System => 0,
            Self::Std => 1,
            Self::Runtime => 2,
            Self::Dependency => 3,
            Self::Program => 4,
        }
    }
}

impl Known<'_> {
    fn origin_of_crate(&self, name: &str) -> FrameOrigin {
        match (name, self.program_crate) {
            ("tokio" | "tokio_statemap", _) => FrameOrigin::Runtime,
            (
                "std" | "core" | "alloc" | "__rustc" | "std_detect" | "proc_macro" | "test"
                | "panic_unwind" | "panic_abort" | "compiler_builtins",
                _,
            ) => FrameOrigin::Std,
            _ if !self.is_program => FrameOrigin::System,
            (name, Some(own)) if name != own => FrameOrigin::Dependency,
            _ => FrameOrigin::Program,
        }
    }
}

/// Returns the crates in a function's name: the first segment, or those of both `T` and `U` in `<T as U>::f`.
fn crates_of(function: &str) -> [Option<&str>; 2] {
    let name = without_async(function);
    match name.strip_prefix('<') {
        None => [first_segment(name), None],
        Some(inner) => {
            let (of_type, of_trait) = inner.split_once(" as ").unwrap_or((inner, ""));
            [first_segment(without_pointers(of_type)), first_segment(of_trait)]
        }
    }
}

fn without_pointers(of_type: &str) -> &str {
    let mut rest = of_type;
    loop {
        let before = rest;
        rest = rest.trim_start_matches(['<', '&', '*', '(', '[', ' ']);
        for word in ["mut ", "const ", "dyn "] {
            rest = rest.strip_prefix(word).unwrap_or(rest);
        }
        if rest == before {
            return rest;
        }
    }
}

fn is_no_identifier(c: char) -> bool {
    !c.is_alphanumeric() && c != '_'
}

/// Returns the crate at the beginning of a path, or `None` for anything but a path: a function's own name, `T`, `u64`.
fn first_segment(path: &str) -> Option<&str> {
    let end = path.find(is_no_identifier)?;
    let of_primitive = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
        "f32", "f64", "bool", "char", "str",
    ]
    .contains(&&path[..end]);
    match path[end..].starts_with("::") && end > 0 {
        true if of_primitive => Some("core"),
        true => Some(&path[..end]),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_name(path: &str, program_crate: Option<&str>) -> FrameOrigin {
        let known = Known { path: Some(path), is_program: true, program_crate, ..Known::default() };
        FrameOrigin::from_known(known)
    }

    #[test]
    fn without_a_file_the_name_says_whose_it_is() {
        for (name, origin) in [
            ("std::thread::sleep", FrameOrigin::Std),
            ("<core::option::Option<T> as core::fmt::Debug>::fmt", FrameOrigin::Std),
            ("<T as core::convert::Into<U>>::into", FrameOrigin::Std),
            ("<u64 as core::iter::range::Step>::forward_unchecked", FrameOrigin::Std),
            ("u64::pow", FrameOrigin::Std),
            ("<[T] as shop::Price>::cents", FrameOrigin::Program),
            ("<&mut shop::Cart as core::fmt::Display>::fmt", FrameOrigin::Program),
            ("<alloc::vec::Vec<T> as serde::Serialize>::serialize", FrameOrigin::Dependency),
            ("<shop::Cart as serde::Serialize>::serialize", FrameOrigin::Program),
            ("<reqwest::Body as shop::Price>::cents", FrameOrigin::Program),
            ("<tokio::io::Stdin as tokio::io::AsyncRead>::poll_read", FrameOrigin::Runtime),
            ("<hyper::Io<T> as tokio::io::AsyncRead>::poll_read", FrameOrigin::Dependency),
            ("__rustc::__rust_alloc", FrameOrigin::Std),
            ("tokio::runtime::task::core::poll", FrameOrigin::Runtime),
            ("tokio_util::codec::decode", FrameOrigin::Dependency),
            ("reqwest::blocking::get", FrameOrigin::Dependency),
            ("async shop::handle", FrameOrigin::Program),
            ("nanosleep", FrameOrigin::System),
        ] {
            assert_eq!(by_name(name, Some("shop")), origin, "{name}");
        }
        assert_eq!(by_name("reqwest::blocking::get", None), FrameOrigin::Program, "who knows");
        assert_eq!(
            FrameOrigin::from_known(Known { is_program: true, ..Known::default() }),
            FrameOrigin::System
        );
        let of_library = Known { path: Some("ns::f"), ..Known::default() };
        assert_eq!(FrameOrigin::from_known(of_library), FrameOrigin::System);
    }

    #[test]
    fn a_symbol_says_where_an_implementation_was_written() {
        // The function is from a blanket implementation of `alloc`.
        let known = Known {
            path: Some("<shop::Cart as alloc::string::ToString>::to_string"),
            symbol: Some(
                "_RNvXs_NtCs4fqI2P2rA04_5alloc6stringNtCsgStFX1CLNZX_4shop4CartNtB4_8ToString9to_string",
            ),
            is_program: true,
            program_crate: Some("shop"),
            ..Known::default()
        };
        assert_eq!(FrameOrigin::from_known(known), FrameOrigin::Std);
        assert_eq!(FrameOrigin::from_known(Known { symbol: None, ..known }), FrameOrigin::Program);
    }
}
