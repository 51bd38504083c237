//! The records after the metadata.

use std::collections::HashMap;

use serde_json::Value;

use super::field::{Object, nothing_else, optional_string, required, short, shorten, string, time};
use super::metadata::metadata;
use super::plain::Plain;
use super::run::{RunReader, is_of_run};
use super::{Entity, EntityEvent, Statemap};
use crate::statemap::format::{Datum, Mark, TagDefinition};

/// What was read so far, and where to find it.
pub(in crate::statemap) struct Reader {
    pub(in crate::statemap) statemap: Statemap,
    entities: HashMap<String, usize>,
    /// The entity that was named last: it is the next one more often than not.
    last_entity: usize,
    /// The tags of each state.
    tags: Vec<HashMap<String, usize>>,
    /// The tag of each state that was named last.
    last_tags: Vec<usize>,
    /// What a run's data says beyond its rows, unless this is no such data, or that can't be.
    run: Option<RunReader>,
    /// Whether it is an error if it can't be.
    pub(in crate::statemap) is_strict: bool,
}

/// The fields of a datum.
pub(in crate::statemap) struct Fields {
    time_ns: u64,
    entity: String,
    state: u32,
    tag: Option<String>,
}

impl Fields {
    pub(in crate::statemap) fn plain(&self) -> Plain<'_> {
        Plain {
            time_ns: self.time_ns,
            entity: &self.entity,
            state: self.state,
            tag: self.tag.as_deref(),
            is_compact: true,
        }
    }
}

impl Reader {
    /// Begins with the first object, which is the metadata.
    pub(in crate::statemap) fn new(object: Object) -> Result<Self, String> {
        let metadata = metadata(object)?;
        let states = metadata.states.len();
        Ok(Self {
            run: metadata.native().map(RunReader::new),
            is_strict: false,
            statemap: Statemap {
                metadata,
                entities: Vec::new(),
                tags: Vec::new(),
                events: Vec::new(),
                end_ns: 0,
                run: None,
                is_part: false,
            },
            entities: HashMap::new(),
            last_entity: 0,
            tags: vec![HashMap::new(); states],
            last_tags: vec![0; states],
        })
    }

    /// All that was read.
    pub(in crate::statemap) fn finish(mut self) -> Result<Statemap, String> {
        match self.run.take().map(|run| run.finish(&self.statemap)) {
            Some(Err(problem)) if self.is_strict => return Err(problem),
            Some(Ok(Some(run))) => self.statemap.run = Some(Box::new(run)),
            _ => {}
        }
        for entity in &mut self.statemap.entities {
            entity.data.shrink_to_fit();
        }
        Ok(self.statemap)
    }

    /// Its rows are filled in from elsewhere.
    #[cfg(feature = "html")]
    pub(super) fn parts(&mut self) -> (&mut Statemap, Option<&mut RunReader>) {
        (&mut self.statemap, self.run.as_mut())
    }

    pub(in crate::statemap) fn has_state(&self, state: u32) -> bool {
        (state as usize) < self.statemap.metadata.states.len()
    }

    /// Reads a record after the metadata. What it is shows in its keys alone.
    pub(in crate::statemap) fn record(&mut self, object: Object) -> Result<(), String> {
        let has = |key| object.contains_key(key);
        if has("tag") && has("state") && !has("entity") {
            // Whatever else a definition has, it may have.
            self.tag_definition(object)
        } else if has("event") {
            self.event(object)
        } else if has("description") {
            self.description(object)
        } else if has("time") || has("entity") {
            let datum = self.datum(object)?;
            self.change(datum.plain())
        } else if has("start") || has("states") {
            Err("this is a second metadata object; there is one, the first record".to_owned())
        } else {
            Err(format!(
                "neither a datum (`time`, `entity`, `state`, perhaps `tag`) nor a tag definition \
                 (`state`, `tag`), a description (`entity`, `description`) or an event (`time`, \
                 `entity`, `event`): {}",
                short(&Value::Object(object))
            ))
        }
    }

    /// The fields of a datum.
    pub(in crate::statemap) fn datum(&self, mut object: Object) -> Result<Fields, String> {
        let datum = Fields {
            time_ns: time(&mut object)?,
            entity: string(&mut object, "entity")?,
            state: self.state(&mut object)?,
            tag: optional_string(&mut object, "tag")?,
        };
        nothing_else(&object, "a datum has `time`, `entity`, `state` and perhaps `tag`")?;
        Ok(datum)
    }

    /// An entity changes to a state that there is.
    pub(in crate::statemap) fn change(&mut self, datum: Plain<'_>) -> Result<(), String> {
        let Plain { time_ns, entity, state, tag, .. } = datum;
        let tag = tag.map(|tag| self.tag(state, tag));
        let entity = self.entity(entity);
        let entity = &mut self.statemap.entities[entity];
        if let Some(Datum { time_ns: last_ns, .. }) = entity.data.last() {
            if time_ns <= *last_ns {
                let name = shorten(&entity.name);
                let what = match time_ns == *last_ns {
                    true => format!("stands still for entity `{name}`: {time_ns} twice"),
                    false => format!("goes back for entity `{name}`: {time_ns} after {last_ns}"),
                };
                return Err(format!("time {what}; it must be greater each time"));
            }
        }
        entity.data.push(Datum { time_ns, state, tag, mark: Mark::default() });
        self.statemap.end_ns = self.statemap.end_ns.max(time_ns);
        Ok(())
    }

    fn tag_definition(&mut self, mut object: Object) -> Result<(), String> {
        let state = self.state(&mut object)?;
        let tag = string(&mut object, "tag")?;
        if is_of_run(&tag) && self.statemap.metadata.native().is_some() {
            let Some(run) = &mut self.run else { return Ok(()) };
            return match run.definition(&tag, object, &mut self.statemap) {
                Err(problem) if self.is_strict => Err(problem),
                Err(_) => {
                    self.run = None;
                    Ok(())
                }
                Ok(()) => Ok(()),
            };
        }
        let index = self.tag(state, &tag);
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
        let entity = self.entity(&entity);
        self.statemap.entities[entity].description = Some(description);
        Ok(())
    }

    fn event(&mut self, mut object: Object) -> Result<(), String> {
        let time_ns = time(&mut object)?;
        let entity = string(&mut object, "entity")?;
        let event = string(&mut object, "event")?;
        let target = optional_string(&mut object, "target")?;
        nothing_else(&object, "an event has `time`, `entity`, `event` and perhaps `target`")?;
        let entity = self.entity(&entity);
        self.statemap.events.push(EntityEvent { time_ns, entity, event, target });
        Ok(())
    }

    fn entity(&mut self, name: &str) -> usize {
        let last = self.last_entity;
        if self.statemap.entities.get(last).is_some_and(|entity| entity.name == name) {
            return last;
        }
        self.last_entity = self.find_entity(name).unwrap_or_else(|| {
            let index = self.statemap.entities.len();
            self.statemap.entities.push(Entity {
                name: name.to_owned(),
                description: None,
                data: Vec::new(),
                parent: None,
            });
            self.entities.insert(name.to_owned(), index);
            index
        });
        self.last_entity
    }

    pub(in crate::statemap) fn find_entity(&self, name: &str) -> Option<usize> {
        self.entities.get(name).copied()
    }

    fn tag(&mut self, state: u32, tag: &str) -> usize {
        let last = self.last_tags[state as usize];
        if self.statemap.tags.get(last).is_some_and(|t| t.state == state && t.tag == tag) {
            return last;
        }
        let index = self.find_tag(state, tag).unwrap_or_else(|| {
            let index = self.statemap.tags.len();
            self.statemap.tags.push(TagDefinition {
                state,
                tag: tag.to_owned(),
                fields: Vec::new(),
                is_defined: false,
            });
            self.tags[state as usize].insert(tag.to_owned(), index);
            index
        });
        self.last_tags[state as usize] = index;
        index
    }

    pub(in crate::statemap) fn find_tag(&self, state: u32, tag: &str) -> Option<usize> {
        self.tags[state as usize].get(tag).copied()
    }

    pub(in crate::statemap) fn state(&self, object: &mut Object) -> Result<u32, String> {
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
