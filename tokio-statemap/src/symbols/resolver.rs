//! Looks addresses of this process up.

use std::collections::HashMap;
use std::sync::Arc;

use super::StackFrame;
use super::object_file::ObjectFile;
use crate::sys::threads::stack::modules::{LoadedModule, loaded};

/// Looks addresses of this process up.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    modules: Vec<LoadedModule>,
    files: HashMap<u64, Option<ObjectFile>>,
    frames: HashMap<u64, Arc<[StackFrame]>>,
}

impl Resolver {
    /// The functions at an address: those that were inlined there before the one that they are in.
    /// None if nothing is known of it.
    pub(crate) fn frames(&mut self, address: u64) -> Arc<[StackFrame]> {
        if let Some(known) = self.frames.get(&address) {
            return Arc::clone(known);
        }
        let frames: Arc<[StackFrame]> = self.look_up(address).into();
        self.frames.insert(address, Arc::clone(&frames));
        frames
    }

    fn look_up(&mut self, address: u64) -> Vec<StackFrame> {
        let find = |modules: &[LoadedModule]| {
            let module = modules.iter().position(|module| module.range.contains(&address))?;
            let module = &modules[module];
            Some((module.is_program, module.base, module.path.clone()))
        };
        let found = find(&self.modules).or_else(|| {
            self.modules = loaded();
            find(&self.modules)
        });
        let Some((is_program, base, path)) = found else { return Vec::new() };
        let file = self.files.entry(base).or_insert_with(|| ObjectFile::open(&path?).ok());
        let Some(file) = file else { return Vec::new() };
        file.frames(address.wrapping_sub(base), is_program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::FrameOrigin;

    #[inline(never)]
    fn here() -> u64 {
        let address: u64;
        // SAFETY: it only reads the instruction pointer.
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!("lea {}, [rip]", out(reg) address);
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            address = here as fn() -> u64 as usize as u64;
        }
        address
    }

    #[test]
    fn a_function_of_this_program_has_its_name_and_line() {
        let mut resolver = Resolver::default();
        let frames = resolver.frames(here());
        let frame = frames.last().unwrap();
        assert_eq!(&*frame.function, "tokio_statemap::symbols::resolver::tests::here");
        let (file, line) = (frame.file.as_ref().unwrap(), frame.line.unwrap());
        assert!(file.ends_with("symbols/resolver.rs"), "{file}");
        assert!((50..80).contains(&line), "{line}");
        assert!(resolver.frames(0).is_empty() && resolver.frames(u64::MAX).is_empty());
    }

    #[test]
    fn a_function_of_a_library_has_its_name() {
        let frames = Resolver::default().frames(libc::getpid as *const () as u64 + 1);
        assert_eq!(frames[0].origin, FrameOrigin::System);
        assert!(frames[0].function.contains("getpid"), "{frames:?}");
    }
}
