//! The records after the metadata.

use std::collections::HashMap;

use serde_json::Value;

use super::field::{Object, nothing_else, object, optional_string, required, short, string, time};
use super::metadata::metadata;
use super::{Entity, EntityEvent, Statemap};
use crate::statemap::format::{Datum, TagDefinition};

/// What was read so far, and where to find it.
pub(super) struct Reader {
    pub(super) statemap: Statemap,
    entities: HashMap<String, usize>,
    tags: HashMap<(u32, String), usize>,
}

impl Reader {
    /// Begins with the first object, which is the metadata.
    pub(super) fn new(value: Value) -> Result<Self, String> {
        Ok(Self {
            statemap: Statemap {
                metadata: metadata(value)?,
                entities: Vec::new(),
                tags: Vec::new(),
                events: Vec::new(),
                end_ns: 0,
            },
            entities: HashMap::new(),
            tags: HashMap::new(),
        })
    }

    /// Reads a record after the metadata. What it is shows in its keys alone.
    pub(super) fn record(&mut self, value: Value) -> Result<(), String> {
        let object = object(value)?;
        let has = |key| object.contains_key(key);
        if has("tag") && has("state") && !has("entity") {
            // Whatever else a definition has, it may have.
            self.tag_definition(object)
        } else if has("event") {
            self.event(object)
        } else if has("description") {
            self.description(object)
        } else if has("time") || has("entity") {
            self.datum(object)
        } else {
            Err(format!(
                "neither a datum (`time`, `entity`, `state`, perhaps `tag`) nor a tag definition \
                 (`state`, `tag`), a description (`entity`, `description`) or an event (`time`, \
                 `entity`, `event`): {}",
                short(&Value::Object(object))
            ))
        }
    }

    fn datum(&mut self, mut object: Object) -> Result<(), String> {
        let time_ns = time(&mut object)?;
        let entity = string(&mut object, "entity")?;
        let state = self.state(&mut object)?;
        let tag = optional_string(&mut object, "tag")?;
        nothing_else(&object, "a datum has `time`, `entity`, `state` and perhaps `tag`")?;

        let tag = tag.map(|tag| self.tag(state, tag));
        let entity = self.entity(entity);
        let entity = &mut self.statemap.entities[entity];
        if let Some(last) = entity.data.last() {
            let name = &entity.name;
            let last_ns = last.time_ns;
            if time_ns < last_ns {
                return Err(format!(
                    "time goes back for entity `{name}`: {time_ns} after {last_ns}"
                ));
            }
            if time_ns == last_ns {
                return Err(format!(
                    "time stands still for entity `{name}`: {time_ns} twice; it must be greater \
                     each time"
                ));
            }
        }
        entity.data.push(Datum { time_ns, state, tag });
        self.statemap.end_ns = self.statemap.end_ns.max(time_ns);
        Ok(())
    }

    fn tag_definition(&mut self, mut object: Object) -> Result<(), String> {
        let state = self.state(&mut object)?;
        let tag = string(&mut object, "tag")?;
        let index = self.tag(state, tag);
        let definition = &mut self.statemap.tags[index];
        // A tag may be defined again: the last definition counts.
        definition.is_defined = true;
        definition.fields =
            object.into_iter().map(|(key, value)| (key, value.to_string())).collect();
        Ok(())
    }

    fn description(&mut self, mut object: Object) -> Result<(), String> {
        let entity = string(&mut object, "entity")?;
        let description = string(&mut object, "description")?;
        nothing_else(&object, "a description has `entity` and `description`")?;
        let entity = self.entity(entity);
        self.statemap.entities[entity].description = Some(description);
        Ok(())
    }

    fn event(&mut self, mut object: Object) -> Result<(), String> {
        let time_ns = time(&mut object)?;
        let entity = string(&mut object, "entity")?;
        let event = string(&mut object, "event")?;
        let target = optional_string(&mut object, "target")?;
        nothing_else(&object, "an event has `time`, `entity`, `event` and perhaps `target`")?;
        let entity = self.entity(entity);
        self.statemap.events.push(EntityEvent { time_ns, entity, event, target });
        Ok(())
    }

    fn entity(&mut self, name: String) -> usize {
        if let Some(&index) = self.entities.get(&name) {
            return index;
        }
        let index = self.statemap.entities.len();
        self.statemap.entities.push(Entity {
            name: name.clone(),
            description: None,
            data: Vec::new(),
        });
        self.entities.insert(name, index);
        index
    }

    fn tag(&mut self, state: u32, tag: String) -> usize {
        let key = (state, tag);
        if let Some(&index) = self.tags.get(&key) {
            return index;
        }
        let index = self.statemap.tags.len();
        self.statemap.tags.push(TagDefinition {
            state,
            tag: key.1.clone(),
            fields: Vec::new(),
            is_defined: false,
        });
        self.tags.insert(key, index);
        index
    }

    fn state(&self, object: &mut Object) -> Result<u32, String> {
        let value = required(object, "state")?;
        let states = self.statemap.metadata.states.len();
        let state = value.as_u64().filter(|&state| state < states as u64);
        state.and_then(|state| u32::try_from(state).ok()).ok_or_else(|| {
            format!(
                "`state` is {}; it must be the value of a state of the metadata: {}",
                short(&value),
                if states == 0 {
                    "but it has none".to_owned()
                } else {
                    format!("0 to {}", states - 1)
                }
            )
        })
    }
}
