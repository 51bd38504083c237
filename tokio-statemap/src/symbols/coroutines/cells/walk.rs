//! The walk from a future in memory to what it awaits.

use std::cell::Cell;

use super::{AwaitNode, Cells, Memory};
use crate::symbols::coroutines::types::{Member, Shape, Type, Variant};
use crate::symbols::coroutines::{Coroutines, TypeId, name, states};

/// The most futures that contain each other.
const MAX_DEPTH: u32 = 64;

/// The most types that are read for one task.
const MAX_STEPS: u32 = 20_000;

/// The depth to which a type is searched for futures.
const MAX_NESTED: u32 = 8;

/// The most elements of a slice that are looked at.
const MAX_ELEMENTS: u64 = 64;

/// The states of a coroutine from this one on are suspend points. Before, it hasn't begun, or is done.
const SUSPENDED: usize = 3;

/// A walk over a task, with a limit on its steps.
pub(super) struct Walk<'w, 'a> {
    cells: &'w Cells<'a>,
    of: &'w Coroutines<'a>,
    base: u64,
    memory: &'w dyn Memory,
    steps: Cell<u32>,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(cells: &'w Cells<'a>, base: u64, memory: &'w dyn Memory) -> Self {
        Self { cells, of: &cells.of, base, memory, steps: Cell::new(MAX_STEPS) }
    }

    /// Returns what the future of a task's stage awaits, or `None` if the task is done.
    pub(super) fn running(&self, stage: TypeId, at: u64) -> Option<AwaitNode> {
        let (mut id, mut at) = (stage, at);
        for _ in 0..MAX_NESTED {
            let of_type = self.of.type_of(id)?;
            match &of_type.shape {
                Shape::Struct(members) => match members[..] {
                    [member] => (id, at) = (member.of_type, at.checked_add(member.offset)?),
                    _ => return None,
                },
                Shape::Enum { .. } => {
                    let (variant, at) = self.variant(&of_type, at)?;
                    if variant.member.name.slice() != b"Running" {
                        return None;
                    }
                    let of_variant = self.of.type_of(variant.member.of_type)?;
                    let Shape::Struct(members) = &of_variant.shape else { return None };
                    let future = members.first()?;
                    let at = at.checked_add(future.offset)?;
                    return self.future(future.of_type, at, MAX_DEPTH).into_iter().next();
                }
                _ => return None,
            }
        }
        None
    }

    /// Reads the future at `at`: usually one node, none if it is done, several if it is a tuple.
    fn future(&self, id: TypeId, at: u64, depth: u32) -> Vec<AwaitNode> {
        self.step(depth).and_then(|depth| self.try_future(id, at, depth)).unwrap_or_default()
    }

    fn try_future(&self, id: TypeId, at: u64, depth: u32) -> Option<Vec<AwaitNode>> {
        let of_type = self.of.type_of(id)?;
        if states(&of_type).is_some() {
            return Some(self.coroutine(id, &of_type, at, depth)?.into_iter().collect());
        }
        match &of_type.shape {
            Shape::Pointer(Some(to)) => Some(self.future(*to, self.memory.word(at)?, depth)),
            Shape::Struct(members) => {
                let named = |name: &[u8]| members.iter().find(|m| m.name.slice() == name);
                if let Some(table) = named(b"vtable") {
                    return Some(vec![self.behind_dyn(&of_type, members, table, at, depth)?]);
                }
                if let Some(length) = named(b"length") {
                    return self.slice(members, length, at, depth);
                }
                if of_type.name.starts_with(b"Pin<") {
                    let pinned = members.first()?;
                    return Some(self.future(
                        pinned.of_type,
                        at.checked_add(pinned.offset)?,
                        depth,
                    ));
                }
                let inside = match of_type.name.starts_with(b"PollFn<") {
                    true => self.captured(&of_type, at, depth),
                    false => self.members(members, at, depth),
                };
                match is_transparent(&of_type) {
                    true => Some(inside),
                    false => Some(vec![self.leaf(id, &of_type, inside)]),
                }
            }
            Shape::Enum { .. } => {
                let (variant, at) = self.variant(&of_type, at)?;
                let of_variant = self.of.type_of(variant.member.of_type)?;
                let Shape::Struct(members) = &of_variant.shape else { return None };
                if of_type.name.starts_with(b"MaybeDone<")
                    || of_type.name.starts_with(b"TryMaybeDone<")
                {
                    // The result of one that is done isn't a future.
                    let future = members.first()?;
                    return match variant.member.name.slice() {
                        b"Future" => {
                            Some(self.future(future.of_type, at.checked_add(future.offset)?, depth))
                        }
                        _ => None,
                    };
                }
                Some(vec![self.leaf(id, &of_type, self.members(members, at, depth))])
            }
            _ => None,
        }
    }

    /// `None` if it is done, or has not begun.
    fn coroutine(
        &self,
        id: TypeId,
        of_type: &Type<'a>,
        at: u64,
        depth: u32,
    ) -> Option<Option<AwaitNode>> {
        let (state, at) = self.variant(of_type, at)?;
        let number = states(of_type)?.iter().position(|s| {
            s.member.offset == state.member.offset && s.discriminant == state.discriminant
        })?;
        // One that hasn't begun isn't awaited: a branch of `select!` that is switched off.
        let Some(number) = number.checked_sub(SUSPENDED) else { return Some(None) };
        let point = self.cells.point(id, number, state.member.of_type)?;
        let mut children = match point.awaitee {
            Some((of_type, offset)) => self.future(of_type, at.checked_add(offset)?, depth),
            None => Vec::new(),
        };
        if let (Some(name), [one]) = (point.of_macro, &mut children[..]) {
            one.function = name.to_owned();
        }
        Some(Some(AwaitNode {
            function: point.function.clone(),
            kind: Some(point.kind),
            file: point.file.clone(),
            line: point.line,
            children,
        }))
    }

    /// Returns the future behind `dyn`, by its table.
    fn behind_dyn(
        &self,
        of_type: &Type<'_>,
        members: &[Member<'_>],
        table: &Member<'_>,
        at: u64,
        depth: u32,
    ) -> Option<AwaitNode> {
        let data = members.iter().find(|member| member.offset != table.offset)?;
        let future = self.memory.word(at.checked_add(data.offset)?)?;
        let table = self.memory.word(at.checked_add(table.offset)?)?;
        let known = self.cells.tables.get(&table.wrapping_sub(self.base));
        let known = known.and_then(|id| self.future(*id, future, depth).into_iter().next());
        Some(known.unwrap_or_else(|| AwaitNode {
            function: name::of_dyn(&of_type.name.to_string_lossy()),
            kind: None,
            file: None,
            line: None,
            children: Vec::new(),
        }))
    }

    /// Returns the futures of a slice.
    fn slice(
        &self,
        members: &[Member<'_>],
        length: &Member<'_>,
        at: u64,
        depth: u32,
    ) -> Option<Vec<AwaitNode>> {
        let data = members.iter().find(|member| member.offset != length.offset)?;
        let Shape::Pointer(Some(element)) = self.of.type_of(data.of_type)?.shape else {
            return None;
        };
        let size = self.of.type_of(element)?.size?;
        let from = self.memory.word(at.checked_add(data.offset)?)?;
        let length = self.memory.word(at.checked_add(length.offset)?)?;
        let all =
            (0..length.min(MAX_ELEMENTS)).filter_map(|i| from.checked_add(i.checked_mul(size)?));
        Some(all.flat_map(|at| self.future(element, at, depth)).collect())
    }

    /// Returns the futures that a closure has captured, as in `join!` and `select!`.
    fn captured(&self, of_type: &Type<'_>, at: u64, depth: u32) -> Vec<AwaitNode> {
        let Shape::Struct(members) = &of_type.shape else { return Vec::new() };
        let Some(closure) = members.first() else { return Vec::new() };
        let Some(of_closure) = self.of.type_of(closure.of_type) else { return Vec::new() };
        let (Shape::Struct(captured), Some(at)) =
            (&of_closure.shape, at.checked_add(closure.offset))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for member in captured {
            let Some(at) = at.checked_add(member.offset) else { continue };
            // The name is that in Tokio's macros.
            if member.name.slice().ends_with(b"futures") {
                found.extend(self.tuple(member.of_type, at, depth).unwrap_or_default());
            } else if self.has_future(member.of_type, MAX_NESTED) {
                found.extend(self.future(member.of_type, at, depth));
            }
        }
        found
    }

    /// Returns all futures in a tuple, which may be behind references.
    fn tuple(&self, id: TypeId, at: u64, depth: u32) -> Option<Vec<AwaitNode>> {
        let (mut id, mut at) = (id, at);
        for _ in 0..MAX_NESTED {
            let of_type = self.of.type_of(id)?;
            match &of_type.shape {
                Shape::Pointer(Some(to)) => (id, at) = (*to, self.memory.word(at)?),
                Shape::Struct(members) => {
                    let all =
                        members.iter().filter_map(|m| Some((m.of_type, at.checked_add(m.offset)?)));
                    return Some(all.flat_map(|(id, at)| self.future(id, at, depth)).collect());
                }
                _ => return None,
            }
        }
        None
    }

    /// Returns the futures in the fields of a type.
    fn members(&self, members: &[Member<'_>], at: u64, depth: u32) -> Vec<AwaitNode> {
        let mut found = Vec::new();
        for member in members {
            let Some(at) = at.checked_add(member.offset) else { continue };
            if self.has_future(member.of_type, MAX_NESTED) {
                found.extend(self.future(member.of_type, at, depth));
            }
        }
        found
    }

    /// Returns `true` if a value of the type contains a coroutine, or a future behind `dyn`.
    fn has_future(&self, id: TypeId, nested: u32) -> bool {
        let Some(nested) = self.step(nested) else { return false };
        let Some(of_type) = self.of.type_of(id) else { return false };
        if states(&of_type).is_some() {
            return true;
        }
        let any =
            |members: &[Member<'_>]| members.iter().any(|m| self.has_future(m.of_type, nested));
        match &of_type.shape {
            // Raw pointers and references lead to what others own, boxes don't.
            Shape::Pointer(Some(to)) => is_owned(&of_type.name) && self.has_future(*to, nested),
            Shape::Struct(members) if members.iter().any(|m| m.name.slice() == b"vtable") => {
                of_type.name.to_string_lossy().contains("dyn core::future::future::Future<")
            }
            // A boxed slice owns what its pointer leads to.
            Shape::Struct(members) if is_owned(&of_type.name) => {
                members.iter().any(|m| {
                    match self.of.type_of(m.of_type).map(|of| of.shape.clone()) {
                        Some(Shape::Pointer(Some(to))) => self.has_future(to, nested),
                        _ => false,
                    }
                })
            }
            Shape::Struct(members) => any(members),
            Shape::Enum { variants, .. } => variants.iter().any(|variant| {
                let of_variant = self.of.type_of(variant.member.of_type);
                of_variant.is_some_and(|of_variant| match &of_variant.shape {
                    Shape::Struct(members) => any(members),
                    _ => false,
                })
            }),
            _ => false,
        }
    }

    /// Returns the current variant, and its address.
    fn variant<'t>(&self, of_type: &'t Type<'a>, at: u64) -> Option<(&'t Variant<'a>, u64)> {
        let Shape::Enum { tag, variants } = &of_type.shape else { return None };
        let value = match tag {
            Some(tag) => {
                let size = usize::try_from(self.of.type_of(tag.of_type)?.size?).ok()?;
                let mut bytes = [0; 8];
                let part = bytes.get_mut(..size)?;
                self.memory.read(at.checked_add(tag.offset)?, part).then_some(())?;
                let value = u64::from_le_bytes(bytes);
                let mask = if size == 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
                Some((value, mask))
            }
            None => None,
        };
        let is_it = |variant: &&Variant<'_>| {
            value.zip(variant.discriminant).is_some_and(|((value, mask), of)| of & mask == value)
        };
        let found = variants.iter().find(is_it);
        let found =
            found.or_else(|| variants.iter().find(|variant| variant.discriminant.is_none()));
        let found = found?;
        Some((found, at.checked_add(found.member.offset)?))
    }

    fn leaf(&self, id: TypeId, of_type: &Type<'_>, children: Vec<AwaitNode>) -> AwaitNode {
        let function = self.of.name_of(id, of_type);
        AwaitNode { function, kind: None, file: None, line: None, children }
    }

    fn step(&self, depth: u32) -> Option<u32> {
        self.steps.set(self.steps.get().checked_sub(1)?);
        depth.checked_sub(1)
    }
}

/// Returns `true` if a type is left out of the tree: a tuple, the future of `select!`, and wrappers that only
/// affect storage.
fn is_transparent(of_type: &Type<'_>) -> bool {
    let wrappers: [&[u8]; 4] = [b"(", b"UnsafeCell<", b"ManuallyDrop<", b"UnsafePinned<"];
    wrappers.iter().any(|name| of_type.name.starts_with(name))
}

/// Returns `true` if a pointer owns its target.
fn is_owned(name: &[u8]) -> bool {
    name.starts_with(b"alloc::boxed::Box<") || name.starts_with(b"&mut ")
}
