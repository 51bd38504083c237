//! The debug information of a program's file, or what is wrong with it.

use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId, Unit, UnitSectionOffset};
use object::{CompressionFormat, Object as _, ObjectSection as _};

use super::place::folders;

/// Bytes of the file.
pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The most debug information that is read, in bytes: more takes too long to go through.
const MAX_BYTES: u64 = 4 << 30;

/// What is to be done where there is too little of it.
const HOW_TO_BUILD: &str = "build it with `debug = \"full\"` in its profile, and without `strip`";

/// The debug information, and its units in the order of their offsets.
pub(super) struct Sections<'a> {
    pub(super) dwarf: Dwarf<Slice<'a>>,
    pub(super) units: Vec<Unit<Slice<'a>>>,
    /// Where the program was compiled.
    pub(super) folders: Vec<String>,
}

impl<'a> Sections<'a> {
    /// That of the file of these bytes; an error is what is wrong with it.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self, String> {
        let object = object::File::parse(bytes)
            .map_err(|error| format!("this is no program or library of this system: {error}"))?;
        let size = |name| object.section_by_name(name).map_or(0, |section| section.size());
        if size(".debug_info") == 0 {
            let is_apart = size(".gnu_debuglink") != 0 || size(".gnu_debugaltlink") != 0;
            return Err(match is_apart {
                true => "it has its debug information in another file: name that one".to_owned(),
                false => format!("it has no debug information: {HOW_TO_BUILD}"),
            });
        }
        if size(".debug_info") > MAX_BYTES {
            return Err("it has over 4 GiB of debug information".to_owned());
        }
        let endian = match object.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let load = |id: SectionId| {
            let Some(section) = object.section_by_name(id.name()) else {
                return Ok(EndianSlice::new(&[], endian));
            };
            let range = section.compressed_file_range().map_err(damaged)?;
            if range.format != CompressionFormat::None {
                let undo = "`objcopy --decompress-debug-sections` undoes it";
                return Err(format!("its debug information is compressed: {undo}"));
            }
            section.data().map(|data| EndianSlice::new(data, endian)).map_err(damaged)
        };
        let dwarf = Dwarf::load(load)?;
        let units = units(&dwarf)?;
        let folders = folders(&units);
        Ok(Self { dwarf, units, folders })
    }

    /// Where the unit with this index begins in its section.
    pub(super) fn begin(&self, unit: usize) -> usize {
        match self.units[unit].header.offset() {
            UnitSectionOffset::DebugInfoOffset(offset) => offset.0,
            UnitSectionOffset::DebugTypesOffset(offset) => offset.0,
        }
    }
}

fn units<'a>(dwarf: &Dwarf<Slice<'a>>) -> Result<Vec<Unit<Slice<'a>>>, String> {
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next().map_err(damaged)? {
        let unit = dwarf.unit(header).map_err(damaged)?;
        if unit.dwo_id.is_some() {
            let build = "build it with `split-debuginfo = \"off\"` in its profile";
            return Err(format!("its debug information is in files of its own: {build}"));
        }
        units.push(unit);
    }
    Ok(units)
}

/// That the debug information can't be followed.
pub(super) fn damaged(error: impl std::fmt::Display) -> String {
    format!("its debug information is damaged: {error}")
}

/// That there is debug information, but no types in it.
pub(super) fn without_types() -> String {
    format!("its debug information has no types, only functions or lines: {HOW_TO_BUILD}")
}
