//! The names of files in spawn locations, which live as long as the program.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::util::sync::lock;

/// The most bytes of names in all. The files of a program have some kilobytes.
const MOST_BYTES: usize = 16 << 20;

#[derive(Debug, Default)]
struct Names {
    names: Option<HashSet<&'static str>>,
    bytes: usize,
}

static NAMES: Mutex<Names> = Mutex::new(Names { names: None, bytes: 0 });

/// Returns the same text with a static lifetime. Each distinct text is leaked once. Returns `None` if there are too
/// many.
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
