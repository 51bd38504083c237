//! The futures that suspend points await, by their types.

use std::cell::Cell;

use super::super::coroutine_name;
use super::types::{Shape, Type, TypeId};
use super::{Coroutines, states};

/// A future that is awaited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// The name of the type: for a future that was written by hand, its path.
    pub(crate) name: String,
    pub(crate) what: What,
    /// The futures within it: those that `join!` and `select!` poll, or the one that a timeout limits.
    pub(crate) inside: Vec<Awaited>,
}

/// The kind of a future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An async fn, block or closure.
    Coroutine(TypeId),
    /// A future whose type only the running program knows.
    Dyn,
    /// A future with a `poll` that was written by hand.
    Leaf,
}

/// The most types that contain each other.
const MAX_DEPTH: u32 = 12;

/// The most types that are read for one suspend point.
const MAX_STEPS: u32 = 2_000;

/// The most pointers that are followed in a row.
const MAX_HOPS: usize = 16;

impl Coroutines<'_> {
    /// Returns the future that a suspend point with this type of awaitee awaits.
    pub(crate) fn awaited(&self, awaitee: TypeId) -> Awaited {
        let steps = Cell::new(MAX_STEPS);
        Walk { of: self, steps: &steps }.awaited(awaitee, MAX_DEPTH)
    }

    /// Returns the target of pinned or boxed types and references.
    fn pointee(&self, id: TypeId) -> TypeId {
        let mut id = id;
        for _ in 0..MAX_HOPS {
            let Some(of_type) = self.type_of(id) else { break };
            id = match &of_type.shape {
                Shape::Pointer(Some(to)) => *to,
                Shape::Struct(members) if of_type.name.starts_with(b"Pin<") => match &members[..] {
                    [pinned] => pinned.of_type,
                    _ => break,
                },
                _ => break,
            };
        }
        id
    }

    fn name_of(&self, id: TypeId, of_type: &Type<'_>) -> String {
        let path = self.index.path(&self.sections, id);
        coroutine_name::of_type(&path, &of_type.name.to_string_lossy())
    }
}

/// A walk over types, with a limit on its steps.
#[derive(Clone, Copy)]
struct Walk<'w, 'a> {
    of: &'w Coroutines<'a>,
    steps: &'w Cell<u32>,
}

impl Walk<'_, '_> {
    fn awaited(self, id: TypeId, depth: u32) -> Awaited {
        let leaf = |name| Awaited { name, what: What::Leaf, inside: Vec::new() };
        let id = self.of.pointee(id);
        let steps = self.steps.get().checked_sub(1);
        let Some((steps, of_type)) = steps.zip(self.of.type_of(id)) else {
            return leaf("a type that can't be read".to_owned());
        };
        self.steps.set(steps);
        if states(&of_type).is_some() {
            let name = self.of.name_of(id, &of_type);
            return Awaited { name, what: What::Coroutine(id), inside: Vec::new() };
        }
        if is_dyn(&of_type) {
            let name = coroutine_name::of_dyn(&of_type.name.to_string_lossy());
            return Awaited { name, what: What::Dyn, inside: Vec::new() };
        }
        if let (Some(depth), Some(wrapped)) = (depth.checked_sub(1), self.maybe_done(&of_type)) {
            return self.awaited(wrapped, depth);
        }
        let mut awaited = leaf(self.of.name_of(id, &of_type));
        if let Some(depth) = depth.checked_sub(1) {
            let inside = match of_type.name.starts_with(b"PollFn<") {
                true => self.branches(&of_type),
                false => self.futures(&of_type, depth),
            };
            awaited.inside = inside.into_iter().map(|id| self.awaited(id, depth)).collect();
        }
        awaited
    }

    /// Returns the future that `join!` keeps until it is done.
    fn maybe_done(self, of_type: &Type<'_>) -> Option<TypeId> {
        let names: [&[u8]; 2] = [b"MaybeDone<", b"TryMaybeDone<"];
        let Shape::Enum(variants) = &of_type.shape else { return None };
        if !names.iter().any(|name| of_type.name.starts_with(name)) {
            return None;
        }
        let first = self.of.type_of(variants.first()?.member.of_type)?;
        match &first.shape {
            Shape::Struct(members) => members.first().map(|member| member.of_type),
            _ => None,
        }
    }

    /// Returns the futures that a closure polls. `select!` and `join!` capture them as a tuple, or one by
    /// one.
    fn branches(self, of_type: &Type<'_>) -> Vec<TypeId> {
        let Some(closure) = of_type.parameters.first() else { return Vec::new() };
        let Some(closure) = self.of.type_of(*closure) else { return Vec::new() };
        let Shape::Struct(captured) = &closure.shape else { return Vec::new() };
        let mut branches = Vec::new();
        for member in captured {
            let id = self.of.pointee(member.of_type);
            let Some(of_type) = self.of.type_of(id) else { continue };
            match &of_type.shape {
                Shape::Struct(members) if of_type.name.starts_with(b"(") => {
                    // Tokio's macros use this name.
                    let are_futures = member.name.slice().ends_with(b"futures");
                    let all = members.iter().map(|member| member.of_type);
                    branches.extend(all.filter(|id| are_futures || self.is_future(*id, 6)));
                }
                _ if self.is_future(id, 6) => branches.push(id),
                _ => {}
            }
        }
        branches
    }

    /// Returns the futures that a type is generic over.
    fn futures(self, of_type: &Type<'_>, depth: u32) -> Vec<TypeId> {
        let mut parameters = self.parameters(of_type);
        parameters.retain(|id| self.is_future(*id, depth.min(6)));
        parameters
    }

    /// Returns `true` if it is a coroutine or a future of unknown type, or is generic over one.
    fn is_future(self, id: TypeId, depth: u32) -> bool {
        let Some(steps) = self.steps.get().checked_sub(1) else { return false };
        self.steps.set(steps);
        let Some(of_type) = self.of.type_of(self.of.pointee(id)) else { return false };
        if states(&of_type).is_some() {
            return true;
        }
        if is_dyn(&of_type) {
            return of_type.name.to_string_lossy().contains("dyn core::future::future::Future<");
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.parameters(&of_type).into_iter().any(|id| self.is_future(id, depth))
    }

    /// Returns the types that a type is generic over. For an enum, they are at its variants.
    fn parameters(self, of_type: &Type<'_>) -> Vec<TypeId> {
        let mut parameters = of_type.parameters.clone();
        if let Shape::Enum(variants) = &of_type.shape {
            let of_first = variants.first().and_then(|first| self.of.type_of(first.member.of_type));
            parameters.extend(of_first.iter().flat_map(|of_type| &of_type.parameters));
        }
        parameters
    }
}

/// Returns `true` if it is a pointer to a trait object.
fn is_dyn(of_type: &Type<'_>) -> bool {
    match &of_type.shape {
        Shape::Struct(members) => members.iter().any(|member| member.name.slice() == b"vtable"),
        _ => false,
    }
}
