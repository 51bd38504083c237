//! Places in source files.

use std::fmt;

use gimli::AttributeValue;

use super::sections::Sections;

/// A file and a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The path. For the program's own files, it is relative to the folder in which they were compiled.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Place {
    /// Returns the name of the macro whose `.await` is there, if it is one of Tokio's or futures'.
    pub(crate) fn known_macro(&self) -> Option<&'static str> {
        const KNOWN: [(&str, &str); 6] = [
            ("/src/macros/join.rs", "tokio::join!"),
            ("/src/macros/try_join.rs", "tokio::try_join!"),
            ("/src/macros/select.rs", "tokio::select!"),
            ("/async_await/join_mod.rs", "futures::join!"),
            ("/async_await/select_mod.rs", "futures::select!"),
            ("/async_await/stream_select_mod.rs", "futures::stream_select!"),
        ];
        KNOWN.iter().find(|(end, _)| self.file.ends_with(end)).map(|(_, name)| *name)
    }

    /// Returns a line of the file with this number in the table of a unit.
    pub(super) fn read(sections: &Sections<'_>, unit: usize, file: u64, line: u64) -> Option<Self> {
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
        let path = match unit.comp_dir {
            Some(folder) if !path.starts_with('/') => {
                format!("{}/{path}", folder.to_string_lossy())
            }
            _ => path,
        };
        let inner = sections.folders.iter().find_map(|folder| {
            Some(path.strip_prefix(folder.as_str())?.strip_prefix('/')?.to_owned())
        });
        Some(Self { file: inner.unwrap_or(path), line })
    }
}
