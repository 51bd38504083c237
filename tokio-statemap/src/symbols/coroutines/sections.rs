//! The debug information of a program's file.

use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId, Unit, UnitSectionOffset};
use object::{CompressionFormat, Object as _, ObjectSection as _};

use crate::symbols::{FrameOrigin, package};

/// Bytes of the file.
pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// The most debug information that is read, in bytes. More would take too long.
const MAX_BYTES: u64 = 4 << 30;

/// The most folders that are known.
const MAX_FOLDERS: usize = 32;

/// The advice for a file with too little debug information.
const HOW_TO_BUILD: &str = "build it with `debug = \"full\"` in its profile, and without `strip`";

/// The debug information, and its units in the order of their offsets.
pub(super) struct Sections<'a> {
    pub(super) dwarf: Dwarf<Slice<'a>>,
    pub(super) units: Vec<Unit<Slice<'a>>>,
    /// The folders in which the program's own units were compiled.
    pub(super) folders: Vec<String>,
}

impl<'a> Sections<'a> {
    /// Reads a file's bytes. The error describes a problem with them.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
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

    /// Returns the offset of the unit with this index in its section.
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

/// Returns the error for damaged debug information.
pub(super) fn damaged(error: impl std::fmt::Display) -> String {
    format!("its debug information is damaged: {error}")
}

/// Returns the error for debug information without types.
pub(super) fn without_types() -> String {
    format!("its debug information has no types, only functions or lines: {HOW_TO_BUILD}")
}

/// Returns the folders in which the program's own units were compiled, the innermost first. With LTO a type may be in a
/// unit of another crate than its source.
fn folders(units: &[gimli::Unit<Slice<'_>>]) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    for folder in units.iter().filter_map(|unit| unit.comp_dir) {
        let folder = folder.to_string_lossy();
        // A package of a registry was compiled in its own folder, whose version is worth showing.
        let is_own = || package(&format!("{folder}/src/lib.rs")) == FrameOrigin::Program;
        if folder.starts_with('/')
            && folder != "/"
            && !folders.iter().any(|known| *known == folder)
            && is_own()
        {
            folders.push(folder.into_owned());
        }
        if folders.len() == MAX_FOLDERS {
            break;
        }
    }
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    folders
}
