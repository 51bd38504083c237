//! The attributes of debug entries that coroutines need.

#![cfg_attr(
    not(feature = "dwarf"),
    allow(dead_code, reason = "where things are in memory matters only there")
)]

use gimli::{Abbreviation, AttributeValue, DwTag, EntriesRaw};

use super::sections::Slice;

/// An entry: what it is, and some of its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) tag: DwTag,
    pub(super) name: Option<AttributeValue<Slice<'a>>>,
    pub(super) linkage_name: Option<AttributeValue<Slice<'a>>>,
    pub(super) of_type: Option<AttributeValue<Slice<'a>>>,
    pub(super) language: Option<AttributeValue<Slice<'a>>>,
    /// The address of a function.
    pub(super) address: Option<AttributeValue<Slice<'a>>>,
    /// The location of a variable.
    pub(super) location: Option<AttributeValue<Slice<'a>>>,
    /// The entry that describes the function further.
    pub(super) origin: Option<AttributeValue<Slice<'a>>>,
    /// The type that a table of methods is of.
    pub(super) containing: Option<AttributeValue<Slice<'a>>>,
    /// In bytes.
    pub(super) size: Option<u64>,
    /// The offset of a member in its type, in bytes.
    pub(super) member_offset: Option<u64>,
    /// The discriminant of a variant.
    pub(super) discriminant: Option<u64>,
    /// The source file of the declaration.
    pub(super) file: Option<u64>,
    pub(super) line: Option<u64>,
}

impl<'a> Entry<'a> {
    /// Reads the attributes of an entry whose abbreviation was read.
    pub(super) fn read(
        raw: &mut EntriesRaw<'_, '_, Slice<'a>>,
        abbreviation: &Abbreviation,
    ) -> gimli::Result<Self> {
        let mut entry = Self {
            tag: abbreviation.tag(),
            name: None,
            linkage_name: None,
            of_type: None,
            language: None,
            address: None,
            location: None,
            origin: None,
            containing: None,
            size: None,
            member_offset: None,
            discriminant: None,
            file: None,
            line: None,
        };
        for attribute in abbreviation.attributes() {
            let attribute = raw.read_attribute(*attribute)?;
            let value = attribute.value();
            match attribute.name() {
                gimli::DW_AT_name => entry.name = Some(value),
                gimli::DW_AT_linkage_name => entry.linkage_name = Some(value),
                gimli::DW_AT_type => entry.of_type = Some(value),
                gimli::DW_AT_language => entry.language = Some(value),
                gimli::DW_AT_low_pc => entry.address = Some(value),
                gimli::DW_AT_location => entry.location = Some(value),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                    entry.origin = Some(value);
                }
                gimli::DW_AT_containing_type => entry.containing = Some(value),
                gimli::DW_AT_byte_size => entry.size = value.udata_value(),
                gimli::DW_AT_data_member_location => entry.member_offset = value.udata_value(),
                gimli::DW_AT_discr_value => entry.discriminant = number(&value),
                gimli::DW_AT_decl_file => {
                    entry.file = match value {
                        AttributeValue::FileIndex(index) => Some(index),
                        value => value.udata_value(),
                    };
                }
                gimli::DW_AT_decl_line => entry.line = value.udata_value(),
                _ => {}
            }
        }
        Ok(entry)
    }
}

/// Returns a discriminant's value, of which only the lowest bytes are there.
fn number(value: &AttributeValue<Slice<'_>>) -> Option<u64> {
    value.udata_value().or_else(|| value.sdata_value().map(|value| value as u64))
}
