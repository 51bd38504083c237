//! Types in names, which may be longer than a page.

use super::brackets::{end_of, split_last};
use crate::symbols::frame::ASYNC;

/// The longest list of types that is shown.
const MAX_CHARS: usize = 60;

/// The depth to which types are read, as the symbols of a file may have any depth.
const MAX_DEPTH: u32 = 64;

/// Replaces types by `<…>` if they are too long or too deep, or have parts that the compiler made up.
pub(super) fn shortened(name: &str) -> String {
    shortened_to(name, MAX_DEPTH)
}

fn shortened_to(name: &str, depth: u32) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('<') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let Some(end) = end_of(after) else { break };
        // `drop_in_place::<T>` is only written like this in expressions.
        text += before.strip_suffix("::").unwrap_or(before);
        let inner = &after[..end];
        // The brackets of `<T as Trait>::f` are no list.
        let is_list = text.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        text += &match depth.checked_sub(1) {
            Some(depth) if is_list => format!("<{}>", types(inner, depth)),
            Some(depth) => format!("<{}>", shortened_to(inner, depth)),
            None => "<…>".to_owned(),
        };
        rest = &after[end + 1..];
    }
    text + rest
}

/// Shortens the list of types between brackets.
fn types(list: &str, depth: u32) -> String {
    let text = match body(list) {
        Some(of_body) => of_body,
        None => shortened_to(list, depth),
    };
    let is_shown = !text.contains('{') && text.chars().count() <= MAX_CHARS;
    if is_shown { text } else { "…".to_owned() }
}

/// Returns the type of a body, if the list has nothing else: `async shop::handle`, `closure of shop::sum`.
fn body(list: &str) -> Option<String> {
    let (path, last) = split_last(list).filter(|_| !list.contains(','))?;
    let path = super::closure::without_closures(path);
    match last {
        _ if last.starts_with("{async_") => Some(format!("{ASYNC}{path}")),
        _ if last.starts_with("{closure") => Some(format!("closure of {path}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These are on the stack of any thread.
    #[test]
    #[ignore = "slow"]
    fn types_may_be_of_any_depth() {
        let nested = |open: &str, depth: usize| open.repeat(depth) + &">".repeat(depth);
        assert_eq!(shortened("<<<T>>>::f"), "<<<T>>>::f");
        for open in ["a<", "<", "a::<", "{closure#0}<"] {
            let text = shortened(&nested(open, 30_000));
            assert!(text.contains("<…>") && text.len() < 1_000, "{open}");
            let unmatched = open.repeat(30_000);
            assert!(shortened(&unmatched) == unmatched, "{open}");
        }
    }

    #[test]
    fn types_are_shown_if_a_person_wrote_them() {
        for (name, short) in [
            ("sum<shop::Book>", "sum<shop::Book>"),
            ("core::ptr::drop_in_place::<shop::Cart>", "core::ptr::drop_in_place<shop::Cart>"),
            ("drop_in_place<shop::handle::{async_fn_env#0}>", "drop_in_place<async shop::handle>"),
            (
                "apply<shop::handle::{async_fn#0}::{closure_env#0}>",
                "apply<closure of shop::handle>",
            ),
            ("map<u8, shop::{impl#3}::a::{closure_env#0}>", "map<…>"),
            (
                "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
                "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
            ),
            ("call<fn(u8) -> u8>", "call<fn(u8) -> u8>"),
            ("a < b", "a < b"),
        ] {
            assert_eq!(shortened(name), short);
        }
        assert_eq!(shortened(&format!("a<{}>::b", "long::".repeat(20))), "a<…>::b");
    }
}
