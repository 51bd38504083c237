//! The coroutines of a program: its async fns, blocks and closures, where each may be suspended, and what
//! it awaits there, from the debug information alone.
//!
//! The compiler describes the type of a coroutine as an enum of its states. Those after the first three
//! (unresumed, returned, panicked) are the suspend points, in the order of the source; each has the line
//! of its `.await`, and what it awaits as the field `__awaitee`.

mod awaited;
#[cfg(all(
    feature = "dwarf",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod cells;
mod entry;
mod index;
mod name;
mod place;
mod sections;
mod types;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use index::{Index, is_coroutine};
use sections::{Sections, damaged};
use types::{Member, Shape, Type, Variant};

#[cfg(feature = "cli")]
pub(crate) use awaited::{Awaited, What};
pub(crate) use name::Kind;
pub(crate) use place::Place;
pub(crate) use types::TypeId;

use crate::util::sync::lock;

/// How many entries are read for types at most, in all, as a multiple of how many there are. A type that
/// is asked for again is not read again.
const MAX_REPEATS: u64 = 4;

/// The coroutines of a file with debug information.
pub(crate) struct Coroutines<'a> {
    sections: Sections<'a>,
    index: Index<'a>,
    read: Mutex<Read<'a>>,
}

/// The types that were read so far.
#[derive(Default)]
struct Read<'a> {
    types: HashMap<TypeId, Option<Arc<Type<'a>>>>,
    entries: u64,
}

/// An async fn, block or closure: one instance of it, if it is generic.
#[derive(Clone, Debug)]
pub(crate) struct Coroutine {
    /// What tells it from all others but its own instances.
    pub(crate) key: String,
    /// The path of the function, or of that which the block or closure is in, as a person would write it.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    /// Where it begins.
    pub(crate) begin: Option<Place>,
    /// Where it ends.
    pub(crate) end: Option<Place>,
    /// In the order of the source.
    pub(crate) points: Vec<SuspendPoint>,
}

/// Where a coroutine may be suspended.
#[derive(Clone, Debug)]
pub(crate) struct SuspendPoint {
    /// The place of the `.await`. It is in another file if a macro wrote it.
    pub(crate) place: Option<Place>,
    /// What it awaits; `None` if the debug information doesn't say.
    pub(crate) awaitee: Option<TypeId>,
}

impl std::fmt::Debug for Coroutines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} coroutines in {} entries", self.all().len(), self.index.entries)
    }
}

impl Coroutines<'static> {
    /// Reads the file at `path`; an error is what is wrong with it. Its bytes stay in memory.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("can't be read: {error}"))?;
        Self::read(bytes.leak())
    }
}

impl<'a> Coroutines<'a> {
    /// Reads the file of these bytes; an error is what is wrong with it.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let sections = Sections::of(bytes)?;
        let index = Index::of(&sections)?;
        Ok(Self { sections, index, read: Mutex::default() })
    }

    /// The types of all coroutines: each as often as the debug information has it.
    pub(crate) fn all(&self) -> &[TypeId] {
        &self.index.coroutines
    }

    /// The coroutine of this type; an error is what is wrong with the debug information. `None` if the
    /// type is none.
    pub(crate) fn coroutine(&self, id: TypeId) -> Result<Option<Coroutine>, String> {
        let Some(of_type) = self.try_type_of(id).map_err(damaged)? else { return Ok(None) };
        let Some(states) = states(&of_type) else { return Ok(None) };
        let place = |state: &Variant<'a>| self.place(id, state);
        let own_name = of_type.name.to_string_lossy();
        let scope = self.index.path(&self.sections, id);
        // The instances of one have their types between brackets.
        let instance_of = own_name.split('<').next().unwrap_or_default();
        let begin = states.first().and_then(place);
        let at = begin.as_ref().map_or_else(String::new, ToString::to_string);
        Ok(Some(Coroutine {
            key: format!("{scope}::{instance_of} {at}"),
            path: name::of_scope(&scope, self.index.symbol(&scope).as_deref()),
            kind: Kind::of(&own_name),
            begin,
            end: states.get(1).and_then(place),
            points: states.iter().skip(3).map(|state| self.point(id, state)).collect(),
        }))
    }

    fn point(&self, id: TypeId, state: &Variant<'a>) -> SuspendPoint {
        let awaitee =
            self.type_of(state.member.of_type).and_then(|of_state| match &of_state.shape {
                Shape::Struct(members) => members.iter().find(|member| is_awaitee(member)).copied(),
                _ => None,
            });
        let awaitee = awaitee.map(|member| member.of_type);
        SuspendPoint { place: self.place(id, state), awaitee }
    }

    fn place(&self, id: TypeId, state: &Variant<'a>) -> Option<Place> {
        Place::of(&self.sections, id.unit, state.file?, state.line?)
    }

    /// A type; `None` if it can't be read.
    fn type_of(&self, id: TypeId) -> Option<Arc<Type<'a>>> {
        self.try_type_of(id).ok().flatten()
    }

    /// A type; `None` if more was read than any file needs.
    fn try_type_of(&self, id: TypeId) -> gimli::Result<Option<Arc<Type<'a>>>> {
        let mut read = lock(&self.read);
        if let Some(known) = read.types.get(&id) {
            return Ok(known.clone());
        }
        if read.entries > self.index.entries.saturating_mul(MAX_REPEATS) {
            return Ok(None);
        }
        let done = Type::read(&self.sections, id);
        let known = done.as_ref().ok().map(|(of_type, _)| Arc::new(of_type.clone()));
        read.entries += done.as_ref().map_or(1, |(_, entries)| *entries as u64);
        read.types.insert(id, known.clone());
        done.map(|_| known)
    }
}

/// The states of a coroutine; `None` if the type is none.
fn states<'t, 'a>(of_type: &'t Type<'a>) -> Option<&'t [Variant<'a>]> {
    match &of_type.shape {
        Shape::Enum { variants, .. } if is_coroutine(&of_type.name) => Some(variants),
        _ => None,
    }
}

fn is_awaitee(member: &Member<'_>) -> bool {
    member.name.slice() == b"__awaitee"
}
