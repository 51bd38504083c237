//! The debug information of a program or library: inlined functions and lines.

use addr2line::Context;
use gimli::{AttributeValue, EndianSlice, NativeEndian, Unit, UnitOffset, UnitRef};
use object::read::elf::SectionHeader as _;

use super::Elf;
use super::name::{Body, body, is_mangled};
use crate::util::message::warn;

type Reader = EndianSlice<'static, NativeEndian>;

/// The most debug information that is read, in bytes. More would take too long.
const MAX_BYTES: u64 = 1 << 30;

/// The most entries that are followed from an inlined function to its own entry.
const MAX_HOPS: usize = 4;

/// The number of bytes that are searched backwards for the line of an instruction that has none. The compiler made such
/// an instruction for the previous statement, or for all statements.
const NEAR: u64 = 256;

/// A function that an address is in.
#[derive(Default)]
pub(super) struct Function {
    /// Its symbol, or its name if the debug information has no more of it.
    pub(super) name: Option<String>,
    /// The kind of body, if it isn't a function.
    pub(super) body: Option<Body>,
    pub(super) file: Option<String>,
    /// The folder that it was compiled in.
    pub(super) folder: Option<String>,
    pub(super) line: Option<u32>,
}

pub(super) struct DebugInfo {
    context: Context<Reader>,
}

impl DebugInfo {
    /// Reads the debug information of an object. Returns `None` if there is none, or it can't be read.
    pub(super) fn read(object: &Elf, file_name: &str) -> Option<Self> {
        let (endian, bytes) = (object.endian(), object.data());
        let section = |name: &str| {
            let (_, section) =
                object.elf_section_table().section_by_name(endian, name.as_bytes())?;
            Some(section)
        };
        let size = |name| section(name).map_or(0, |section| section.sh_size(endian));
        // The name of a section compressed in the old way.
        let is_old = section(".zdebug_line").is_some();
        if section(".debug_line").is_none() && !is_old {
            return None;
        }
        if size(".debug_info") > MAX_BYTES || size(".debug_line") > MAX_BYTES {
            warn(format_args!(
                "stacks have no lines: {file_name} has over 1 GiB of debug information"
            ));
            return None;
        }
        // `None` if the section is compressed, or damaged.
        let load = |name: &str| match section(name) {
            Some(section) => match section.compression(endian, bytes) {
                Ok(None) => Some(Reader::new(section.data(endian, bytes).ok()?, NativeEndian)),
                _ => None,
            },
            None if is_old => None,
            None => Some(Reader::new(&[], NativeEndian)),
        };
        let read = || {
            Context::from_sections(
                load(".debug_abbrev")?.into(),
                load(".debug_addr")?.into(),
                load(".debug_aranges")?.into(),
                load(".debug_info")?.into(),
                load(".debug_line")?.into(),
                load(".debug_line_str")?.into(),
                load(".debug_ranges")?.into(),
                load(".debug_rnglists")?.into(),
                load(".debug_str")?.into(),
                load(".debug_str_offsets")?.into(),
                Reader::new(&[], NativeEndian),
            )
            .ok()
        };
        let context = read();
        if context.is_none() {
            warn(format_args!(
                "stacks have no lines: the debug information of {file_name} is compressed, or damaged"
            ));
        }
        context.map(|context| Self { context })
    }

    /// Returns the functions at an address: those that were inlined there, the innermost first, before the
    /// one that contains it.
    pub(super) fn functions(&self, address: u64) -> Vec<Function> {
        let mut found = Vec::new();
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else {
            return found;
        };
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        while let Ok(Some(frame)) = frames.next() {
            let mut function = Function::default();
            if let Some(name) = frame.function.as_ref().and_then(|of| of.raw_name().ok()) {
                function.body = body(&name);
                // A symbol doesn't distinguish the body of an `async fn` from a closure.
                if function.body.is_none() && is_mangled(&name) {
                    if let (Some(unit), Some(at)) = (unit, frame.dw_die_offset) {
                        function.body = own_name(unit, at).and_then(|name| body(&name));
                    }
                }
                function.name = Some(name.into_owned());
            }
            if let Some(folder) = unit.and_then(|unit| unit.comp_dir) {
                function.folder = Some(folder.to_string_lossy().into_owned());
            }
            if let Some(location) = frame.location {
                function.line = location.line;
                if let Some(file) = location.file {
                    function.line = location.line.or_else(|| self.line_before(address, file));
                    function.file = Some(file.to_owned());
                }
            }
            found.push(function);
        }
        found
    }

    /// Returns the last line of `file` before an address, within the same function or close to it.
    fn line_before(&self, address: u64, file: &str) -> Option<u32> {
        let from = address.saturating_sub(NEAR);
        let mut line = None;
        for (_, _, location) in self.context.find_location_range(from, address).ok()? {
            if location.file == Some(file) {
                line = location.line.or(line);
            }
        }
        line
    }
}

/// Returns the own name, without its path, of the function that an entry describes.
fn own_name(unit: UnitRef<'_, Reader>, offset: UnitOffset) -> Option<String> {
    let mut in_other: Option<Unit<Reader>> = None;
    let mut offset = offset;
    for _ in 0..MAX_HOPS {
        let unit = in_other.as_ref().map_or(unit, |other| other.unit_ref(unit.dwarf));
        let entry = unit.entry(offset).ok()?;
        if let Some(name) = entry.attr_value(gimli::DW_AT_name).ok()? {
            return Some(unit.attr_string(name).ok()?.to_string_lossy().into_owned());
        }
        let origin = entry.attr_value(gimli::DW_AT_abstract_origin).ok()?;
        let origin = match origin {
            Some(origin) => origin,
            None => entry.attr_value(gimli::DW_AT_specification).ok()??,
        };
        match origin {
            AttributeValue::UnitRef(of_unit) => offset = of_unit,
            // With LTO a function may be inlined into another unit.
            AttributeValue::DebugInfoRef(of_info) => {
                let mut headers = unit.dwarf.units();
                let header = loop {
                    let header = headers.next().ok()??;
                    if let Some(of_unit) = of_info.to_unit_offset(&header) {
                        offset = of_unit;
                        break header;
                    }
                };
                in_other = Some(unit.dwarf.unit(header).ok()?);
            }
            _ => return None,
        }
    }
    None
}
