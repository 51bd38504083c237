//! The names that tasks were given, by number, so that a record can hold one.

use std::sync::{Arc, Mutex};

use crate::util::map::Map;
use crate::util::sync::lock;

/// The most different names. Further tasks have none.
const MOST_NAMES: usize = 1 << 16;

/// The index of a name.
pub(crate) type NameId = u32;

struct Names {
    ids: Option<Map<Arc<str>, NameId>>,
    all: Vec<Arc<str>>,
}

static NAMES: Mutex<Names> = Mutex::new(Names { ids: None, all: Vec::new() });

/// Returns the number of `name`; `None` if there are too many.
pub(crate) fn id(name: &str) -> Option<NameId> {
    let mut names = lock(&NAMES);
    if let Some(&id) = names.ids.get_or_insert_default().get(name) {
        return Some(id);
    }
    let id = names.all.len();
    if id >= MOST_NAMES {
        return None;
    }
    let name: Arc<str> = name.into();
    names.all.push(Arc::clone(&name));
    names.ids.get_or_insert_default().insert(name, id as NameId);
    Some(id as NameId)
}

/// Returns all names, by number.
pub(crate) fn all() -> Vec<Arc<str>> {
    lock(&NAMES).all.clone()
}
