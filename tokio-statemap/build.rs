//! Names the conditions that stand in many places, and packs the script and the style of the page, which are half a
//! megabyte: as they are they would be most of what this crate adds to a small program.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    alias("has_stacks", "CARGO_FEATURE_STACKS");
    alias("has_wakes", "CARGO_FEATURE_WAKES");
    alias("has_black_box", "CARGO_FEATURE_BLACK_BOX");
    alias("has_recover", "CARGO_FEATURE_RECOVER");
    println!("cargo::rustc-check-cfg=cfg(has_requests)");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    // A table of requests is recorded, or read.
    if has("READ") || has("TRACING") && has("RECORD") {
        println!("cargo::rustc-cfg=has_requests");
    }
    #[cfg(feature = "html")]
    page::pack();
}

/// Has `cfg(name)` hold where this feature is on and the system has what it needs: Linux on x86-64 or aarch64.
fn alias(name: &str, feature: &str) {
    println!("cargo::rustc-check-cfg=cfg({name})");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let is_supported = target("OS") == "linux"
        && target("POINTER_WIDTH") == "64"
        && ["x86_64", "aarch64"].contains(&target("ARCH").as_str());
    if is_supported && env::var_os(feature).is_some() {
        println!("cargo::rustc-cfg={name}");
    }
}

#[cfg(feature = "html")]
mod page {
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    const FOLDER: &str = "src/render/html/page";

    pub(crate) fn pack() {
        println!("cargo::rerun-if-changed={FOLDER}");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
        let write = |name: &str, text: &str| {
            let packed = miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 9);
            fs::write(out.join(name), packed).expect("OUT_DIR can be written");
        };
        write("script.js.deflate", &script());
        write("style.css.deflate", &without_comments(&read("style.css")));
    }

    /// The modules in one, each after those that it imports.
    fn script() -> String {
        let mut script = String::from("\"use strict\";\n");
        for module in read("modules.txt").lines() {
            for line in without_comments(&read(module)).lines() {
                if !line.starts_with("import ") {
                    script += line.strip_prefix("export ").unwrap_or(line);
                    script.push('\n');
                }
            }
        }
        script
    }

    /// The lines without those that are empty or comments, and without indentation. No text goes on over several lines.
    fn without_comments(text: &str) -> String {
        let mut rest = String::with_capacity(text.len());
        let mut is_comment = false;
        for mut line in text.lines().map(str::trim) {
            is_comment |= line.starts_with("/*");
            if is_comment {
                let Some((_, after)) = line.split_once("*/") else { continue };
                (is_comment, line) = (false, after.trim_start());
            }
            if !line.is_empty() && !line.starts_with("//") {
                rest += line;
                rest.push('\n');
            }
        }
        rest
    }

    fn read(name: &str) -> String {
        let path = Path::new(FOLDER).join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}
