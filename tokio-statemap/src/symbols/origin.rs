//! Whose function it is: the program's, a dependency's, the standard library's, the runtime's.

use super::FrameOrigin;

impl FrameOrigin {
    /// The origin of a function by its source file, or else by its name.
    pub(super) fn of(file: Option<&str>, function: Option<&str>, is_program: bool) -> Self {
        let crate_name = function.map(crate_of).unwrap_or_default();
        match (crate_name, file) {
            ("tokio" | "tokio_statemap", _) => Self::Runtime,
            (_, Some(file)) => Self::of_file(file),
            ("std" | "core" | "alloc" | "__rustc" | "std_detect", None) => Self::Std,
            (_, None) if is_program && function.is_some_and(|name| name.contains("::")) => {
                Self::Program
            }
            (_, None) => Self::System,
        }
    }

    fn of_file(file: &str) -> Self {
        let parts: Vec<_> = file.split('/').collect();
        let after =
            |name: &str| parts.iter().position(|part| *part == name).map(|at| &parts[at + 1..]);
        if after("rustc").is_some_and(|rest| rest.get(1) == Some(&"library"))
            || file.contains("/rustlib/src/rust/library/")
        {
            return Self::Std;
        }
        let package = after("registry")
            .filter(|rest| rest.first() == Some(&"src"))
            .and_then(|rest| rest.get(2))
            .or_else(|| after("git").filter(|rest| rest.first() == Some(&"checkouts"))?.get(1));
        match package {
            None if file.contains("tokio-statemap/src/") => Self::Runtime,
            None => Self::Program,
            Some(package) if is_version_of(package, "tokio") => Self::Runtime,
            Some(package) if is_version_of(package, "tokio-statemap") => Self::Runtime,
            Some(_) => Self::Dependency,
        }
    }
}

/// Whether `package`, such as `tokio-1.54.1`, is a version of `name`.
fn is_version_of(package: &str, name: &str) -> bool {
    let version = package.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// The crate that a function's name begins with.
fn crate_of(function: &str) -> &str {
    let name = function.trim_start_matches("async ").trim_start_matches(['<', '&']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    // A name by itself is that of a function.
    if name[end..].starts_with("::") { &name[..end] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_whose_it_is() {
        const HASH: &str = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        for (file, origin) in [
            ("src/shop.rs", FrameOrigin::Program),
            ("/home/me/shop/src/main.rs", FrameOrigin::Program),
            (
                "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/reqwest-0.12.9/src/blocking/client.rs",
                FrameOrigin::Dependency,
            ),
            (
                "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tokio-1.54.1/src/task/spawn.rs",
                FrameOrigin::Runtime,
            ),
            (
                "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/tokio-util-0.7.1/src/lib.rs",
                FrameOrigin::Dependency,
            ),
            (
                "/home/me/.cargo/git/checkouts/mini-redis-0c9c8b0f7d7d0c1d/ab12cd3/src/db.rs",
                FrameOrigin::Dependency,
            ),
            (&format!("/rustc/{HASH}/library/std/src/thread/mod.rs"), FrameOrigin::Std),
            (
                "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ops.rs",
                FrameOrigin::Std,
            ),
        ] {
            assert_eq!(FrameOrigin::of(Some(file), None, true), origin, "{file}");
        }
    }

    #[test]
    fn without_a_file_its_name_does() {
        for (name, origin) in [
            ("std::thread::sleep", FrameOrigin::Std),
            ("<core::option::Option<T> as core::fmt::Debug>::fmt", FrameOrigin::Std),
            ("tokio::runtime::task::core::poll", FrameOrigin::Runtime),
            ("async shop::handle", FrameOrigin::Program),
            ("nanosleep", FrameOrigin::System),
        ] {
            assert_eq!(FrameOrigin::of(None, Some(name), true), origin, "{name}");
        }
        assert_eq!(FrameOrigin::of(None, None, true), FrameOrigin::System);
        assert_eq!(FrameOrigin::of(None, Some("ns::f"), false), FrameOrigin::System);
    }
}
