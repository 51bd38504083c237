//! Imports of one script by another.

use super::{Source, line};

/// Each import of a script in a folder that is above the importer's.
///
/// Scripts outside of all folders have no place in the order, but for `main.js`.
pub(super) fn offenders(sources: &[Source], order: &[&str]) -> Vec<String> {
    let top = order.len();
    let rank = |path: &str| match path.rsplit_once('/') {
        Some((folder, _)) => {
            order.iter().position(|&place| folder.split('/').next() == Some(place))
        }
        None => (path == "main.js").then_some(top),
    };
    let mut offenders = Vec::new();
    for (path, text) in sources {
        if path.contains('/') && rank(path).is_none() {
            offenders.push(format!("{path}:1: the folder has no place in the order"));
        }
        for (offset, target) in imports(text) {
            let line = line(text, offset);
            let Some(target) = resolved(path, target) else {
                offenders.push(format!("{path}:{line}: {target} is outside of the page's folder"));
                continue;
            };
            if !sources.iter().any(|(path, _)| *path == target) {
                offenders.push(format!("{path}:{line}: there is no {target}"));
            }
            let is_above = match (rank(path), rank(&target)) {
                (Some(from), Some(to)) => to > from,
                (None, to) => to == Some(top),
                (_, None) => false,
            };
            if is_above {
                offenders.push(format!("{path}:{line}: it imports {target}, which is above"));
            }
        }
    }
    offenders
}

/// The paths that `text` imports from, and where: those of types in comments aren't meant.
fn imports(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut offset = 0;
    let mut is_import = false;
    for line in text.split_inclusive('\n') {
        // Only at the beginning of a line, and never in one of a comment.
        is_import |=
            ["import ", "import{", "export {", "export *"].iter().any(|s| line.starts_with(s));
        if is_import {
            let quote = line.find(['"', '\'']);
            if let Some(begin) = quote {
                let rest = &line[begin + 1..];
                let end = rest.find(['"', '\'']).unwrap_or(rest.len());
                found.push((offset + begin, &rest[..end]));
            }
            is_import = quote.is_none() && !line.contains(';');
        }
        offset += line.len();
    }
    found
}

/// `target`, which is relative to the file `from`, from the page's folder.
fn resolved(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

const ORDER: &[&str] = &["low", "high"];

fn offenders_of(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<Source> =
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    offenders(&sources, ORDER)
}

#[test]
fn an_import_from_above_is_named() {
    let found = offenders_of(&[
        ("main.js", "import { a } from \"./high/a.js\";"),
        ("low/a.js", "// a\nimport {\n  a,\n} from \"../high/a.js\";\n"),
        ("low/b.js", "import { a } from \"./a.js\";\nimport \"../main.js\";\n"),
        ("high/a.js", "import { a } from \"../low/a.js\";\nimport \"../../a.js\";\n"),
        ("other/a.js", "import { b } from '../low/none.js';"),
    ]);
    assert_eq!(
        found,
        [
            "low/a.js:4: it imports high/a.js, which is above",
            "low/b.js:2: it imports main.js, which is above",
            "high/a.js:2: ../../a.js is outside of the page's folder",
            "other/a.js:1: the folder has no place in the order",
            "other/a.js:1: there is no low/none.js",
        ]
    );
}

#[test]
fn types_in_comments_and_flat_scripts_are_free() {
    let found = offenders_of(&[
        (
            "low/a.js",
            "/** @typedef {import(\"../high/a.js\").A} A */\n * import \"../high/a.js\"\n",
        ),
        ("high/a.js", "const text = 'import \"./b.js\"';"),
        ("a.js", "import { b } from \"./b.js\";\n"),
        ("b.js", "import { a } from \"./a.js\";\n"),
    ]);
    assert_eq!(found, [""; 0]);
    let found = offenders_of(&[("a.js", "import \"./main.js\";"), ("main.js", "")]);
    assert_eq!(found, ["a.js:1: it imports main.js, which is above"]);
}
