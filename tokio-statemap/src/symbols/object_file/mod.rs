//! The symbols and line tables of a program or library.

mod debug_info;
mod name;
mod origin;
mod package;
mod symbol_table;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use object::Object as _;

use crate::symbols::{FrameOrigin, StackFrame};
use crate::util::map::Map;
use debug_info::{DebugInfo, Function};
use name::{Body, defined_in, is_mangled};
pub(super) use name::{demangle, readable};
use origin::Known;
#[cfg(feature = "cli")]
pub(crate) use package::package;
use symbol_table::SymbolTable;

/// An object file of a 64-bit system. Stacks aren't recorded on others, and a reader of several kinds of files is
/// compiled for each kind.
type Elf = object::read::elf::ElfFile64<'static>;

/// The symbols of a file, and its line tables if it has any.
pub(crate) struct ObjectFile {
    symbols: SymbolTable,
    debug_info: Option<DebugInfo>,
    /// The program's crate, if this is the program's file and it is known.
    program_crate: Option<String>,
    is_program: bool,
    /// The name of the file, for functions without a symbol.
    name: String,
    build_id: Option<String>,
    /// The paths of source files.
    sources: Map<Arc<str>, Arc<str>>,
}

impl std::fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} symbols", self.name, self.symbols.len())
    }
}

impl ObjectFile {
    /// Reads the file at `path`, which is a program or has its symbols. Its bytes stay in memory. The error describes a
    /// problem with it.
    #[cfg(feature = "read")]
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("can't be read: {error}"))?;
        Self::parse(bytes.leak(), path, true)
    }

    /// Parses the bytes of the file at `path`, which is the program itself or a library.
    pub(crate) fn parse(
        bytes: &'static [u8],
        path: &Path,
        is_program: bool,
    ) -> Result<Self, String> {
        let object = Elf::parse(bytes)
            .map_err(|error| format!("this is no program or library of this system: {error}"))?;
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let symbols = SymbolTable::read(&object);
        let debug_info = DebugInfo::read(&object, &name);
        let program_crate = if is_program { symbols.program_crate(&name) } else { None };
        let build_id = match object.build_id() {
            Ok(Some(id)) => Some(in_hex(id)),
            _ => None,
        };
        let sources = Map::default();
        Ok(Self { symbols, debug_info, program_crate, is_program, name, build_id, sources })
    }

    /// Returns the linker's id of the file.
    #[cfg(feature = "read")]
    pub(crate) fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// Returns the path of this library's function that contains an address in the file, by its symbol.
    #[cfg(has_stacks)]
    pub(crate) fn own_function(&self, address: u64) -> Option<String> {
        let symbol = self.symbols.at(address, None)?;
        symbol.contains(env!("CARGO_CRATE_NAME")).then(|| demangle(symbol))
    }

    /// Returns the functions at an address in the file, without debug information if `has_time` is false.
    pub(crate) fn frames(&mut self, address: u64, has_time: bool) -> Vec<StackFrame> {
        let mut functions = match &self.debug_info {
            Some(info) if has_time => info.functions(address),
            _ => Vec::new(),
        };
        if functions.is_empty() {
            functions.push(Function::default());
        }
        let mut frames = Vec::new();
        for i in 0..functions.len() {
            frames.push(self.frame(address, &functions, i));
        }
        frames
    }

    fn frame(&mut self, address: u64, functions: &[Function], i: usize) -> StackFrame {
        let function = &functions[i];
        let caller = functions.get(i + 1);
        let own = function.name.as_deref();
        // A function that wasn't inlined has a symbol. The debug information's symbol is the better one.
        let symbol = match own {
            Some(name) if is_mangled(name) => Some(name),
            _ if caller.is_none() => self.symbols.at(address, own),
            _ => None,
        };
        let path = match symbol {
            Some(symbol) => Some(demangle(symbol)),
            None => path_of(function, caller).or_else(|| function.name.clone()),
        };
        let file = function.file.as_deref();
        let known = Known {
            file,
            path: path.as_deref(),
            symbol,
            is_program: self.is_program,
            program_crate: self.program_crate.as_deref(),
        };
        let origin = FrameOrigin::from_known(known);
        let name = match path {
            Some(path) if path.starts_with('{') => nameless(&path).to_owned(),
            Some(path) => readable(&path, function.body),
            None => self.unknown(address),
        };
        let file = match (file, origin) {
            (Some(file), FrameOrigin::Program) => {
                Some(self.source(within(function.folder.as_deref(), file)))
            }
            (Some(file), _) => Some(self.source(file)),
            (None, _) => None,
        };
        StackFrame { function: name.into(), file, line: function.line, origin }
    }

    /// Returns the path of a source file. Each path is kept once.
    fn source(&mut self, file: &str) -> Arc<str> {
        if let Some(known) = self.sources.get(file) {
            return Arc::clone(known);
        }
        let file: Arc<str> = file.into();
        self.sources.insert(Arc::clone(&file), Arc::clone(&file));
        file
    }

    /// Returns the name of an unknown function: its address.
    fn unknown(&self, address: u64) -> String {
        super::address::name(address, &self.name, self.build_id.as_deref())
    }
}

pub(crate) fn in_hex(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// Returns the path of a file relative to `folder`, as in spawn locations and messages of panics.
fn within<'a>(folder: Option<&str>, file: &'a str) -> &'a str {
    match folder.and_then(|folder| file.strip_prefix(folder)) {
        Some(inner) => inner.strip_prefix('/').unwrap_or(file),
        None => file,
    }
}

/// Returns the name of a body when only its place is known.
fn nameless(name: &str) -> &'static str {
    match name {
        _ if name.starts_with("{async_block") => "an async block",
        _ if name.starts_with("{async_closure") => "an async closure",
        _ if name.starts_with("{async_") => "an async fn",
        _ => "a closure",
    }
}

/// Derives the path of an inlined closure or async body from its caller, which is generic over it or contains it. With
/// line tables alone, the debug information has nothing else.
fn path_of(function: &Function, caller: Option<&Function>) -> Option<String> {
    let (name, caller) = (function.name.as_deref()?, caller?);
    let body = function.body?;
    let of_caller = caller.name.as_deref()?;
    if let Some(path) = defined_in(name, of_caller) {
        return Some(path.to_owned());
    }
    // A closure that is called by its name is called where it is written. A future isn't: any function may have created
    // it.
    let is_there = body == Body::Closure && caller.file.is_some() && caller.file == function.file;
    (is_there && !is_mangled(of_caller) && caller.body.is_none()).then(|| of_caller.to_owned())
}
