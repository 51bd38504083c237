//! The debug information of a program or library: inlined functions and lines.

use addr2line::Context;
use gimli::{AttributeValue, Dwarf, EndianSlice, NativeEndian, Unit, UnitOffset, UnitRef};
use object::{Object as _, ObjectSection};

use super::Elf;
use super::name::{Body, body, is_mangled};
use crate::util::message::warn;

type Reader = EndianSlice<'static, NativeEndian>;

/// The most debug information that is read, in bytes: more takes too long to go through.
const MAX_BYTES: u64 = 1 << 30;

/// The most entries that are followed from an inlined function to its own entry.
const MAX_HOPS: usize = 4;

/// The most bytes before an instruction without a line in which its line is searched: the compiler made it
/// for the statement before, or for all statements.
const NEAR: u64 = 256;

/// A function that an address is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
        object.section_by_name(".debug_line")?;
        let size = |name| object.section_by_name(name).map_or(0, |section| section.size());
        if size(".debug_info") > MAX_BYTES || size(".debug_line") > MAX_BYTES {
            warn(format_args!(
                "stacks have no lines: {file_name} has over 1 GiB of debug information"
            ));
            return None;
        }
        let is_plain = |section: &_| {
            let format = ObjectSection::compressed_file_range(section).ok();
            format.map(|range| range.format) == Some(object::CompressionFormat::None)
        };
        let load = |id: gimli::SectionId| {
            let section = object.section_by_name(id.name());
            match section {
                Some(section) if is_plain(&section) => {
                    section.data().map(|data| Reader::new(data, NativeEndian)).map_err(|_| ())
                }
                Some(_) => Err(()),
                None => Ok(Reader::new(&[], NativeEndian)),
            }
        };
        let context = Dwarf::load(load).ok().and_then(|dwarf| Context::from_dwarf(dwarf).ok());
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
            let name = frame.function.and_then(|f| Some(f.raw_name().ok()?.into_owned()));
            let of_name = name.as_deref().and_then(body);
            // A symbol doesn't tell the body of an `async fn` from a closure.
            let of_entry = || {
                name.as_deref().filter(|name| is_mangled(name))?;
                body(&own_name(unit?, frame.dw_die_offset?)?)
            };
            let body = of_name.or_else(of_entry);
            let (file, line) = frame.location.map_or((None, None), |at| (at.file, at.line));
            let folder = unit.and_then(|unit| unit.comp_dir);
            let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
            let line = line.or_else(|| self.line_before(address, file?));
            found.push(Function { name, body, file: file.map(str::to_owned), folder, line });
        }
        found
    }

    /// Returns the last line of `file` before an address, within the same function or close to it.
    fn line_before(&self, address: u64, file: &str) -> Option<u32> {
        let from = address.saturating_sub(NEAR);
        let locations = self.context.find_location_range(from, address).ok()?;
        let of_file = locations.filter(|(_, _, location)| location.file == Some(file));
        of_file.filter_map(|(_, _, location)| location.line).last()
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
