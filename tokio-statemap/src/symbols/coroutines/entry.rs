//! The attributes of debug entries that coroutines need.

use gimli::{Abbreviation, AttributeValue, DwTag, EntriesRaw};

use super::sections::Slice;

/// An entry: its kind, and some of its attributes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) tag: DwTag,
    pub(super) name: Option<AttributeValue<Slice<'a>>>,
    pub(super) linkage_name: Option<AttributeValue<Slice<'a>>>,
    pub(super) of_type: Option<AttributeValue<Slice<'a>>>,
    pub(super) language: Option<AttributeValue<Slice<'a>>>,
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
