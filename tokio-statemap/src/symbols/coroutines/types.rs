//! Types, read when they are asked for.

use gimli::{AttributeValue, UnitOffset};

use super::entry::Entry;
use super::sections::{Sections, Slice};

/// The position of a type's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TypeId {
    /// The unit, as an index.
    pub(super) unit: usize,
    /// The entry in the unit.
    pub(super) offset: UnitOffset,
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Type<'a> {
    /// Its name without the path: `Timeout<shop::handle::{async_fn_env#0}>`.
    pub(super) name: Slice<'a>,
    pub(crate) shape: Shape<'a>,
    /// Its type arguments, in order.
    pub(crate) parameters: Vec<TypeId>,
}

/// The shape of a type.
#[derive(Clone, Debug)]
pub(crate) enum Shape<'a> {
    /// A struct, a tuple, or the captures of a closure.
    Struct(Vec<Member<'a>>),
    /// An enum with data, or a coroutine.
    Enum(Vec<Variant<'a>>),
    /// A reference, a raw pointer or a box, unless its target is `dyn`.
    Pointer(Option<TypeId>),
    /// Anything else.
    Other,
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<'a> {
    pub(super) name: Slice<'a>,
    pub(crate) of_type: TypeId,
}

/// A variant of an enum, or a state of a coroutine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant<'a> {
    pub(crate) member: Member<'a>,
    /// The number of the file in the table of its unit.
    pub(super) file: Option<u64>,
    pub(super) line: Option<u64>,
}

/// The most entries that are read for one type: no type that a person wrote has as many.
const MAX_ENTRIES: usize = 50_000;

impl<'a> Type<'a> {
    /// Reads a type. Also returns the number of entries read.
    pub(super) fn read(sections: &Sections<'a>, id: TypeId) -> gimli::Result<(Self, usize)> {
        let unit = &sections.units[id.unit];
        let name_of = |entry: &Entry<'a>| {
            let name = entry.name.and_then(|name| sections.dwarf.attr_string(unit, name).ok());
            name.unwrap_or_default()
        };
        let mut raw = unit.entries_raw(Some(id.offset))?;
        let mut parts = Parts::default();
        let mut itself = None;
        let mut count = 0;
        while !raw.is_empty() && count < MAX_ENTRIES {
            let depth = raw.next_depth();
            if count > 0 && depth <= 0 {
                break;
            }
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            count += 1;
            let is_too_deep = depth > 3;
            if is_too_deep {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let entry = Entry::read(&mut raw, abbreviation)?;
            let of_type = sections.target(id.unit, entry.of_type);
            let member = of_type.map(|of_type| Member { name: name_of(&entry), of_type });
            match (depth, entry.tag) {
                (0, _) => itself = Some(entry),
                (1, gimli::DW_TAG_template_type_parameter) => parts.parameters.extend(of_type),
                (1, gimli::DW_TAG_member) => parts.members.extend(member),
                (1, gimli::DW_TAG_variant_part) => parts.is_enum = true,
                // The types of the variants come last.
                (1, gimli::DW_TAG_structure_type) if parts.is_enum => break,
                (3, gimli::DW_TAG_member) if parts.is_enum => {
                    parts.variants.extend(member.map(|member| Variant {
                        member,
                        file: entry.file,
                        line: entry.line,
                    }))
                }
                _ => {}
            }
        }
        let itself = itself.ok_or(gimli::Error::NoEntryAtGivenOffset)?;
        let shape = match itself.tag {
            gimli::DW_TAG_structure_type if parts.is_enum => Shape::Enum(parts.variants),
            gimli::DW_TAG_structure_type => Shape::Struct(parts.members),
            gimli::DW_TAG_pointer_type => Shape::Pointer(sections.target(id.unit, itself.of_type)),
            _ => Shape::Other,
        };
        Ok((Self { name: name_of(&itself), shape, parameters: parts.parameters }, count))
    }
}

/// The entries within a type's entry.
#[derive(Default)]
struct Parts<'a> {
    parameters: Vec<TypeId>,
    members: Vec<Member<'a>>,
    is_enum: bool,
    variants: Vec<Variant<'a>>,
}

impl<'a> Sections<'a> {
    /// Returns the type that an attribute of an entry in `unit` refers to.
    fn target(&self, unit: usize, value: Option<AttributeValue<Slice<'a>>>) -> Option<TypeId> {
        match value? {
            AttributeValue::UnitRef(offset) => Some(TypeId { unit, offset }),
            AttributeValue::DebugInfoRef(of_info) => {
                let begins =
                    |unit: &gimli::Unit<Slice<'a>>| unit.header.offset().as_debug_info_offset();
                let is_before = |unit: &_| begins(unit).is_some_and(|begin| begin.0 <= of_info.0);
                let unit = self.units.partition_point(is_before).checked_sub(1)?;
                let offset = of_info.to_unit_offset(&self.units[unit].header)?;
                Some(TypeId { unit, offset })
            }
            _ => None,
        }
    }
}
