//! Closures, and the bodies of `async` functions and blocks, which are closures to the compiler.

use super::brackets::{split_last, start_of};

/// A body without a name of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A closure.
    Closure,
    /// An `async fn`, block or closure.
    Async,
}

/// Returns the kind of the body that the compiler calls `name`, or `None` for a function.
pub(crate) fn body(name: &str) -> Option<Body> {
    let rest = name.strip_prefix('{')?;
    let is_async =
        ["async_fn#", "async_block#", "async_closure#"].iter().any(|k| rest.starts_with(k));
    match is_async {
        true => Some(Body::Async),
        false => rest.starts_with("closure").then_some(Body::Closure),
    }
}

/// Returns the name of the function that contains a chain of closures. An `impl` without a name is marked `{impl}`.
pub(super) fn without_closures(name: &str) -> String {
    let mut name = name;
    while let Some((before, last)) = split_last(name) {
        if !last.starts_with('{') || before.is_empty() {
            break;
        }
        name = before;
    }
    // `shop::{impl#3}::cents`
    let mut parts = name.split("{impl#");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((_, rest)) => text.extend(["{impl}", rest]),
            None => text += part,
        }
    }
    text
}

/// Returns the path of the body `name` by the name of its caller, which is generic over it. For `{async_fn#0}` in
/// `poll<shop::handle::{async_fn_env#0}, …>` it is `shop::handle`. Returns `None` if there is no such type, or several.
pub(crate) fn defined_in<'a>(name: &str, caller: &'a str) -> Option<&'a str> {
    let kind = name.find('#').filter(|_| name.starts_with('{'))?;
    let of_type = format!("::{}_env{}", &name[..kind], &name[kind..]);
    let mut found = None;
    for (at, _) in caller.match_indices(&of_type) {
        let after = caller[at + of_type.len()..].chars().next();
        if !matches!(after, None | Some(',' | '>' | ')' | ']')) {
            continue; // that of other types
        }
        let path = &caller[start_of(caller, at)..at];
        if found.replace(path).is_some_and(|other| other != path) {
            return None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_told_from_functions() {
        for name in ["{async_fn#0}", "{async_block#3}<T>", "{async_closure#1}"] {
            assert_eq!(body(name), Some(Body::Async), "{name}");
        }
        assert_eq!(body("{closure#0}<u8>"), Some(Body::Closure));
        assert_eq!(body("{{closure}}"), None);
        assert_eq!(body("async_fn"), None);
    }

    #[test]
    fn a_body_has_the_path_that_its_caller_is_generic_over() {
        let caller =
            "poll<shop::work::handle::{async_fn_env#0}, alloc::sync::Arc<tokio::Handle, A>>";
        assert_eq!(defined_in("{async_fn#0}", caller), Some("shop::work::handle"));
        for other in
            ["{async_fn#1}", "{async_block#0}", "{closure#0}", "{async_fn#0}<u8>", "handle"]
        {
            assert_eq!(defined_in(other, caller), None, "{other}");
        }
        let two = "join<shop::a::{async_fn_env#0}, shop::b::{async_fn_env#0}>";
        assert_eq!(defined_in("{async_fn#0}", two), None);
        let same =
            "call_once<shop::a<u8>::{closure_env#2}<u8>, (), shop::a<u8>::{closure_env#2}<u8>>";
        assert_eq!(defined_in("{closure#2}<u8>", same), Some("shop::a<u8>"));
    }

    #[test]
    fn closures_and_impls_are_left_out() {
        for (path, without) in [
            ("shop::handle::{async_fn#0}::{closure#1}", "shop::handle"),
            ("shop::{impl#3}::cents::{closure#1}<u8>", "shop::{impl}::cents"),
            ("{closure#0}", "{closure#0}"),
        ] {
            assert_eq!(without_closures(path), without);
        }
    }
}
