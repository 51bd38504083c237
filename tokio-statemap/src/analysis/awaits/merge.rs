//! Merges the instances of a generic async fn.

use std::collections::HashMap;

use super::{AsyncFn, Awaited, Awaits, Coroutines, Point, Target};
use crate::symbols::coroutines::{Coroutine, TypeId, What};
use crate::symbols::{FrameOrigin, package};

/// The most types that are listed for one suspend point.
const MAX_ALTERNATIVES: usize = 64;

/// Returns the async fns of all coroutines. The error describes a problem with the debug information.
pub(super) fn merge(coroutines: &Coroutines<'_>) -> Result<Awaits, String> {
    let mut found: Vec<(TypeId, Coroutine)> = Vec::new();
    for id in coroutines.all() {
        found.extend(coroutines.coroutine(*id)?.map(|coroutine| (*id, coroutine)));
    }
    // The output must not depend on the order of the debug information.
    found.sort_by(|(_, a), (_, b)| (&a.begin, &a.key).cmp(&(&b.begin, &b.key)));
    let mut all: Vec<AsyncFn> = Vec::new();
    let mut by_type = HashMap::new();
    let mut last_key = None;
    for (id, coroutine) in &found {
        if last_key != Some(&coroutine.key) {
            last_key = Some(&coroutine.key);
            all.push(async_fn(coroutine));
        }
        by_type.insert(*id, all.len() - 1);
    }
    for (id, coroutine) in &found {
        let function = &mut all[by_type[id]];
        for (i, point) in coroutine.points.iter().enumerate() {
            if function.points.len() == i {
                function.points.push(Point { place: point.place.clone(), awaited: Vec::new() });
            }
            let awaited = match point.awaitee {
                Some(awaitee) => target(coroutines.awaited(awaitee), &by_type),
                None => unknown(),
            };
            let known = &mut function.points[i].awaited;
            if !known.contains(&awaited) && known.len() < MAX_ALTERNATIVES {
                known.push(awaited);
            }
        }
    }
    for point in all.iter_mut().flat_map(|function| &mut function.points) {
        point.awaited.sort();
    }
    Ok(Awaits { all })
}

fn async_fn(coroutine: &Coroutine) -> AsyncFn {
    let file = coroutine.begin.as_ref().map(|begin| begin.file.as_str());
    AsyncFn {
        path: coroutine.path.clone(),
        kind: coroutine.kind,
        begin: coroutine.begin.clone(),
        end: coroutine.end.clone(),
        origin: file.map_or(FrameOrigin::System, package),
        points: Vec::new(),
    }
}

fn target(awaited: Awaited, by_type: &HashMap<TypeId, usize>) -> Target {
    let Awaited { name, what, inside } = awaited;
    if let What::Coroutine(id) = what {
        if let Some(index) = by_type.get(&id) {
            return Target::Fn(*index);
        }
    }
    let inside = inside.into_iter().map(|awaited| target(awaited, by_type)).collect();
    Target::Other { name, is_dyn: what == What::Dyn, inside }
}

fn unknown() -> Target {
    let name = "what the debug information doesn't say".to_owned();
    Target::Other { name, is_dyn: false, inside: Vec::new() }
}
