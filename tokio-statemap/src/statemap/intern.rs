//! The names of files in spawn locations, which live as long as the program.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::util::sync::lock;

/// How many bytes of names there may be in all. The files of a program have some kilobytes.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
struct Names {
    names: Option<HashSet<&'static str>>,
    bytes: usize,
}

static NAMES: Mutex<Names> = Mutex::new(Names { names: None, bytes: 0 });

/// The same text, but for ever: each that is another is leaked once. `None` if there were too many.
pub(super) fn intern(text: &str) -> Option<&'static str> {
    let mut interned = lock(&NAMES);
    let Names { names, bytes } = &mut *interned;
    let names = names.get_or_insert_default();
    if let Some(name) = names.get(text) {
        return Some(name);
    }
    *bytes = bytes.checked_add(text.len()).filter(|&bytes| bytes <= MOST_BYTES)?;
    let name: &'static str = text.to_owned().leak();
    names.insert(name);
    Some(name)
}
