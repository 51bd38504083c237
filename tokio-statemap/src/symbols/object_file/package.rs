//! Whose source a file is, by its path.

use crate::symbols::FrameOrigin;
use crate::util::source_path::{after, is_version};

/// Whose source `file` is. What nothing speaks against is the program's: its packages, those of its
/// workspace, and what its build scripts wrote.
pub(crate) fn package(file: &str) -> FrameOrigin {
    let parts: Vec<_> = file.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    if is_std(&parts) {
        return FrameOrigin::Std;
    }
    match dependency(&parts) {
        Some("tokio" | "tokio-statemap") => FrameOrigin::Runtime,
        Some(_) => FrameOrigin::Dependency,
        // This crate, as a dependency by its path.
        None if after(&parts, &["tokio-statemap", "src"]).is_some() => FrameOrigin::Runtime,
        None if is_c_library(&parts) => FrameOrigin::System,
        None => FrameOrigin::Program,
    }
}

fn is_std(parts: &[&str]) -> bool {
    // As it is distributed; its own dependencies; where `rust-src` is installed.
    let is_remapped = after(parts, &["rustc"]).is_some_and(|rest| rest.get(1) == Some(&"library"));
    // As distributions of Linux build it: `/usr/src/rustc-1.85.0/library`.
    let is_versioned = |part: &&str| part.strip_prefix("rustc-").is_some_and(is_version);
    let is_built = parts.iter().position(is_versioned).and_then(|at| parts.get(at + 1));
    is_remapped
        || after(parts, &["rust", "deps"]).is_some()
        || after(parts, &["rustlib", "src", "rust"]).is_some()
        || matches!(is_built, Some(&("library" | "vendor")))
}

/// Whether it is of the C library that is linked into the program: that of Rust's musl targets is.
fn is_c_library(parts: &[&str]) -> bool {
    let is_c = parts
        .last()
        .is_some_and(|file| [".c", ".h", ".s", ".S"].iter().any(|end| file.ends_with(end)));
    let of = |part: &&str| ["musl", "src_musl", "glibc"].iter().any(|name| part.starts_with(name));
    is_c && parts.iter().any(of)
}

/// The name of the package of a registry, of git, or of `cargo vendor`, that a file is of.
fn dependency<'a>(parts: &[&'a str]) -> Option<&'a str> {
    if let Some([_, package, _, ..]) = after(parts, &["registry", "src"]) {
        return Some(without_version(package));
    }
    // Parts of the path may be left out by `--remap-path-prefix`.
    let of_index = parts.iter().position(|part| part.starts_with("index.crates.io-"));
    if let Some([package, _, ..]) = of_index.map(|at| &parts[at + 1..]) {
        return Some(without_version(package));
    }
    if let Some([repository, _, rest @ ..]) = after(parts, &["git", "checkouts"]) {
        // One of several packages is in a folder of its own.
        let before_src =
            rest.iter().position(|part| *part == "src").and_then(|at| at.checked_sub(1));
        let of_repository = repository.rsplit_once('-').map_or(*repository, |(name, _)| name);
        return Some(before_src.map_or(of_repository, |at| rest[at]));
    }
    if let Some([package, "src", _, ..]) = after(parts, &["vendor"]) {
        return Some(without_version(package));
    }
    // All of the path but the package is left out.
    let [package, "src", _, ..] = parts else { return None };
    let name = without_version(package);
    (name != *package).then_some(name)
}

/// `tokio` of `tokio-1.54.1`.
fn without_version(package: &str) -> &str {
    let mut dashes = package.match_indices('-');
    dashes.find(|(at, _)| is_version(&package[at + 1..])).map_or(package, |(at, _)| &package[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_says_whose_it_is() {
        const REGISTRY: &str = "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
        const HASH: &str = "59807616e1fa2540724bfbac14d7976d7e4a3860";
        for (file, origin) in [
            ("src/shop.rs", FrameOrigin::Program),
            ("/home/me/shop/src/main.rs", FrameOrigin::Program),
            ("/home/git/rustc/shop/src/main.rs", FrameOrigin::Program),
            ("/build/shop-1.2.3/src/main.rs", FrameOrigin::Program),
            ("/home/me/shop/crates/tokio-util-shop/src/lib.rs", FrameOrigin::Program),
            ("/home/me/shop/target/debug/build/shop-0a1b2c/out/api.rs", FrameOrigin::Program),
            (&format!("{REGISTRY}/reqwest-0.12.9/src/blocking/client.rs"), FrameOrigin::Dependency),
            (&format!("{REGISTRY}/tokio-1.54.1/src/task/spawn.rs"), FrameOrigin::Runtime),
            (&format!("{REGISTRY}/tokio-statemap-0.1.0/src/lib.rs"), FrameOrigin::Runtime),
            (&format!("{REGISTRY}/tokio-util-0.7.1/src/lib.rs"), FrameOrigin::Dependency),
            (&format!("{REGISTRY}/mio-1.0.4/src/poll.rs"), FrameOrigin::Dependency),
            (
                "/cargo/registry/src/github.com-1ecc6299db9ec823/tower-0.5.2/src/a.rs",
                FrameOrigin::Dependency,
            ),
            ("/index.crates.io-1949cf8c6b5b557f/axum-0.8.1/src/a.rs", FrameOrigin::Dependency),
            ("axum-0.8.1/src/a.rs", FrameOrigin::Dependency),
            ("tokio-1.54.1/src/task/spawn.rs", FrameOrigin::Runtime),
            ("/home/me/shop/vendor/axum/src/a.rs", FrameOrigin::Dependency),
            ("/home/me/shop/vendor/axum-0.8.1/src/a.rs", FrameOrigin::Dependency),
            ("/home/me/shop/vendor/tokio/src/a.rs", FrameOrigin::Runtime),
            (
                "/home/me/.cargo/git/checkouts/mini-redis-0c9c8b0f7d7d0c1d/ab12cd3/src/db.rs",
                FrameOrigin::Dependency,
            ),
            (
                "/home/me/.cargo/git/checkouts/tokio-ab9c8b0f7d7d0c1d/ab12cd3/tokio/src/a.rs",
                FrameOrigin::Runtime,
            ),
            (
                "/home/me/.cargo/git/checkouts/tokio-ab9c8b0f7d7d0c1d/ab12cd3/tokio-util/src/a.rs",
                FrameOrigin::Dependency,
            ),
            (
                "/home/git/.cargo/git/checkouts/bytes-ab9c8b0f7d7d0c1d/ab12cd3/src/a.rs",
                FrameOrigin::Dependency,
            ),
            ("/work/tokio-statemap/src/recorder/events.rs", FrameOrigin::Runtime),
            (&format!("/rustc/{HASH}/library/std/src/thread/mod.rs"), FrameOrigin::Std),
            (
                "/build/musl-cross-make/build/obj_musl/../src_musl/src/time/nanosleep.c",
                FrameOrigin::System,
            ),
            ("/home/me/shop/native/fast.c", FrameOrigin::Program),
            ("/rust/deps/hashbrown-0.15.2/src/raw.rs", FrameOrigin::Std),
            ("/usr/src/rustc-1.85.0/library/core/src/ops.rs", FrameOrigin::Std),
            (
                "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ops.rs",
                FrameOrigin::Std,
            ),
        ] {
            assert_eq!(package(file), origin, "{file}");
        }
    }
}
