//! The symbols and line tables of a program or library.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, NativeEndian, SectionId};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use super::name::{demangle, is_async};
use super::{FrameOrigin, StackFrame};

type Reader = EndianArcSlice<NativeEndian>;

/// A source file, and a line in it.
type Line = (String, u32);

/// The largest file that is read. The debug information of a large program is some 100 MB.
const MAX_BYTES: u64 = 4 << 30;

/// The symbols of a file, and its line tables if it has any.
pub(super) struct ObjectFile {
    /// Start, end and name of each function, by its start.
    symbols: Vec<(u64, u64, Box<str>)>,
    lines: Option<Context<Reader>>,
    files: HashMap<String, Arc<str>>,
    build_id: Option<String>,
}

impl std::fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} symbols", self.symbols.len())
    }
}

impl ObjectFile {
    pub(super) fn open(path: &Path) -> Result<Self, Box<dyn std::error::Error>> {
        let file = File::open(path)?;
        if file.metadata()?.len() > MAX_BYTES {
            return Err("the file is too large".into());
        }
        let bytes = std::fs::read(path)?;
        let object = object::File::parse(&*bytes)?;
        let mut symbols: Vec<_> = object
            .symbols()
            .chain(object.dynamic_symbols())
            .filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text)
            .filter_map(|symbol| {
                let (from, name) = (symbol.address(), symbol.name().ok()?);
                Some((from, from.saturating_add(symbol.size()), name.into()))
            })
            .collect();
        symbols.sort_unstable();
        let load = |id: SectionId| -> Result<Reader, object::Error> {
            let section = object.section_by_name(id.name());
            let data = section.map(|section| section.uncompressed_data()).transpose()?;
            Ok(Reader::new(data.unwrap_or_default().into(), NativeEndian))
        };
        let has_lines = object.section_by_name(".debug_line").is_some();
        let lines =
            has_lines.then(|| Dwarf::load(load).ok().and_then(|d| Context::from_dwarf(d).ok()));
        let build_id = object
            .build_id()
            .ok()
            .flatten()
            .map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect());
        Ok(Self { symbols, lines: lines.flatten(), files: HashMap::new(), build_id })
    }

    /// The functions at an address in the file, which is that of the program itself or of a library.
    pub(super) fn frames(&mut self, address: u64, is_program: bool) -> Vec<StackFrame> {
        let symbol = self.symbol(address).map(str::to_owned);
        let mut found = self.in_debug_info(address);
        if found.is_empty() {
            found.push((None, None));
        }
        let last = found.len() - 1;
        let frames = found.into_iter().enumerate().map(|(i, (function, at))| {
            // The name of what was not inlined is whole in the table of symbols.
            let is_async = function.as_deref().is_some_and(is_async);
            let whole = if i == last { symbol.as_deref() } else { None };
            let function = whole.or(function.as_deref()).map(|name| demangle(name, is_async));
            let origin =
                FrameOrigin::of(at.as_ref().map(|at| &*at.0), function.as_deref(), is_program);
            let function = function.unwrap_or_else(|| match &self.build_id {
                Some(id) => format!("{address:#x} (build id {id})"),
                None => format!("{address:#x}"),
            });
            let line = at.as_ref().map(|at| at.1);
            let file = at.map(|(file, _)| {
                Arc::clone(self.files.entry(file).or_insert_with_key(|file| file.as_str().into()))
            });
            StackFrame { function: function.into(), file, line, origin }
        });
        frames.collect()
    }

    /// The functions at an address that the debug information knows, and where in them it is.
    fn in_debug_info(&self, address: u64) -> Vec<(Option<String>, Option<Line>)> {
        let mut found = Vec::new();
        let frames = self.lines.as_ref().map(|lines| lines.find_frames(address).skip_all_loads());
        let Some(Ok(mut frames)) = frames else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|f| Some(f.raw_name().ok()?.into_owned()));
            let at = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line?)));
            found.push((function, at));
        }
        found
    }

    /// The symbol that an address is in.
    fn symbol(&self, address: u64) -> Option<&str> {
        let next = self.symbols.partition_point(|&(from, ..)| from <= address);
        let (_, to, name) = self.symbols.get(next.checked_sub(1)?)?;
        (address < *to).then_some(name)
    }
}
