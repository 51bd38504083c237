//! Paths in Rust from one root module to another.

pub(super) mod inside;

use super::{Source, line};

/// Each path, outside of tests and comments, from a module to one above it.
pub(super) fn offenders(sources: &[Source], order: &[&[&str]]) -> Vec<String> {
    let rank = |module: &str| order.iter().position(|layer| layer.contains(&module));
    let texts: Vec<(&str, String)> =
        sources.iter().map(|(path, text)| (path.as_str(), without_tests(&code(text)))).collect();
    let tests: Vec<String> =
        sources.iter().flat_map(|(path, text)| test_modules(path, &code(text))).collect();

    let mut offenders = Vec::new();
    for (path, text) in texts {
        let Some(from) = module(path) else { continue };
        if tests.iter().any(|test| path.strip_prefix(test).is_some_and(is_end_of_module)) {
            continue;
        }
        let Some(from_rank) = rank(from) else {
            offenders.push(format!("{path}:1: the module `{from}` has no place in the order"));
            continue;
        };
        for (offset, to) in paths_from_root(path, &text) {
            let line = line(&text, offset);
            match rank(&to) {
                Some(to_rank) if to_rank <= from_rank => {}
                Some(_) => offenders.push(format!("{path}:{line}: {from} -> {to}, which is above")),
                None => offenders.push(format!(
                    "{path}:{line}: {from} -> `crate::{to}`, which lib.rs gives out: name the \
                     module it is in"
                )),
            }
        }
    }
    offenders
}

/// The root module that a file is part of; `None` for what is above all.
fn module(path: &str) -> Option<&str> {
    match path.split('/').next()?.trim_end_matches(".rs") {
        "lib" | "bin" | "mod" => None,
        // Documentation, without code.
        "guide" => None,
        // These stand in for others in builds without a feature.
        "no_recorder" => Some("recorder"),
        "no_recording" => Some("recording"),
        module => Some(module),
    }
}

/// The same text with blanks in place of comments, strings and characters.
fn code(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let rest = &bytes[i..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            comment(rest)
        } else if rest[0] == b'r' && !is_in_name(&bytes, i) && raw_string(rest).is_some() {
            raw_string(rest).unwrap()
        } else if rest[0] == b'"' {
            quoted(rest, b'"')
        } else if rest[0] == b'\'' && is_character(rest) {
            quoted(rest, b'\'')
        } else {
            i += 1;
            continue;
        };
        for byte in &mut bytes[i..i + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        i += length;
    }
    String::from_utf8(bytes).unwrap()
}

fn is_in_name(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_name(bytes[at - 1])
}

fn is_name(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// The length of the comment, in which there may be others.
fn comment(text: &[u8]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < text.len() {
        if text[i..].starts_with(b"/*") {
            (depth, i) = (depth + 1, i + 2);
        } else if text[i..].starts_with(b"*/") {
            (depth, i) = (depth - 1, i + 2);
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    i
}

/// The length of `r"…"` or `r#"…"#`.
fn raw_string(text: &[u8]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|&&byte| byte == b'#').count();
    let begin = 1 + hashes;
    if text.get(begin) != Some(&b'"') {
        return None;
    }
    let end = [&b"\""[..], &vec![b'#'; hashes]].concat();
    let found = text[begin + 1..].windows(end.len()).position(|window| window == end)?;
    Some(begin + 1 + found + end.len())
}

/// The length of a literal between two of `quote`.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut i = 1;
    while i < text.len() && text[i] != quote {
        i += if text[i] == b'\\' { 2 } else { 1 };
    }
    (i + 1).min(text.len())
}

/// Returns `true` if a quote begins a character, rather than a lifetime.
fn is_character(text: &[u8]) -> bool {
    let Some(text) = text.get(1..) else { return false };
    let length = match text.first() {
        Some(b'\\') => return true,
        Some(byte) if byte.is_ascii() => 1,
        _ => text.iter().skip(1).take_while(|&&byte| byte & 0xc0 == 0x80).count() + 1,
    };
    text.get(length) == Some(&b'\'')
}

/// Where the attributes that leave an item to tests and models begin and end: `#[cfg(test)]`,
/// `#[cfg(all(test, …))]`, `#[cfg(statemap_loom)]`.
fn cfg_tests(code: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    code.match_indices("#[cfg(").filter_map(|(begin, _)| {
        let end = begin + code[begin..].find(")]")? + 2;
        let condition = &code[begin + "#[cfg(".len()..end - 2];
        let all = condition.strip_prefix("all(").unwrap_or(condition);
        let is_of_tests = |part: &str| matches!(part.trim(), "test" | "statemap_loom");
        all.split([',', ')']).any(is_of_tests).then_some((begin, end))
    })
}

/// The same code with blanks in place of each item that is there in tests only.
fn without_tests(code: &str) -> String {
    let mut text = code.to_owned();
    loop {
        let Some((begin, _)) = cfg_tests(&text).next() else { return text };
        let end = begin + item(&text[begin..]);
        let blank: String =
            text[begin..end].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        text.replace_range(begin..end, &blank);
    }
}

/// The length of the item that `code` begins with: up to a `;`, or to the end of its braces.
fn item(code: &str) -> usize {
    let (mut braces, mut others) = (0, 0);
    for (i, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces <= 0 {
                    return i + 1;
                }
            }
            b'(' | b'[' => others += 1,
            b')' | b']' => others -= 1,
            // Of a field or a variant.
            b',' if braces == 0 && others == 0 => return i + 1,
            b';' if braces == 0 && others == 0 => return i + 1,
            _ => {}
        }
    }
    code.len()
}

/// The paths, without `.rs`, of modules in files of their own that are there in tests only.
fn test_modules(path: &str, code: &str) -> Vec<String> {
    let folder = path.strip_suffix("/mod.rs").or(path.strip_suffix(".rs")).unwrap_or(path);
    let after = cfg_tests(code).map(|(_, end)| code[end..].trim_start());
    let names = after.filter_map(|item| {
        let item = item.strip_prefix("pub(crate) ").unwrap_or(item);
        item.strip_prefix("mod ")?.split_once(';')
    });
    names
        .map(|(name, _)| match path {
            "mod.rs" => name.trim().to_owned(),
            _ => format!("{folder}/{}", name.trim()),
        })
        .collect()
}

/// Returns `true` if a path goes on like this within the same module.
fn is_end_of_module(rest: &str) -> bool {
    rest == ".rs" || rest.starts_with('/')
}

/// Where in `code` a path begins that leads from the crate's root, and the module it leads to.
fn paths_from_root(file: &str, code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let bytes = code.as_bytes();
    for (at, _) in code.match_indices("crate::") {
        // Of whom it is visible to, no more.
        let is_visibility = code[..at].trim_end().ends_with("(in");
        if !is_in_name(bytes, at) && !is_visibility {
            add_targets(code, at + "crate::".len(), &mut found);
        }
    }
    // As often `super` as the file is deep in the tree leads to the root, too.
    let depth = file.trim_end_matches("/mod.rs").split('/').count();
    let to_root = "super::".repeat(depth);
    for (at, _) in code.match_indices(&to_root) {
        if !is_in_name(bytes, at) {
            add_targets(code, at + to_root.len(), &mut found);
        }
    }
    found
}

/// Adds the first name of the path at `at`, or of each in a group.
fn add_targets(code: &str, at: usize, found: &mut Vec<(usize, String)>) {
    let rest = &code[at..];
    let Some(group) = rest.strip_prefix('{') else {
        let name: String = rest.chars().take_while(|c| *c == '_' || c.is_alphanumeric()).collect();
        if !matches!(name.as_str(), "" | "self" | "super") {
            found.push((at, name));
        }
        return;
    };
    let (mut depth, mut is_next) = (1, true);
    for (i, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b',' if depth == 1 => is_next = true,
            _ if is_next && is_name(byte) => {
                add_targets(code, at + 1 + i, found);
                is_next = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
}

const ORDER: &[&[&str]] = &[&["low"], &["middle", "beside"], &["high"]];

fn offenders_of(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    offenders(&sources, ORDER)
}

#[test]
fn an_import_from_above_is_named() {
    let found = offenders_of(&[
        ("lib.rs", "use crate::high::A;"),
        ("bin/main.rs", "use crate::nothing::A;"),
        ("low/mod.rs", "\nuse crate::high::{A, B};"),
        ("low/deep.rs", "fn f() { super::super::high::f() }"),
        ("middle.rs", "use crate::{beside::A, low::{B, C},\n high};"),
        (
            "beside.rs",
            "use crate::A;\npub(in crate::high) fn f(c: char) { c == '\"'; crate::low::f() }",
        ),
        ("new.rs", ""),
        ("high.rs", "use crate::{low, middle};"),
    ]);
    assert_eq!(
        found,
        [
            "low/mod.rs:2: low -> high, which is above",
            "low/deep.rs:1: low -> high, which is above",
            "middle.rs:2: middle -> high, which is above",
            "beside.rs:1: beside -> `crate::A`, which lib.rs gives out: name the module it is in",
            "new.rs:1: the module `new` has no place in the order",
        ]
    );
}

#[test]
fn tests_and_comments_may_name_anything() {
    let found = offenders_of(&[
        (
            "low/mod.rs",
            "//! [a](crate::high)\n/* /* */ crate::high::f() */ #[cfg(test)]\nmod cases;",
        ),
        ("low/cases.rs", "use crate::high::A;"),
        ("low/cases/more.rs", "use crate::high::A;"),
        ("beside/mod.rs", "#[cfg(all(test, feature = \"a\"))]\nmod tests;"),
        ("beside/tests.rs", "use crate::high::A;"),
        (
            "low/text.rs",
            "const S: &str = \"crate::high::A\"; const R: &str = r#\"\"crate::high\"#;",
        ),
        ("middle.rs", "#[cfg(test)]\nmod tests { use crate::high::A; fn f() {} }\nuse crate::low;"),
        ("middle/a.rs", "#[cfg(test)]\npub fn f<'a>(a: [u8; 2]) -> &'a str { crate::high::f(a) }"),
        ("high.rs", ""),
    ]);
    assert_eq!(found, [""; 0]);
    let found = offenders_of(&[
        ("low.rs", "#[cfg(test)]\nuse crate::high::A;\nuse crate::high::B;"),
        ("low/casement.rs", "use crate::high::A;"),
        ("low/mod.rs", "#[cfg(test)] mod case;"),
    ]);
    let expected = [3, 1].map(|line| format!(":{line}: low -> high, which is above"));
    assert!(found.iter().zip(&expected).all(|(found, end)| found.ends_with(end)), "{found:?}");
    assert_eq!(found.len(), expected.len());
}
