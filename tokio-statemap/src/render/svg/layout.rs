//! The vertical layout of the picture.

use std::collections::BTreeMap;

use super::rows::DrawnRows;
use super::text::{count, thousands};
use crate::analysis::picture::{Group, Picture, Section, SectionKind};

/// The height of the heading of a section, in pixels.
const SECTION: u32 = 26;
const GROUP: u32 = 18;

/// Something in the body of the picture.
#[derive(Debug)]
pub(super) enum Item {
    Section {
        index: usize,
        text: String,
        more: String,
    },
    Group {
        section: usize,
        group: u32,
        more: String,
    },
    /// A row, as an index into [`DrawnRows::drawn`].
    Row(usize),
}

/// The body of the picture: each item with its top in pixels.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) items: Vec<(u32, Item)>,
    pub(super) height: u32,
}

impl Layout {
    pub(super) fn new(picture: &Picture<'_>, rows: &DrawnRows) -> Self {
        let mut layout = Self { items: Vec::new(), height: 0 };
        for (index, section) in picture.sections.iter().enumerate() {
            let mut drawn: Vec<usize> =
                (0..rows.drawn.len()).filter(|&row| rows.drawn[row].section == index).collect();
            drawn.sort_by_key(|&row| rows.drawn[row].order);
            layout.section(section, index, rows, &drawn);
        }
        layout.height += 8;
        layout
    }

    fn section(&mut self, section: &Section<'_>, index: usize, rows: &DrawnRows, drawn: &[usize]) {
        let total = section.rows.len();
        let left = total - drawn.len();
        let text = format!("{} ({})", section.title, thousands(total));
        let are = if left == 1 { "is" } else { "are" };
        let more = match (left, drawn.len()) {
            (0, _) => String::new(),
            (_, 0) => format!("{} {are} not drawn", count(left, noun(section.kind))),
            (_, _) if matches!(section.kind, SectionKind::Tasks | SectionKind::Other) => {
                format!("{} more {are} not drawn (the least busy ones)", thousands(left))
            }
            _ => format!("{} more {are} not drawn", thousands(left)),
        };
        self.push(SECTION, Item::Section { index, text, more });
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        for &row in drawn {
            *sizes.entry(rows.drawn[row].group).or_default() += 1;
        }
        let mut before = None;
        for &row in drawn {
            let group = rows.drawn[row].group;
            if before.replace(group) != Some(group) && has_headings(section) {
                let more = of_group(section, &section.groups[group as usize], sizes[&group]);
                self.push(GROUP, Item::Group { section: index, group, more });
            }
            self.push(rows.heights[index], Item::Row(row));
        }
    }

    fn push(&mut self, height: u32, item: Item) {
        self.items.push((self.height, item));
        self.height += height;
    }
}

/// Returns whether the groups of a section have headings.
fn has_headings(section: &Section<'_>) -> bool {
    match section.kind {
        SectionKind::Workers | SectionKind::Blocking => false,
        SectionKind::Tasks => true,
        SectionKind::Other => section.groups.len() > 1,
    }
}

/// Returns the text behind the label of a group with `drawn` drawn rows.
fn of_group(section: &Section<'_>, group: &Group, drawn: usize) -> String {
    let rows = section.group(group).len();
    match rows - drawn {
        0 => count(rows, noun(section.kind)),
        left => format!("{}, {} more not drawn", count(rows, noun(section.kind)), thousands(left)),
    }
}

/// Returns the noun for a row of a section.
pub(super) fn noun(kind: SectionKind) -> &'static str {
    match kind {
        SectionKind::Workers => "worker",
        SectionKind::Blocking => "blocking thread",
        SectionKind::Tasks => "task",
        SectionKind::Other => "row",
    }
}
