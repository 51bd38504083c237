//! The program and its libraries, so that a reader can look up their functions.

use crate::recorder::black_box::format::Module;
use crate::symbols::in_hex;
use crate::sys::threads::stack::modules::{LoadedModule, changes, copy, loaded};

/// Returns all modules, unless none was loaded or unloaded since `seen`, which is updated.
pub(crate) fn modules(seen: &mut Option<(u64, u64)>) -> Option<Vec<Module>> {
    let now = changes();
    if seen.replace(now) == Some(now) {
        return None;
    }
    let mut all = Vec::new();
    for module in loaded() {
        all.push(Module {
            build_id: build_id(&module),
            path: module.path.map(|path| path.to_string_lossy().into_owned()),
            is_program: module.is_program,
            base: module.base,
            range: (module.range.start, module.range.end),
        });
    }
    Some(all)
}

/// Returns the linker's id of a module, from its notes in memory.
fn build_id(module: &LoadedModule) -> Option<String> {
    /// The type of the note, and the name of its owner.
    const NT_GNU_BUILD_ID: u32 = 3;
    const OWNER: &[u8] = b"GNU\0";
    for range in &module.notes {
        let notes = copy(range);
        let mut rest = &notes[..];
        while let Some((head, after)) = rest.split_at_checked(12) {
            let word = |at: usize| {
                let word = head[at..at + 4].try_into().unwrap_or_default();
                u32::from_ne_bytes(word)
            };
            let (owner_len, len, kind) = (word(0) as usize, word(4) as usize, word(8));
            let owner_end = owner_len.next_multiple_of(4);
            let Some(owner) = after.get(..owner_len) else { break };
            let Some(id) = after.get(owner_end..owner_end + len) else { break };
            if kind == NT_GNU_BUILD_ID && owner == OWNER {
                return Some(in_hex(id));
            }
            rest = after.get(owner_end + len.next_multiple_of(4)..).unwrap_or_default();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_has_the_build_id_of_its_file() {
        let mut seen = None;
        let all = modules(&mut seen).unwrap();
        let program = all.iter().find(|module| module.is_program).unwrap();
        let bytes = std::fs::read(program.path.as_ref().unwrap()).unwrap();
        let file = object::File::parse(&bytes[..]).unwrap();
        let id = object::Object::build_id(&file).unwrap();
        assert_eq!(program.build_id, id.map(in_hex));
        let here = the_program_has_the_build_id_of_its_file as *const () as u64;
        assert!((program.range.0..program.range.1).contains(&here));
        assert_eq!(modules(&mut seen), None, "nothing was loaded since");
    }
}
