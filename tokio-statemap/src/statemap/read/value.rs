//! Values in the definitions that describe a run.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::Value;

use crate::statemap::run::{BLOCKING, LARGEST_NUMBER, RUNTIME, THREAD};
use crate::trace::timeline::TaskKey;
use crate::trace::woken_by::WokenBy;

/// A whole number, which is a string of digits if it is over 2^53.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

/// A task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parent(pub(super) TaskKey);

/// The source of a task's wake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woke(pub(super) WokenBy);

impl<'de> Deserialize<'de> for Woke {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Ok(Self(match value.as_str() {
            Some(RUNTIME) => WokenBy::Runtime,
            Some(BLOCKING) => WokenBy::BlockingTask,
            Some(THREAD) => WokenBy::Thread,
            _ => WokenBy::Task(Parent::deserialize(value).map_err(D::Error::custom)?.0),
        }))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let number = match &value {
            Value::String(digits) => digits.parse().ok().filter(|&n| n > LARGEST_NUMBER),
            value => value.as_u64().filter(|&n| n <= LARGEST_NUMBER),
        };
        let number = number.ok_or_else(|| {
            D::Error::custom(format!("{value} is no whole number, over 2^53 as a string"))
        });
        number.map(Self)
    }
}

/// Returns the task with this name, which has no name of a runtime before it.
pub(in crate::statemap) fn task_key(name: &str) -> Option<TaskKey> {
    let key = match (name.strip_prefix("task-"), name.strip_prefix("main-")) {
        (Some(id), _) => TaskKey::Spawned(id.parse().ok()?),
        (_, Some(n)) => TaskKey::Root(u32::try_from(n.parse::<u64>().ok()?.checked_sub(1)?).ok()?),
        _ => TaskKey::Root(0),
    };
    // Other spellings of a number are refused.
    (key.to_string() == name).then_some(key)
}

impl<'de> Deserialize<'de> for Parent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        if let Some(root @ TaskKey::Root(_)) = value.as_str().and_then(task_key) {
            return Ok(Self(root));
        }
        let id = Number::deserialize(value).map_err(D::Error::custom)?;
        Ok(Self(TaskKey::Spawned(id.0)))
    }
}
