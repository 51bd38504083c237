//! The lines at which functions call macros that await.
//!
//! A suspend point in a macro has the macro's own line. But the awaitee is a variable in the function's code
//! as well, and the compiler gives a variable that another crate's macro declares the line of the call.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::full_name;
use crate::symbols::coroutines::{Coroutine, Coroutines, Place, TypeId};

/// The variables of awaitees.
#[derive(Debug, Default)]
pub(super) struct Awaitees {
    pub(super) variables: Vec<Variable>,
    /// The places of their declarations, by their types, once they are needed. The compiler gives a type the
    /// same name in each unit.
    places: OnceLock<HashMap<String, Vec<Place>>>,
}

/// A variable, with the unit that it is in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variable {
    pub(super) unit: usize,
    pub(super) of_type: TypeId,
    pub(super) file: u64,
    pub(super) line: u64,
}

impl Awaitees {
    /// The name of these variables.
    pub(super) const NAME: &[u8] = b"__awaitee";

    /// Returns the line at which a function calls the macro that awaits something of this type.
    pub(super) fn line(
        &self,
        of: &Coroutines<'_>,
        function: &Coroutine,
        awaitee: TypeId,
    ) -> Option<u64> {
        // A type that is awaited at several points is ambiguous.
        let name = full_name(of, awaitee)?;
        let is_alike = |id: TypeId| full_name(of, id).is_some_and(|other| other == name);
        let alike = function.points.iter().filter(|point| point.awaitee.is_some_and(is_alike));
        if alike.count() != 1 {
            return None;
        }
        let places = self.places.get_or_init(|| self.places(of));
        let within = places.get(&name)?.iter().filter(|place| function.has(place));
        let mut lines: Vec<_> = within.map(|place| place.line).collect();
        lines.sort_unstable();
        lines.dedup();
        match lines[..] {
            [line] => Some(line),
            _ => None,
        }
    }

    fn places(&self, of: &Coroutines<'_>) -> HashMap<String, Vec<Place>> {
        let mut places: HashMap<String, Vec<Place>> = HashMap::new();
        for variable in &self.variables {
            let place = Place::read(&of.sections, variable.unit, variable.file, variable.line);
            if let Some((name, place)) = full_name(of, variable.of_type).zip(place) {
                places.entry(name).or_default().push(place);
            }
        }
        places
    }
}

impl Coroutine {
    /// Returns `true` if a place is in the function itself.
    pub(super) fn has(&self, place: &Place) -> bool {
        let is_after = |begin: &Place| begin.file == place.file && begin.line <= place.line;
        let is_before = |end: &Place| end.file != place.file || place.line <= end.line;
        self.begin.as_ref().is_none_or(is_after) && self.end.as_ref().is_none_or(is_before)
    }
}
