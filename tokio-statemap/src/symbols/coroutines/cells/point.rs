//! The facts about a suspend point that are the same for all tasks.

use std::sync::Arc;

use super::Cells;
use crate::symbols::coroutines::types::{Member, Shape};
use crate::symbols::coroutines::{Coroutine, Kind, TypeId, is_awaitee};
use crate::util::sync::lock;

/// A suspend point of a function.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) function: String,
    pub(super) kind: Kind,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    /// The macro that awaits, if it is a known one.
    pub(super) of_macro: Option<&'static str>,
    /// The type of the awaitee, and its offset in the state, in bytes.
    pub(super) awaitee: Option<(TypeId, u64)>,
}

impl Cells<'_> {
    /// Returns suspend point `number` of the function with this type, whose state there has the type `state`.
    pub(super) fn point(&self, id: TypeId, number: usize, state: TypeId) -> Option<Arc<Point>> {
        let known = lock(&self.points).get(&(id, number)).cloned();
        known.unwrap_or_else(|| {
            let point = self.read_point(id, number, state).map(Arc::new);
            lock(&self.points).insert((id, number), point.clone());
            point
        })
    }

    fn read_point(&self, id: TypeId, number: usize, state: TypeId) -> Option<Point> {
        let coroutine = self.of.coroutine(id).ok()??;
        let place = coroutine.points.get(number)?.place.clone();
        let awaitee = match &self.of.type_of(state)?.shape {
            Shape::Struct(members) => members.iter().find(|member| is_awaitee(member)).copied(),
            _ => None,
        };
        // A suspend point in a macro has the macro's line, which doesn't tell where the macro is used.
        let is_own = place.as_ref().is_none_or(|place| coroutine.has(place));
        let line = match is_own {
            true => place.as_ref().map(|place| place.line),
            false => awaitee.and_then(|awaitee| self.line_of_macro(&coroutine, &awaitee)),
        };
        let of_macro = place.as_ref().filter(|_| !is_own).and_then(|place| place.known_macro());
        Some(Point {
            function: coroutine.path,
            kind: coroutine.kind,
            file: coroutine.begin.or(place).map(|place| place.file),
            line: line.and_then(|line| u32::try_from(line).ok()),
            of_macro,
            awaitee: awaitee.map(|awaitee| (awaitee.of_type, awaitee.offset)),
        })
    }

    fn line_of_macro(&self, function: &Coroutine, awaitee: &Member<'_>) -> Option<u64> {
        self.awaitees.line(&self.of, function, awaitee.of_type)
    }
}
