//! Await trees as an html page with foldable nodes, without a script.

use std::io::{self, Write};

use crate::analysis::awaits::Node;
use crate::render::html::escape_html;
use crate::render::palette::{self, Screen};
use crate::util::clean::clean;

/// The rules, one per line, with the colours of the palette as variables.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{font:14px/1.6 ui-monospace,monospace;margin:2em;max-width:120em}
h1{font:600 20px/1.4 system-ui,sans-serif}
ul{list-style:none;margin:0;padding-left:1.6em;border-left:1px solid var(--line-strong)}
main>details{margin:.3em 0}
summary{cursor:pointer}
li>span{padding-left:1.1em}
.place{color:var(--quiet)}
.note{font-style:italic;color:var(--quiet)}
";

/// Writes a page of the await trees of `title`.
pub fn write(trees: &[Node], title: &str, w: &mut dyn Write) -> io::Result<()> {
    let title = text(title);
    writeln!(w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(w, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(
        w,
        "<title>Await trees of {title}</title>\n<style>\n{}</style>\n</head>\n<body>",
        style()
    )?;
    writeln!(w, "<h1>Await trees of the async functions of {title}</h1>\n<main>")?;
    for tree in trees {
        writeln!(w, "<details><summary>{}</summary>", label(tree))?;
        children(tree, w)?;
        writeln!(w, "</details>")?;
    }
    writeln!(w, "</main>\n</body>\n</html>")
}

fn style() -> String {
    let dark = palette::fill_again(STYLE, Screen::Dark);
    let light = palette::fill(STYLE, Screen::Light);
    format!("{light}@media (prefers-color-scheme:dark){{{dark}}}\n")
}

/// The depth of the recursion is limited, because the depth of the trees is.
fn children(of: &Node, w: &mut dyn Write) -> io::Result<()> {
    if of.children.is_empty() {
        return Ok(());
    }
    writeln!(w, "<ul>")?;
    for child in &of.children {
        match child.children.is_empty() {
            true => writeln!(w, "<li><span>{}</span></li>", label(child))?,
            false => {
                writeln!(w, "<li><details open><summary>{}</summary>", label(child))?;
                children(child, w)?;
                writeln!(w, "</details></li>")?;
            }
        }
    }
    writeln!(w, "</ul>")
}

fn label(of: &Node) -> String {
    let part = |class: &str, of: &str| format!("<span class=\"{class}\">{}</span>", text(of));
    let place = of.place.as_ref().map(|place| part("place", place) + " ").unwrap_or_default();
    let note = of.note.map(|note| format!(" {}", part("note", note.text()))).unwrap_or_default();
    format!("{place}{}{note}", text(&of.name))
}

fn text(text: &str) -> String {
    escape_html(&clean(text)).into_owned()
}
