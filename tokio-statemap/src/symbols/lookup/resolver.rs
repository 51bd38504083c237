//! Looks up addresses of this process.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(all(has_black_box, feature = "read"))]
use crate::symbols::FrameOrigin;
use crate::symbols::StackFrame;
use crate::symbols::object_file::ObjectFile;
use crate::sys::mapped::map;
use crate::sys::threads::cpu_ns;
use crate::sys::threads::stack::modules::{LoadedModule, loaded};
use crate::util::map::Map;
use crate::util::message::warn;

/// The limit of processor time for looking up functions, in each use. Beyond it, names are those of symbols, without
/// lines.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The limit of elapsed time. On a busy machine, the same work takes many times as long.
const MAX_ELAPSED: Duration = Duration::from_secs(60);

/// Looks up addresses of this process.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    modules: Vec<LoadedModule>,
    files: Map<u64, Option<ObjectFile>>,
    frames: Map<u64, Arc<[StackFrame]>>,
    /// The processor time spent in this use, as far as it is known.
    spent: Duration,
    /// The start of this use.
    since: Option<Instant>,
    /// `true` once a message said that functions have no lines for lack of time.
    is_told: bool,
    /// The reason why the program's own file could not be read, if it couldn't.
    problem: Option<io::ErrorKind>,
    /// The names and build ids of the modules by their bases, if these are of another process.
    #[cfg(all(has_black_box, feature = "read"))]
    others: Option<Map<u64, (String, Option<String>)>>,
}

impl Resolver {
    /// Returns the functions at an address: those that were inlined there, before the one that contains it.
    /// Returns none for an unknown address.
    pub(crate) fn frames(&mut self, address: u64) -> Arc<[StackFrame]> {
        if let Some(known) = self.frames.get(&address) {
            return Arc::clone(known);
        }
        if !self.has_time() {
            if !std::mem::replace(&mut self.is_told, true) {
                warn(format_args!(
                    "some functions have no lines: looking up the others took over 10 s of processor time, or 60 s"
                ));
            }
            // The result isn't kept, as another use may have the time.
            return self.look_up(address, false).into();
        }
        let frames: Arc<[StackFrame]> =
            self.timed(|resolver| resolver.look_up(address, true)).into();
        self.frames.insert(address, Arc::clone(&frames));
        frames
    }

    /// Begins a use, which has its own limits of time.
    pub(crate) fn begin(&mut self) {
        self.spent = Duration::ZERO;
        self.since = Some(Instant::now());
    }

    fn has_time(&self) -> bool {
        self.spent < MAX_TIME && self.since.is_none_or(|since| since.elapsed() < MAX_ELAPSED)
    }

    /// Calls `f`, and counts the processor time that it takes.
    fn timed<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let began_ns = cpu_ns();
        let result = f(self);
        if let (Some(from), Some(to)) = (began_ns, cpu_ns()) {
            self.spent += Duration::from_nanos(to.saturating_sub(from));
        }
        result
    }

    /// Returns the reason why functions of the program have no names, if there is one.
    pub(crate) fn problem(&self) -> Option<io::ErrorKind> {
        self.problem
    }

    /// Returns the path of this library's function that contains an address, without inlined functions. Unlike a look
    /// at the debug information, that takes little time once the file is read.
    pub(crate) fn own_function(&mut self, address: u64) -> Option<String> {
        self.timed(|resolver| {
            let (file, address) = resolver.file(address)?;
            file.own_function(address)
        })
    }

    fn look_up(&mut self, address: u64, has_time: bool) -> Vec<StackFrame> {
        match self.file(address) {
            Some((file, address)) => file.frames(address, has_time),
            None => self.address_in_other(address).into_iter().collect(),
        }
    }

    /// Returns the address of another process as it is in its file, where that file isn't there.
    #[cfg(all(has_black_box, feature = "read"))]
    fn address_in_other(&self, address: u64) -> Option<StackFrame> {
        let module = self.module(address)?;
        let (name, build_id) = self.others.as_ref()?.get(&module.base)?;
        let address = address.wrapping_sub(module.base);
        let function = crate::symbols::address::name(address, name, build_id.as_deref());
        let origin = match module.is_program {
            true => FrameOrigin::Program,
            false => FrameOrigin::System,
        };
        Some(StackFrame { function: function.into(), file: None, line: None, origin })
    }

    #[cfg(not(all(has_black_box, feature = "read")))]
    fn address_in_other(&self, _: u64) -> Option<StackFrame> {
        None
    }

    /// Creates a resolver for the addresses of another process with these modules, each with its build id.
    #[cfg(all(has_black_box, feature = "read"))]
    pub(crate) fn of_other(modules: Vec<(LoadedModule, Option<String>)>) -> Self {
        let (mut all, mut others) = (Vec::new(), Map::default());
        for (module, build_id) in modules {
            let name = module.path.as_deref().and_then(Path::file_name).unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            others.get_or_insert_with(module.base, || (name, build_id));
            all.push(module);
        }
        Self { modules: all, others: Some(others), ..Self::default() }
    }

    /// Returns whether addresses are those of this process, in which more modules may be loaded.
    fn is_of_this_process(&self) -> bool {
        #[cfg(all(has_black_box, feature = "read"))]
        return self.others.is_none();
        #[cfg(not(all(has_black_box, feature = "read")))]
        true
    }

    /// Returns whether a file is the one that another process had loaded there.
    fn is_right(&self, base: u64, file: &ObjectFile) -> bool {
        #[cfg(all(has_black_box, feature = "read"))]
        if let Some((_, Some(build_id))) = self.others.as_ref().and_then(|all| all.get(&base)) {
            return file.build_id() == Some(build_id);
        }
        let _ = (base, file);
        true
    }

    /// Returns the file that contains an address, and the address in the file.
    fn file(&mut self, address: u64) -> Option<(&mut ObjectFile, u64)> {
        if self.module(address).is_none() && self.is_of_this_process() {
            self.modules = loaded();
        }
        let module = self.module(address)?;
        let (base, is_program) = (module.base, module.is_program);
        if self.files.get(&base).is_none() {
            let is_own = is_program && self.is_of_this_process();
            let file = read(module.path.as_deref(), is_program, is_own);
            if let (Err(problem), true) = (&file, is_program) {
                self.problem = Some(*problem);
            }
            let file = file.ok().filter(|file| self.is_right(base, file));
            self.files.insert(base, file);
        }
        let file = self.files.get_mut(&base)?.as_mut()?;
        Some((file, address.wrapping_sub(base)))
    }

    fn module(&self, address: u64) -> Option<&LoadedModule> {
        self.modules.iter().find(|module| module.range.contains(&address))
    }
}

/// Reads the file of the program or of a library.
fn read(path: Option<&Path>, is_program: bool, is_own: bool) -> Result<ObjectFile, io::ErrorKind> {
    let path = path.ok_or(io::ErrorKind::NotFound)?;
    // This is the program's file even if it was moved.
    let opened = if is_own { Path::new("/proc/self/exe") } else { path };
    // Another process may name anything, and a pipe would be waited for.
    if !is_own && !opened.metadata().map_err(|error| error.kind())?.is_file() {
        return Err(io::ErrorKind::InvalidInput);
    }
    let bytes = File::open(opened).and_then(|file| map(&file)).map_err(|error| error.kind())?;
    ObjectFile::parse(bytes, path, is_program).map_err(|_| io::ErrorKind::InvalidData)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::FrameOrigin;

    #[inline(always)]
    fn inlined() -> u64 {
        let address: u64;
        // SAFETY: it only reads the instruction pointer.
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!("lea {}, [rip]", out(reg) address);
        }
        // SAFETY: the same.
        #[cfg(target_arch = "aarch64")]
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!("adr {}, .", out(reg) address);
        }
        address
    }

    const LINE_OF_HERE: u32 = line!() + 2;
    #[inline(never)]
    fn here() -> u64 {
        inlined()
    }

    #[inline(never)]
    async fn body() -> u64 {
        here_in_body()
    }

    #[inline(always)]
    fn here_in_body() -> u64 {
        inlined()
    }

    #[test]
    fn a_function_of_this_program_has_its_name_and_line() {
        let mut resolver = Resolver::default();
        let frames = resolver.frames(here());
        let frame = frames.last().unwrap();
        assert_eq!(&*frame.function, "tokio_statemap::symbols::lookup::resolver::tests::here");
        assert_eq!(frame.origin, FrameOrigin::Runtime);
        assert!(frame.file.as_ref().unwrap().ends_with("symbols/lookup/resolver.rs"), "{frame:?}");
        assert_eq!(frame.line, Some(LINE_OF_HERE + 1), "{frame:?}");
        assert!(resolver.frames(0).is_empty() && resolver.frames(u64::MAX).is_empty());
    }

    #[test]
    fn what_was_inlined_comes_first() {
        let frames = Resolver::default().frames(here());
        let names: Vec<_> = frames.iter().map(|frame| &*frame.function).collect();
        let [inlined, here] = names[..] else { panic!("{names:?}") };
        // The debug information may only have the function's own name.
        assert!(inlined == "inlined" || inlined.ends_with("tests::inlined"), "{inlined}");
        assert!(here.ends_with("tests::here"), "{here}");
        assert!(frames.iter().all(|frame| frame.file.is_some() && frame.line.is_some()));
    }

    #[test]
    fn the_body_of_an_async_fn_is_called_so() {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let polled = std::pin::pin!(body()).poll(&mut cx);
        let std::task::Poll::Ready(address) = polled else { panic!("it doesn't wait") };
        let frames = Resolver::default().frames(address);
        let of_body = frames.iter().find(|frame| frame.function.starts_with("async "));
        let name = "async tokio_statemap::symbols::lookup::resolver::tests::body";
        assert_eq!(&*of_body.unwrap().function, name, "{frames:?}");
    }

    /// The compiler gives some instructions no line.
    #[test]
    fn each_instruction_has_a_line() {
        #[inline(never)]
        fn repeats(times: u64) -> u64 {
            let mut x = 0;
            for i in 0..times {
                x = std::hint::black_box(x * 3 + i);
            }
            x
        }
        assert_eq!(repeats(3), 5);
        let (mut resolver, begin) = (Resolver::default(), repeats as *const () as u64);
        let is_in = |frames: &[StackFrame]| {
            frames.last().is_some_and(|frame| frame.function.ends_with("::repeats"))
        };
        let all = (begin + 1..begin + 4096).map(|address| resolver.frames(address));
        let all: Vec<_> = all.take_while(|frames| is_in(frames)).collect();
        assert!(all.len() > 20, "{}", all.len());
        let without =
            all.iter().flat_map(|frames| frames.iter()).find(|frame| frame.line.is_none());
        assert_eq!(without, None);
    }

    #[test]
    fn without_time_there_are_names_alone() {
        let mut resolver = Resolver { spent: MAX_TIME, ..Resolver::default() };
        let address = here();
        let frames = resolver.frames(address);
        let [here] = &frames[..] else { panic!("{frames:?}") };
        assert!(here.function.ends_with("tests::here") && here.file.is_none(), "{here:?}");

        // Each use has its own time.
        resolver.begin();
        let frames = resolver.frames(address);
        assert!(frames.last().is_some_and(|frame| frame.line.is_some()), "{frames:?}");
    }

    #[test]
    fn a_program_that_can_t_be_read_is_a_reason() {
        let mut resolver = Resolver::default();
        assert!(!resolver.frames(here()).is_empty());
        assert_eq!(resolver.problem(), None);
        resolver.files = Map::default();
        resolver.frames = Map::default();
        resolver.modules.iter_mut().for_each(|module| module.path = None);
        assert!(resolver.frames(here()).is_empty());
        assert_eq!(resolver.problem(), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn a_function_of_a_library_has_its_name() {
        let frames = Resolver::default().frames(libc::getpid as *const () as u64 + 1);
        assert_eq!(frames[0].origin, FrameOrigin::System);
        assert!(frames[0].function.contains("getpid"), "{frames:?}");
    }
}
