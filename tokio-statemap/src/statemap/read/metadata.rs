//! The first object.

use serde_json::Value;

use super::field::{Object, nothing_else, optional_string, required, short, shorten, string};
use crate::statemap::format::{Metadata, State};

/// Reads the first object.
pub(super) fn metadata(mut object: Object) -> Result<Metadata, String> {
    if !object.contains_key("states") {
        return Err("there is no metadata: the first object must have `start`, `title` and \
                    `states`"
            .to_owned());
    }
    let start = required(&mut object, "start")?;
    let numbers: Option<Vec<u64>> =
        start.as_array().and_then(|array| array.iter().map(Value::as_u64).collect());
    let Some([seconds, ns]) = numbers.as_deref() else {
        return Err(format!(
            "`start` is {}; it must be [seconds, nanoseconds] since the Unix epoch",
            short(&start)
        ));
    };
    let metadata = Metadata {
        start: [*seconds, *ns],
        title: string(&mut object, "title")?,
        host: optional_string(&mut object, "host")?,
        entity_kind: optional_string(&mut object, "entityKind")?,
        states: states(required(&mut object, "states")?)?,
    };
    nothing_else(
        &object,
        "the metadata has `start`, `title`, `states` and perhaps `host` and `entityKind`",
    )?;
    Ok(metadata)
}

/// Reads the states and puts them in the order of their values.
fn states(value: Value) -> Result<Vec<State>, String> {
    let Value::Object(object) = value else {
        return Err(format!("`states` is {}; it must be an object", short(&value)));
    };
    let count = object.len();
    let mut states: Vec<Option<State>> = vec![None; count];
    for (name, value) in object {
        let told = shorten(&name);
        let Value::Object(mut state) = value else {
            return Err(format!(
                "state `{told}` is {}; it must be an object with `value` and perhaps `color`",
                short(&value)
            ));
        };
        let number = required(&mut state, "value").map_err(|e| format!("state `{told}`: {e}"))?;
        let colour =
            optional_string(&mut state, "color").map_err(|e| format!("state `{told}`: {e}"))?;
        nothing_else(&state, "a state has `value` and perhaps `color`")?;
        let slot = number.as_u64().and_then(|number| states.get_mut(usize::try_from(number).ok()?));
        match slot {
            Some(slot @ None) => *slot = Some(State { name, colour }),
            Some(Some(other)) => {
                return Err(format!(
                    "states `{}` and `{told}` both have the value {number}; each needs its own",
                    shorten(&other.name)
                ));
            }
            None => {
                return Err(format!(
                    "state `{told}` has the value {}; with {count} states it must be 0 to {}",
                    short(&number),
                    count - 1
                ));
            }
        }
    }
    // There are as many distinct values as places, so all places are filled.
    Ok(states.into_iter().flatten().collect())
}
