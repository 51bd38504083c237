//! Determines the owner of a source file by its path.

use crate::symbols::FrameOrigin;
use crate::util::source_path::{Shown, after, is_version, names_of, package_part, std_part};

/// Returns the owner of a source file. A file is the program's own unless its path says otherwise: its
/// packages, those of its workspace, and files that its build scripts wrote.
pub(crate) fn package(file: &str) -> FrameOrigin {
    let parts = names_of(file);
    if std_part(&parts).is_some() {
        return FrameOrigin::Std;
    }
    match dependency(&parts) {
        Some("tokio" | "tokio-statemap") => FrameOrigin::Runtime,
        Some(_) => FrameOrigin::Dependency,
        // This crate may be a dependency given by its path.
        None if after(&parts, &["tokio-statemap", "src"]).is_some() => FrameOrigin::Runtime,
        None if is_c_library(&parts) => FrameOrigin::System,
        None => FrameOrigin::Program,
    }
}

/// Returns `true` for a file of the C library that is linked into the program, as for Rust's musl targets.
fn is_c_library(parts: &[&str]) -> bool {
    let Some(file) = parts.last() else { return false };
    let is_c = [".c", ".h", ".s", ".S"].iter().any(|end| file.ends_with(end));
    let of = |part: &&str| {
        part.starts_with("musl") || part.starts_with("src_musl") || part.starts_with("glibc")
    };
    is_c && parts.iter().any(of)
}

/// Returns the package of a file, if it is one of a registry, of git, or of `cargo vendor`.
fn dependency<'a>(parts: &[&'a str]) -> Option<&'a str> {
    match package_part(parts) {
        Some(Shown { head: None, from }) => return Some(without_version(parts[from])),
        Some(Shown { head: Some(repository), from }) => {
            // If there are several packages, each is in a folder of its own.
            let inner = &parts[from..];
            return match inner.iter().position(|part| *part == "src") {
                Some(src) if src > 0 => Some(inner[src - 1]),
                _ => Some(repository),
            };
        }
        None => {}
    }
    if let Some([package, "src", _, ..]) = after(parts, &["vendor"]) {
        return Some(without_version(package));
    }
    // The whole path before the package is left out.
    let [package, "src", _, ..] = parts else { return None };
    let name = without_version(package);
    (name != *package).then_some(name)
}

/// Returns `tokio` for `tokio-1.54.1`.
fn without_version(package: &str) -> &str {
    for (at, byte) in package.bytes().enumerate() {
        if byte == b'-' && is_version(&package[at + 1..]) {
            return &package[..at];
        }
    }
    package
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
