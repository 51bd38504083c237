//! The records after the metadata.

use std::collections::HashMap;
use std::io;

use serde_json::Value;

use super::field::{Object, nothing_else, optional_string, required, short, shorten, string, time};
use super::metadata::metadata;
use super::plain::{self, Plain};
use super::records::{Position, RecordStream, syntax_error};
use super::run::{RunReader, is_of_run};
use super::{Entity, EntityEvent, ReadError, Statemap};
use crate::statemap::format::{Datum, Mark, TagDefinition};

/// The data read so far, with indices into it.
pub(in crate::statemap) struct Reader {
    pub(in crate::statemap) statemap: Statemap,
    entities: HashMap<String, usize>,
    /// The entity that was named last, to guess the next one.
    last_entity: usize,
    /// The tags of each state.
    tags: Vec<HashMap<String, usize>>,
    /// For each state, the tag that was named last.
    last_tags: Vec<usize>,
    /// The description of the run, if this is data of this crate and the description is valid so far.
    run: Option<RunReader>,
    /// `true` if an invalid description of the run is an error.
    pub(in crate::statemap) is_strict: bool,
    /// The position of the current record.
    position: Position,
    /// The first use of each tag.
    first_uses: Vec<Position>,
    /// The time of the last datum, and its position.
    last: Option<(u64, Position)>,
}

impl Reader {
    /// Reads the first record, the metadata, and also returns its position.
    pub(in crate::statemap) fn open(
        records: &mut RecordStream<impl io::Read>,
    ) -> Result<(Self, Position), ReadError> {
        let Some(position) = records.begin()? else {
            return Err(records.here().error(
                "there is nothing; the metadata comes first: an object with `start`, `title` and `states`",
            ));
        };
        let object = parse(records.record()?, position)?;
        let reader = Self::new(object, position).map_err(|problem| position.error(problem))?;
        Ok((reader, position))
    }

    /// Reads the records after the metadata.
    pub(in crate::statemap) fn read_rest(
        &mut self,
        records: &mut RecordStream<impl io::Read>,
    ) -> Result<(), ReadError> {
        while let Some(position) = records.begin()? {
            self.position = position;
            let plain =
                plain::datum(records.ahead()).filter(|(datum, _)| self.has_state(datum.state));
            let read = match plain {
                Some((datum, length)) => {
                    let changed = self.change(datum);
                    records.take(length);
                    changed
                }
                None => self.record(parse(records.record()?, position)?),
            };
            read.map_err(|problem| position.error(problem))?;
        }
        Ok(())
    }

    /// Checks that each tag that was used is defined, and that the last datum is the latest.
    pub(in crate::statemap) fn check_tags_and_end(&self) -> Result<(), ReadError> {
        let tags = self.statemap.tags.iter().zip(&self.first_uses);
        let undefined = tags.filter(|(tag, _)| !tag.is_defined);
        if let Some((tag, position)) = undefined.min_by_key(|(_, position)| position.byte) {
            let TagDefinition { state, tag, .. } = tag;
            let tag = shorten(tag);
            return Err(position.error(format!(
                "tag `{tag}` of state {state} has no definition; add a record with \
                 `state`, `tag` and its meaning"
            )));
        }
        match self.last {
            Some((last_ns, position)) if last_ns < self.statemap.end_ns => {
                Err(position.error(format!(
                    "the last change of state is at {last_ns}, but one before at {}; the last must \
                     be the latest",
                    self.statemap.end_ns
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if the metadata is that of this crate's own data.
    pub(in crate::statemap) fn is_native(&self) -> bool {
        self.statemap.metadata.native().is_some()
    }

    fn new(object: Object, position: Position) -> Result<Self, String> {
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
            position,
            first_uses: Vec::new(),
            last: None,
        })
    }

    /// Returns the data.
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

    /// Returns the parts that are completed with rows from a page.
    #[cfg(feature = "html")]
    pub(super) fn parts(&mut self) -> (&mut Statemap, Option<&mut RunReader>) {
        (&mut self.statemap, self.run.as_mut())
    }

    fn has_state(&self, state: u32) -> bool {
        (state as usize) < self.statemap.metadata.states.len()
    }

    /// Reads a record after the metadata. Its keys determine its kind.
    fn record(&mut self, object: Object) -> Result<(), String> {
        let has = |key| object.contains_key(key);
        if has("tag") && has("state") && !has("entity") {
            // A definition may have any further members.
            self.tag_definition(object)
        } else if has("event") {
            self.event(object)
        } else if has("description") {
            self.description(object)
        } else if has("time") || has("entity") {
            self.datum(object)
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

    fn datum(&mut self, mut object: Object) -> Result<(), String> {
        let time_ns = time(&mut object)?;
        let entity = string(&mut object, "entity")?;
        let state = self.state(&mut object)?;
        let tag = optional_string(&mut object, "tag")?;
        nothing_else(&object, "a datum has `time`, `entity`, `state` and perhaps `tag`")?;
        self.change(Plain { time_ns, entity: &entity, state, tag: tag.as_deref() })
    }

    /// Adds a change of an entity to a known state.
    fn change(&mut self, datum: Plain<'_>) -> Result<(), String> {
        let Plain { time_ns, entity, state, tag } = datum;
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
        entity.data.push(Datum { time_ns, state, tag, mark: Mark::default(), woken_by: 0 });
        self.statemap.end_ns = self.statemap.end_ns.max(time_ns);
        self.last = Some((time_ns, self.position));
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

    pub(super) fn find_entity(&self, name: &str) -> Option<usize> {
        self.entities.get(name).copied()
    }

    fn tag(&mut self, state: u32, tag: &str) -> usize {
        let last = self.last_tags[state as usize];
        if self.statemap.tags.get(last).is_some_and(|t| t.state == state && t.tag == tag) {
            return last;
        }
        let known = self.tags[state as usize].get(tag).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.statemap.tags.len();
            self.first_uses.push(self.position);
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

fn parse(text: &str, position: Position) -> Result<Object, ReadError> {
    serde_json::from_str(text).map_err(|error| syntax_error(position, text.as_bytes(), &error))
}
