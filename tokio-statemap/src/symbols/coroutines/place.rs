//! Where something is written.

use std::fmt;

use gimli::AttributeValue;

use super::sections::Sections;
use crate::symbols::{FrameOrigin, package};

/// A file and a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The path; of the program's own files from the folder that they were compiled in.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Place {
    /// The line of the file with this number in the table of a unit.
    pub(super) fn of(sections: &Sections<'_>, unit: usize, file: u64, line: u64) -> Option<Self> {
        let unit = &sections.units[unit];
        let header = unit.line_program.as_ref()?.header();
        let file = header.file(file)?;
        let text = |value| {
            let text = sections.dwarf.attr_string(unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        };
        let name = text(file.path_name())?;
        let folder = file.directory(header).and_then(|folder: AttributeValue<_>| text(folder));
        let path = match folder {
            Some(folder) if !name.starts_with('/') && !folder.is_empty() => {
                format!("{folder}/{name}")
            }
            _ => name,
        };
        let compiled_in = unit.comp_dir.map(|folder| folder.to_string_lossy().into_owned());
        let path = match &compiled_in {
            Some(folder) if !path.starts_with('/') => format!("{folder}/{path}"),
            _ => path,
        };
        // A package of a registry was compiled in its own folder, of which the version is worth knowing.
        let compiled_in = compiled_in.filter(|_| package(&path) == FrameOrigin::Program);
        let inner = compiled_in
            .and_then(|folder| Some(path.strip_prefix(&folder)?.strip_prefix('/')?.to_owned()));
        Some(Self { file: inner.unwrap_or(path), line })
    }
}
