//! Names of functions, as a person would write them.

mod brackets;
mod closure;
mod generics;

pub(super) use brackets::split_last;
pub(in crate::symbols) use closure::Body;
pub(super) use closure::{body, defined_in};

use crate::symbols::frame::ASYNC;

/// Returns `true` if `name` is a symbol, which includes the path of the function, rather than the function's own name.
pub(super) fn is_mangled(name: &str) -> bool {
    rustc_demangle::try_demangle(name).is_ok()
}

/// Returns the path of a symbol, with closures and without hash: `shop::handle::{{closure}}`.
pub(in crate::symbols) fn demangle(symbol: &str) -> String {
    // The linker adds this suffix to make names unique.
    let symbol = symbol.split_once(".llvm.").map_or(symbol, |(symbol, _)| symbol);
    format!("{:#}", rustc_demangle::demangle(symbol))
}

/// Returns the path or name of a function without closures and without parts that only the compiler writes:
/// `shop::render_invoice`, `async shop::handle`, `<shop::Cart as core::fmt::Display>::fmt`.
pub(in crate::symbols) fn readable(path: &str, body: Option<Body>) -> String {
    let name = generics::shortened(&without_impl(&closure::without_closures(path)));
    match body {
        Some(Body::Async) => format!("{ASYNC}{name}"),
        _ => name,
    }
}

/// Private modules of the standard library whose public path differs.
const PRIVATE: [(&str, &str); 3] = [
    ("std::thread::functions::", "std::thread::"),
    ("std::thread::join_handle::", "std::thread::"),
    ("std::sync::poison::", "std::sync::"),
];

/// Rewrites `core::num::<impl u64>::pow` and `<u64>::pow` as `u64::pow`, and `a::<impl T for U>::f` as `<U as
/// T>::f`: the place of an `impl` doesn't help readers.
fn without_impl(path: &str) -> String {
    let mut path = path.replace("{impl}::", "");
    for (private, public) in PRIVATE {
        path = path.replace(private, public);
    }
    let whole = match path.find("::<impl ") {
        Some(at) if !path[..at].contains('<') => {
            let inner = &path[at + "::<impl ".len()..];
            let Some(end) = brackets::end_of(inner) else { return path };
            let (of, rest) = (&inner[..end], &inner[end + 1..]);
            match brackets::split_at_word(of, " for ") {
                Some((of_trait, of_type)) => format!("<{of_type} as {of_trait}>{rest}"),
                None => format!("<{of}>{rest}"),
            }
        }
        _ => path,
    };
    let Some(inner) = whole.strip_prefix('<') else { return whole };
    let Some(end) = brackets::end_of(inner) else { return whole };
    let (of, rest) = (&inner[..end], &inner[end + 1..]);
    let is_path = of.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && !of.starts_with("dyn ")
        && brackets::split_at_word(of, " ").is_none();
    if is_path { format!("{of}{rest}") } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_a_person_would_write_them() {
        for (symbol, name) in [
            ("_ZN4shop14render_invoice17h8be724e5e68d5455E", "shop::render_invoice"),
            (
                "_ZN4shop6handle28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$17h8e0f1c46591acb31E",
                "shop::handle",
            ),
            ("_ZN4shop4work17h8be724e5e68d5455E.llvm.8964743017180102651", "shop::work"),
            ("_ZN4core3num21_$LT$impl$u20$u64$GT$3pow17h8be724e5e68d5455E", "u64::pow"),
            (
                "_ZN49_$LT$shop..Cart$u20$as$u20$core..fmt..Display$GT$3fmt17h8be724e5e68d5455E",
                "<shop::Cart as core::fmt::Display>::fmt",
            ),
            (
                "_ZN4core3ptr31drop_in_place$LT$shop..Cart$GT$17h8be724e5e68d5455E",
                "core::ptr::drop_in_place<shop::Cart>",
            ),
            ("_RNvNtCsgStFX1CLNZX_4shop4work3nap", "shop::work::nap"),
            ("_RNCNvCsgStFX1CLNZX_4shop6handle0B3_", "shop::handle"),
            ("_RNvCsgStFX1CLNZX_7___rustc12___rust_alloc", "__rustc::__rust_alloc"),
            (
                "_RINvNtCs4fqI2P2rA04_4core3ptr13drop_in_placeNtCsgStFX1CLNZX_4shop4CartE",
                "core::ptr::drop_in_place<shop::Cart>",
            ),
            ("render<{closure#0}>", "render<…>"),
            ("{closure#0}", "{closure#0}"),
            (
                "<shop::Cart as core::fmt::Display>::fmt::{{closure}}",
                "<shop::Cart as core::fmt::Display>::fmt",
            ),
            (
                "core::iter::range::<impl core::iter::traits::iterator::Iterator for core::ops::range::Range<A>>::next",
                "<core::ops::range::Range<A> as core::iter::traits::iterator::Iterator>::next",
            ),
            ("alloc::slice::<impl [T]>::sort_by", "<[T]>::sort_by"),
            ("<std::sys::fd::unix::FileDesc>::read", "std::sys::fd::unix::FileDesc::read"),
            ("<alloc::vec::Vec<u8>>::push", "alloc::vec::Vec<u8>::push"),
            ("<dyn shop::Price>::cents", "<dyn shop::Price>::cents"),
            ("<F as shop::Handler<fn() -> R>>::call", "<F as shop::Handler<fn() -> R>>::call"),
            ("shop::{impl#3}::cents", "shop::cents"),
            ("nanosleep", "nanosleep"),
            ("", ""),
        ] {
            assert_eq!(readable(&demangle(symbol), None), name);
        }
        let body = "_ZN4shop6handle28_$u7b$$u7b$closure$u7d$$u7d$17h8e0f1c46591acb31E";
        assert_eq!(readable(&demangle(body), Some(Body::Async)), "async shop::handle");
        assert!(is_mangled(body) && !is_mangled("nap") && !is_mangled("{async_fn#0}"));
    }
}
