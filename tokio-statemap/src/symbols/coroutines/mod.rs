//! The coroutines of a program: its async fns, blocks and closures, the points at which each may be suspended, and what
//! it awaits there. All is read from the debug information alone.
//!
//! The compiler describes the type of a coroutine as an enum of its states. Those after the first three
//! (unresumed, returned, panicked) are the suspend points, in the order of the source; each has the line
//! of its `.await`, and what it awaits as the field `__awaitee`.

mod awaited;
mod entry;
mod index;
mod place;
mod sections;
mod types;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use index::{Index, is_coroutine};
use sections::{Sections, damaged};
use types::{Member, Shape, Type, Variant};

use super::coroutine_name;
pub(crate) use super::coroutine_name::Kind;
pub(crate) use awaited::{Awaited, What};
pub(crate) use place::Place;
pub(crate) use types::TypeId;

use crate::util::sync::lock;

/// The most entries that are read for types, as a multiple of all entries. A type is read only once.
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
    /// A key that all instances of the coroutine share, and no other coroutine has.
    pub(crate) key: String,
    /// The path of the function, or of the one around the block or closure, as a person would write it.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    /// The place where it begins.
    pub(crate) begin: Option<Place>,
    /// The place where it ends.
    pub(crate) end: Option<Place>,
    /// The suspend points, in the order of the source.
    pub(crate) points: Vec<SuspendPoint>,
}

/// A place where a coroutine may be suspended.
#[derive(Clone, Debug)]
pub(crate) struct SuspendPoint {
    /// The place of the `.await`. It is in another file if a macro wrote it.
    pub(crate) place: Option<Place>,
    /// The type of its awaitee, or `None` if the debug information lacks it.
    pub(crate) awaitee: Option<TypeId>,
}

impl std::fmt::Debug for Coroutines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} coroutines in {} entries", self.all().len(), self.index.entries)
    }
}

impl Coroutines<'static> {
    /// Reads the file at `path`, whose bytes stay in memory. The error describes a problem with the file.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("can't be read: {error}"))?;
        Self::read(bytes.leak())
    }
}

impl<'a> Coroutines<'a> {
    /// Reads a file's bytes. The error describes a problem with them.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let sections = Sections::read(bytes)?;
        let index = Index::build(&sections)?;
        Ok(Self { sections, index, read: Mutex::default() })
    }

    /// Returns the types of all coroutines, each as often as it is in the debug information.
    pub(crate) fn all(&self) -> &[TypeId] {
        &self.index.coroutines
    }

    /// Returns the coroutine of this type, or `None` if the type is none. The error describes a problem with the debug
    /// information.
    pub(crate) fn coroutine(&self, id: TypeId) -> Result<Option<Coroutine>, String> {
        let Some(of_type) = self.try_type_of(id).map_err(damaged)? else { return Ok(None) };
        let Some(states) = states(&of_type) else { return Ok(None) };
        let place = |state: &Variant<'a>| self.place(id, state);
        let own_name = of_type.name.to_string_lossy();
        let scope = self.index.path(&self.sections, id);
        // The types of an instance are between brackets.
        let instance_of = own_name.split('<').next().unwrap_or_default();
        let begin = states.first().and_then(place);
        let at = begin.as_ref().map_or_else(String::new, ToString::to_string);
        Ok(Some(Coroutine {
            key: format!("{scope}::{instance_of} {at}"),
            path: coroutine_name::of_scope(&scope, self.index.symbol(&scope).as_deref()),
            kind: Kind::from_name(&own_name),
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
        Place::read(&self.sections, id.unit, state.file?, state.line?)
    }

    /// Returns a type, or `None` if it can't be read.
    fn type_of(&self, id: TypeId) -> Option<Arc<Type<'a>>> {
        self.try_type_of(id).ok().flatten()
    }

    /// Returns a type, or `None` if the limit of entries is reached.
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

/// Returns the states of a coroutine, or `None` for other types.
fn states<'t, 'a>(of_type: &'t Type<'a>) -> Option<&'t [Variant<'a>]> {
    match &of_type.shape {
        Shape::Enum(variants) if is_coroutine(&of_type.name) => Some(variants),
        _ => None,
    }
}

fn is_awaitee(member: &Member<'_>) -> bool {
    member.name.slice() == b"__awaitee"
}
