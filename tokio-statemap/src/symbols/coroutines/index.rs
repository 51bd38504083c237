//! An index of the debug information: its coroutines and namespaces.

use std::collections::HashMap;

use gimli::{AttributeValue, DW_LANG_Rust, UnitOffset};

use super::entry::Entry;
use super::sections::{Sections, Slice, damaged, without_types};
use super::types::TypeId;

/// The most nested namespaces.
const MAX_DEPTH: usize = 128;

/// The index.
pub(super) struct Index<'a> {
    /// The types of coroutines: one per instance and unit.
    pub(super) coroutines: Vec<TypeId>,
    /// All namespaces.
    scopes: Vec<Scope<'a>>,
    /// The namespaces of the entries, each with the offset in the section from which on it applies, by rising offset.
    changes: Vec<(usize, Option<u32>)>,
    /// The symbols of coroutines' functions, by the paths of their namespaces, if the path doesn't contain the type of
    /// an `impl`.
    symbols: HashMap<String, Slice<'a>>,
    /// The number of entries.
    pub(super) entries: u64,
}

/// A namespace: a crate, a module, a function, an `impl`.
#[derive(Clone, Copy)]
struct Scope<'a> {
    name: Slice<'a>,
    parent: Option<u32>,
}

impl<'a> Index<'a> {
    /// Reads all units. The error describes a problem with the debug information.
    pub(super) fn build(sections: &Sections<'a>) -> Result<Self, String> {
        let mut index = Self {
            coroutines: Vec::new(),
            scopes: Vec::new(),
            changes: Vec::new(),
            symbols: HashMap::new(),
            entries: 0,
        };
        let mut has_types = false;
        for unit in 0..sections.units.len() {
            has_types |= index.add(sections, unit).map_err(damaged)?;
        }
        if has_types { Ok(index) } else { Err(without_types()) }
    }

    /// Adds a unit. Returns whether it has types of Rust.
    fn add(&mut self, sections: &Sections<'a>, at: usize) -> gimli::Result<bool> {
        let unit = &sections.units[at];
        let begin = sections.begin(at);
        self.changes.push((begin, None));
        let (mut is_rust, mut has_types) = (false, false);
        // The namespaces around the entry, with their depths.
        let mut open: Vec<(isize, u32)> = Vec::new();
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (depth, offset) = (raw.next_depth(), raw.next_offset());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            self.entries += 1;
            if open.last().is_some_and(|(of, _)| *of >= depth) {
                while open.last().is_some_and(|(of, _)| *of >= depth) {
                    open.pop();
                }
                self.changes.push((begin + offset.0, open.last().map(|(_, scope)| *scope)));
            }
            match abbreviation.tag() {
                gimli::DW_TAG_compile_unit
                | gimli::DW_TAG_namespace
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_subprogram => {}
                _ => {
                    raw.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            }
            let entry = Entry::read(&mut raw, abbreviation)?;
            if let Some(AttributeValue::Language(language)) = entry.language {
                is_rust = language == DW_LANG_Rust;
            }
            let Some(name) = entry.name else { continue };
            let name = sections.dwarf.attr_string(unit, name)?;
            let scope = open.last().map(|(_, scope)| *scope);
            match entry.tag {
                gimli::DW_TAG_namespace if open.len() < MAX_DEPTH => {
                    let Ok(id) = u32::try_from(self.scopes.len()) else { continue };
                    self.scopes.push(Scope { name, parent: scope });
                    open.push((depth, id));
                    self.changes.push((begin + offset.0 + 1, Some(id)));
                }
                gimli::DW_TAG_structure_type => {
                    has_types |= is_rust;
                    if is_coroutine(&name) {
                        self.coroutines.push(TypeId { unit: at, offset });
                    }
                }
                gimli::DW_TAG_subprogram if name.starts_with(b"{async_") => {
                    let symbol = entry.linkage_name;
                    let symbol = symbol.and_then(|s| sections.dwarf.attr_string(unit, s).ok());
                    let path = scope.map(|scope| self.path_of(scope));
                    if let (Some(symbol), Some(path)) = (symbol, path) {
                        if path.contains("{impl#") {
                            self.symbols.entry(path).or_insert(symbol);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(has_types)
    }

    /// Returns the path of the namespace that an entry is in: `shop::handle`, `shop::{impl#0}::cents`.
    pub(super) fn path(&self, sections: &Sections<'a>, id: TypeId) -> String {
        let begin = sections.begin(id.unit);
        let UnitOffset(offset) = id.offset;
        let after = self.changes.partition_point(|(from, _)| *from <= begin + offset);
        let scope = after.checked_sub(1).and_then(|at| self.changes[at].1);
        scope.map_or_else(String::new, |scope| self.path_of(scope))
    }

    /// Returns the symbol of the coroutine in the namespace with this path, if the path is incomplete.
    pub(super) fn symbol(&self, path: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.symbols.get(path).map(|symbol| symbol.to_string_lossy())
    }

    fn path_of(&self, scope: u32) -> String {
        let mut names = Vec::new();
        let mut next = Some(scope);
        // A parent comes before its children, so this ends.
        while let Some(scope) = next {
            let Scope { name, parent } = self.scopes[scope as usize];
            names.push(name.to_string_lossy());
            next = parent;
        }
        names.reverse();
        names.join("::")
    }
}

/// Returns `true` for the type of an `async fn`, block or closure: `{async_fn_env#0}`.
pub(super) fn is_coroutine(name: &[u8]) -> bool {
    name.starts_with(b"{async_") && name.windows(5).any(|part| part == b"_env#")
}
