//! Tests that each path is shown from its package on, that no two are shown alike, and that the file and line go last.

use std::collections::HashSet;

use serde_json::Value;

use super::*;
use crate::util::random::Random;

const HASH: &str = "59807616e1fa2540724bfbac14d7976d7e4a3860";

#[test]
fn a_path_is_shown_from_its_package_on() {
    let of_rustc = format!("/rustc/{HASH}/library");
    for (path, label) in [
        ("src/main.rs", "src/main.rs"),
        ("./src/main.rs", "src/main.rs"),
        (r"crates\api\src\main.rs", "crates/api/src/main.rs"),
        ("main.rs", "main.rs"),
        ("/main.rs", "/main.rs"),
        ("", ""),
        (
            "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/axum-0.8.9/src/serve/mod.rs",
            "axum-0.8.9/src/serve/mod.rs",
        ),
        (
            r"C:\Users\me\.cargo\registry\src\index.crates.io-1949cf8c6b5b557f\axum-0.8.9\src\a.rs",
            "axum-0.8.9/src/a.rs",
        ),
        (
            "/cargo/registry/src/github.com-1ecc6299db9ec823/tokio-1.54.0/src/a.rs",
            "tokio-1.54.0/src/a.rs",
        ),
        ("/index.crates.io-1949cf8c6b5b557f/axum-0.8.1/src/a.rs", "axum-0.8.1/src/a.rs"),
        ("axum-0.8.1/src/a.rs", "axum-0.8.1/src/a.rs"),
        (
            "/home/me/.cargo/git/checkouts/mini-redis-0c9c8b0f7d7d0c1d/ab12cd3/src/db.rs",
            "mini-redis/src/db.rs",
        ),
        (
            r"C:\cargo\git\checkouts\tokio-ab9c8b0f7d7d0c1d\ab12cd3\tokio-util\src\a.rs",
            "tokio/tokio-util/src/a.rs",
        ),
        (&format!("{of_rustc}/std/src/thread/mod.rs"), "std/src/thread/mod.rs"),
        (&format!("{of_rustc}/core/src/ops/function.rs"), "core/src/ops/function.rs"),
        (&format!(r"/rustc/{HASH}\library\std\src\thread\mod.rs"), "std/src/thread/mod.rs"),
        (
            "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/ops.rs",
            "core/src/ops.rs",
        ),
        ("/usr/src/rustc-1.85.0/library/core/src/ops.rs", "core/src/ops.rs"),
        ("/rust/deps/hashbrown-0.15.2/src/raw.rs", "hashbrown-0.15.2/src/raw.rs"),
        ("/home/me/shop/src/main.rs", "shop/src/main.rs"),
        ("/app/src/main.rs", "app/src/main.rs"),
        ("/home/me/src/shop/src/main.rs", "shop/src/main.rs"),
        ("/home/me/shop/tests/api.rs", "shop/tests/api.rs"),
        ("/work/tokio-statemap/src/recorder/events.rs", "tokio-statemap/src/recorder/events.rs"),
        ("/home/me/shop/vendor/axum-0.8.1/src/a.rs", "axum-0.8.1/src/a.rs"),
        ("/home/me/shop/target/debug/build/shop-0a1b2c/out/api.rs", "shop-0a1b2c/out/api.rs"),
        ("/home/me/generated/of/it/api.rs", "of/it/api.rs"),
        ("/registry/src/a.rs", "registry/src/a.rs"),
        ("/git/checkouts/a.rs", "git/checkouts/a.rs"),
    ] {
        assert_eq!(shown(path), label, "{path}");
        let with_line = format!("{path}:21:5");
        assert_eq!(shown(&with_line), format!("{label}:21:5"), "{path}");
    }
}

#[test]
fn files_that_would_look_alike_show_more() {
    let axum = |index| format!("/root/.cargo/registry/src/{index}/axum-0.8.9/src/a.rs");
    let (a, b) = (axum("index.crates.io-1"), axum("mirror.example-2"));
    let redis = |rev| format!("/me/.cargo/git/checkouts/redis-0c9c/{rev}/src/db.rs");
    let (old, new) = (redis("ab12"), redis("cd34"));
    let files = [&*a, &*b, &*old, &*new, "redis/src/db.rs", "src/main.rs", "/me/x/src/lib.rs"];
    let levels = levels(files);
    let label = |file| shown_at(file, levels.get(file).copied().unwrap_or(0));
    assert_eq!(
        files.map(label),
        [
            "index.crates.io-1/axum-0.8.9/src/a.rs",
            "mirror.example-2/axum-0.8.9/src/a.rs",
            "redis-0c9c/ab12/src/db.rs",
            "redis-0c9c/cd34/src/db.rs",
            "redis/src/db.rs",
            "src/main.rs",
            "x/src/lib.rs",
        ]
    );
    // Two spellings of a path count as two files.
    let both = [r"src\a.rs", "src/a.rs"];
    let levels = super::levels(both);
    assert_eq!(both.map(|file| shown_at(file, *levels.get(file).expect("it is there"))), both);
}

/// Returns a path such as compilers write.
fn random_path(random: &mut Random) -> String {
    let mut pick = |of: &[&str]| of[random.below(of.len() as u64) as usize].to_owned();
    let package = pick(&["axum", "axum-0.8.9", "shop", "tokio-1.54.0", "src", "out", "build"]);
    let root = pick(&[
        "",
        "",
        "./",
        "/",
        "crates/",
        "/home/me/",
        "/home/you/",
        "/home/me/src/",
        "/home/me/.cargo/registry/src/index.crates.io-1/",
        "/root/.cargo/registry/src/index.crates.io-1/",
        "/root/.cargo/registry/src/mirror-2/",
        "/me/.cargo/git/checkouts/shop-0c9c/ab12/",
        "/me/.cargo/git/checkouts/shop-0c9c/cd34/",
        "/rustc/1234/library/",
        "/usr/lib/rustlib/src/rust/library/",
        "/rust/deps/",
        "C:\\me\\",
        "/target/debug/build/",
    ]);
    let folder = pick(&["src/", "src/", "tests/", "src/a/b/", "", "src/src/", "out/"]);
    let path = format!("{root}{package}/{folder}{}", pick(&["lib.rs", "main.rs", "src", "a.rs"]));
    if random.below(6) == 0 { path.replace('/', "\\") } else { path }
}

#[test]
fn each_file_has_a_label_of_its_own_that_ends_with_it() {
    let mut random = Random(7);
    let mut raised = 0;
    for _ in 0..500 {
        let files: HashSet<String> = (0..40).map(|_| random_path(&mut random)).collect();
        let levels = levels(files.iter().map(String::as_str));
        let mut labels = HashSet::new();
        for file in &files {
            let level = levels.get(&**file).copied().unwrap_or(0);
            raised += u32::from(level > 0);
            let label = shown_at(file, level).into_owned();
            let name = file.rsplit(['/', '\\']).next().unwrap();
            assert!(label.ends_with(name), "{file}: {label}");
            assert!(labels.insert(label.clone()), "{label} is of two of {files:?}");
            let hides = ["/root/", "/home/", "C:", "registry/src"];
            assert!(level > 0 || !hides.iter().any(|part| label.contains(part)), "{file}: {label}");
        }
        assert!(levels.iter().all(|(file, _)| files.contains(*file)));
    }
    assert!(raised > 100, "{raised}");
}

#[test]
fn in_little_room_the_file_and_the_line_stay() {
    let cases: Value = serde_json::from_str(include_str!("cases.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let (text, room) = (case[0].as_str().unwrap(), case[1].as_u64().unwrap() as usize);
        let found = fit(text, room, &|text| text.chars().count());
        assert_eq!(found.as_deref(), case[2].as_str(), "{text} in {room}");
    }
}

#[test]
fn more_room_never_shows_less() {
    let mut random = Random(9);
    let width = |text: &str| text.chars().count();
    for _ in 0..300 {
        let behind = ["", " (main)", ", Mutex::lock"][random.below(3) as usize];
        let function = ["", "shop::render at "][random.below(2) as usize];
        let line = random.below(3000);
        let text = format!("{function}{}:{line}:9{behind}", shown(&random_path(&mut random)));
        let mut before = 0;
        for room in 1..=width(&text) {
            let Some(found) = fit(&text, room, &width) else { break };
            let length = width(&found);
            assert!(length <= room && length >= before, "{text} in {room}: {found}");
            let has_line = found.contains(&format!(".rs:{line}"));
            assert!(has_line || room < 16 || !text.contains(".rs:"), "{text} in {room}: {found}");
            before = length;
        }
    }
}

#[test]
fn a_path_says_whether_it_is_of_a_dependency() {
    let of_rustc = format!("/rustc/{HASH}/library/std/src/thread/mod.rs");
    for path in [
        "/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/axum-0.8.9/src/serve/mod.rs",
        "/index.crates.io-1949cf8c6b5b557f/axum-0.8.1/src/a.rs",
        "/home/me/.cargo/git/checkouts/mini-redis-0c9c8b0f7d7d0c1d/ab12cd3/src/db.rs",
        "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/thread/mod.rs",
        &of_rustc,
    ] {
        assert!(is_of_dependency(path), "{path}");
    }
    for path in
        ["src/main.rs", "/home/me/shop/src/main.rs", "/srv/registry/main.rs", "", "git/a.rs"]
    {
        assert!(!is_of_dependency(path), "{path}");
    }
}
