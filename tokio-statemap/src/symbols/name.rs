//! Names of functions, as a person would write them.

/// Whether the compiler's name of a function is that of the body of an `async fn` or block.
pub(super) fn is_async(name: &str) -> bool {
    name.starts_with("{async_fn#") || name.starts_with("{async_block#")
}

/// A function's name without hash and closures: `shop::render_invoice`, `async shop::handle`.
pub(super) fn demangle(symbol: &str, is_async: bool) -> String {
    // What the linker adds to make names differ.
    let symbol = symbol.split(".llvm.").next().unwrap_or(symbol);
    let demangled = format!("{:#}", rustc_demangle::demangle(symbol));
    let name = without_closures(&demangled);
    match is_async {
        true => format!("async {name}"),
        false => name.to_owned(),
    }
}

/// The name of the function that a chain of closures is in.
fn without_closures(name: &str) -> &str {
    let mut name = name;
    while let Some((before, last)) = split_last(name) {
        let is_closure = last.starts_with('{');
        if !is_closure || before.is_empty() {
            break;
        }
        name = before;
    }
    name
}

/// Splits at the last `::` that is in no brackets.
fn split_last(name: &str) -> Option<(&str, &str)> {
    let mut depth = 0_i32;
    let bytes = name.as_bytes();
    for i in (1..bytes.len()).rev() {
        match bytes[i] {
            b'>' if bytes[i - 1] != b'-' => depth += 1,
            b'<' => depth -= 1,
            b':' if depth == 0 && bytes[i - 1] == b':' => {
                return Some((&name[..i - 1], &name[i + 1..]));
            }
            _ => {}
        }
    }
    None
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
            ("render<{closure#0}>", "render<{closure#0}>"),
            ("{closure#0}", "{closure#0}"),
            (
                "<shop::Cart as core::fmt::Display>::fmt::{{closure}}",
                "<shop::Cart as core::fmt::Display>::fmt",
            ),
            ("nanosleep", "nanosleep"),
            ("", ""),
        ] {
            assert_eq!(demangle(symbol, false), name);
        }
        assert_eq!(
            demangle("_ZN4shop6handle28_$u7b$$u7b$closure$u7d$$u7d$17h8e0f1c46591acb31E", true),
            "async shop::handle"
        );
        assert!(
            is_async("{async_fn#0}") && is_async("{async_block#3}") && !is_async("{closure#0}")
        );
    }
}
