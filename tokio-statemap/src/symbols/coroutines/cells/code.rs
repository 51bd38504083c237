//! The functions that poll tasks, the types of tasks' cells, and the tables of `dyn Future`.

use std::collections::HashMap;

use gimli::{AttributeValue, Operation};

use super::macros::{Awaitees, Variable};
use crate::symbols::coroutines::TypeId;
use crate::symbols::coroutines::entry::Entry;
use crate::symbols::coroutines::index::Index;
use crate::symbols::coroutines::sections::{Sections, Slice};

/// The relevant parts of the program's debug information.
#[derive(Default)]
pub(super) struct Code {
    /// The addresses of the `poll`s of tasks in the file, with the types of their futures.
    pub(super) polls: Vec<(u64, TypeId)>,
    /// The types of cells.
    pub(super) cells: Vec<TypeId>,
    /// The types behind `dyn Future`, by the addresses of their tables in the file.
    pub(super) tables: HashMap<u64, TypeId>,
    pub(super) awaitees: Awaitees,
}

impl Code {
    pub(super) fn read<'a>(sections: &Sections<'a>, index: &Index<'a>) -> gimli::Result<Self> {
        let mut code = Self::default();
        let mut found = Found::default();
        for unit in 0..sections.units.len() {
            code.add(sections, index, unit, &mut found)?;
        }
        for (entry, address) in found.functions {
            code.polls.extend(found.futures.get(&entry).map(|future| (address, *future)));
        }
        Ok(code)
    }

    fn add<'a>(
        &mut self,
        sections: &Sections<'a>,
        index: &Index<'a>,
        at: usize,
        found: &mut Found,
    ) -> gimli::Result<()> {
        let unit = &sections.units[at];
        let text = |value: Option<AttributeValue<Slice<'a>>>| {
            value.and_then(|value| sections.dwarf.attr_string(unit, value).ok())
        };
        let is_in = |id: TypeId, path: &str| index.path(sections, id) == path;
        // The `poll` to which the next parameters belong.
        let mut of_poll: Option<(TypeId, isize)> = None;
        let mut raw = unit.entries_raw(None)?;
        while !raw.is_empty() {
            let (depth, offset) = (raw.next_depth(), raw.next_offset());
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            of_poll = of_poll.filter(|(_, of)| depth > *of);
            let is_wanted = match abbreviation.tag() {
                gimli::DW_TAG_template_type_parameter => of_poll.is_some(),
                tag => {
                    [gimli::DW_TAG_subprogram, gimli::DW_TAG_structure_type, gimli::DW_TAG_variable]
                        .contains(&tag)
                }
            };
            if !is_wanted {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let entry = Entry::read(&mut raw, abbreviation)?;
            let id = TypeId { unit: at, offset };
            match entry.tag {
                gimli::DW_TAG_subprogram => {
                    let name = text(entry.name);
                    let is_poll = name.is_some_and(|name| name.starts_with(b"poll<"))
                        && is_in(id, "tokio::runtime::task::raw");
                    if is_poll {
                        of_poll = Some((id, depth));
                    }
                    let address = entry
                        .address
                        .and_then(|value| sections.dwarf.attr_address(unit, value).ok().flatten());
                    // The entry that has the code may be another than the one that has the name.
                    let target = sections.target(at, entry.origin).or(is_poll.then_some(id));
                    found.functions.extend(target.zip(address));
                }
                gimli::DW_TAG_template_type_parameter => {
                    let of_type = sections.target(at, entry.of_type);
                    if let Some(((poll, _), of_type)) = of_poll.zip(of_type) {
                        // The first is the future, the second the scheduler.
                        found.futures.entry(poll).or_insert(of_type);
                    }
                }
                gimli::DW_TAG_structure_type => {
                    if text(entry.name).is_some_and(|name| name.starts_with(b"Cell<"))
                        && is_in(id, "tokio::runtime::task::core")
                    {
                        self.cells.push(id);
                    }
                }
                _ => {
                    const TABLE: &[u8] = b" as core::future::future::Future>::{vtable}";
                    let Some(name) = text(entry.name) else { continue };
                    if name.ends_with(TABLE) {
                        self.tables.extend(table(sections, at, &entry));
                    } else if name.slice() == Awaitees::NAME {
                        self.awaitees.variables.extend(awaitee(sections, at, &entry));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Parts that are put together after all units were read.
#[derive(Default)]
struct Found {
    /// The futures of the functions named `poll`.
    futures: HashMap<TypeId, TypeId>,
    /// The addresses of functions, by the entries that describe them.
    functions: Vec<(TypeId, u64)>,
}

/// Returns the variable of an awaitee.
fn awaitee<'a>(sections: &Sections<'a>, unit: usize, entry: &Entry<'a>) -> Option<Variable> {
    let of_type = sections.target(unit, entry.of_type)?;
    Some(Variable { unit, of_type, file: entry.file?, line: entry.line? })
}

/// Returns the address of a vtable, and the type that it is for.
fn table<'a>(sections: &Sections<'a>, at: usize, entry: &Entry<'a>) -> Option<(u64, TypeId)> {
    let unit = &sections.units[at];
    let mut operations = entry.location?.exprloc_value()?.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        Operation::Address { address } => address,
        Operation::AddressIndex { index } => sections.dwarf.address(unit, index).ok()?,
        _ => return None,
    };
    let of_table = sections.target(at, entry.of_type)?;
    let of_table_unit = &sections.units[of_table.unit];
    let mut raw = of_table_unit.entries_raw(Some(of_table.offset)).ok()?;
    let abbreviation = raw.read_abbreviation().ok()??;
    let containing = Entry::read(&mut raw, abbreviation).ok()?.containing;
    Some((address, sections.target(of_table.unit, containing)?))
}
