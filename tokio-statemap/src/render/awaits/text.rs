//! The await trees as text.

use std::io::{self, Write};

use crate::analysis::awaits::Node;
use crate::util::clean::clean;

/// Writes the trees one after the other.
pub fn write(trees: &[Node], w: &mut dyn Write) -> io::Result<()> {
    for (i, tree) in trees.iter().enumerate() {
        if i > 0 {
            writeln!(w)?;
        }
        let place = tree.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        line(w, &[&tree.name, &place, &note(tree)])?;
        children(tree, "", w)?;
    }
    Ok(())
}

/// The depth of the recursion is limited, because the depth of the trees is.
fn children(of: &Node, before: &str, w: &mut dyn Write) -> io::Result<()> {
    for (i, child) in of.children.iter().enumerate() {
        let is_last = i + 1 == of.children.len();
        let (corner, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let place = child.place.as_ref().map(|place| format!("{place}  ")).unwrap_or_default();
        line(w, &[before, corner, &place, &child.name, &note(child)])?;
        children(child, &format!("{before}{below}"), w)?;
    }
    Ok(())
}

fn note(of: &Node) -> String {
    of.note.map(|note| format!(" [{}]", note.text())).unwrap_or_default()
}

fn line(w: &mut dyn Write, parts: &[&str]) -> io::Result<()> {
    writeln!(w, "{}", clean(&parts.concat()))
}
