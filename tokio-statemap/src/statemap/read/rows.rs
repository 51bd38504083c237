//! Data whose rows are in the columns of a page.
//!
//! The result is what [`read`](super::read()) returns for the file that the page was made from.

use std::collections::HashMap;
use std::sync::Arc;

use super::field::Object;
use super::record::Reader;
use super::records::RecordStream;
use super::value::task_key;
use super::{Entity, EntityEvent, ReadError, Statemap};
use crate::statemap::format::{Datum, Mark, TagDefinition};
use crate::statemap::intern::intern;
use crate::statemap::run::MOST_APART;
use crate::statemap::write::{Spaced, WaitTags, tag_of};
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{TaskKey, WaitId};
use crate::trace::woken_by::WokenBy;

/// Data that gets its rows one by one.
pub(crate) struct Rows {
    reader: Reader,
    tasks: Vec<(TaskKey, Entity)>,
    /// The tags of tasks, in the order of the rows. The final order is that of the data.
    tags: Once<(u32, Option<u32>, Option<WaitId>)>,
    ran_on: Once<(u32, Option<u16>)>,
    locations: Vec<SpawnLocation>,
    /// The entity of each row that isn't a task's.
    rows: Vec<usize>,
}

/// A task without its changes of state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRow<'a> {
    /// The name in the picture, which includes the names of the runtime and of the task.
    pub(crate) name: &'a str,
    pub(crate) parent: Option<TaskKey>,
    /// Its spawn location, as an index.
    pub(crate) location: Option<u32>,
}

/// A change of the state of a task, at its real time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) time_ns: u64,
    pub(crate) state: u32,
    pub(crate) wait: Option<WaitId>,
    /// The thread and worker of a poll, and the sides on which it is cut.
    pub(crate) poll: Option<(u32, Option<u16>, u8)>,
    /// The source of the wake for that poll.
    pub(crate) woken_by: Option<Waker>,
}

/// The source of a task's wake.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waker {
    Known(WokenBy),
    /// The task at this place among all tasks.
    Place(u64),
}

/// Set in [`Datum::woken_by`] while it is a place.
const IS_PLACE: u64 = 1 << 63;

/// Distinct values in the order of their first use.
struct Once<T> {
    all: Vec<T>,
    indices: HashMap<T, usize>,
    last: Option<(T, usize)>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indices: HashMap::new(), last: None }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Once<T> {
    fn index(&mut self, thing: T) -> usize {
        if let Some((_, index)) = self.last.filter(|(last, _)| *last == thing) {
            return index;
        }
        let next = self.all.len();
        let index = *self.indices.entry(thing).or_insert(next);
        if index == next {
            self.all.push(thing);
        }
        self.last = Some((thing, index));
        index
    }
}

impl Rows {
    /// Reads the records that belong to no row.
    pub(crate) fn from_records(records: &[u8]) -> Result<Self, ReadError> {
        let mut records = RecordStream::new(records);
        let (mut reader, _) = Reader::open(&mut records)?;
        reader.is_strict = true;
        reader.read_rest(&mut records)?;
        Ok(Self {
            reader,
            tasks: Vec::new(),
            tags: Once::default(),
            ran_on: Once::default(),
            locations: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// Returns the number of states. A page's higher values are states that only the picture has.
    pub(crate) fn states(&self) -> usize {
        self.reader.statemap.metadata.states.len()
    }

    /// Adds a spawn location.
    pub(crate) fn location(&mut self, file: &str, line: u32, column: u32) -> Result<(), String> {
        let file = intern(file).ok_or("there are too many names of files")?;
        self.locations.push(SpawnLocation { file, line, column });
        Ok(())
    }

    /// Adds a task. Returns its key.
    pub(crate) fn task(&mut self, row: TaskRow<'_>, changes: &[Change]) -> Result<TaskKey, String> {
        let (_, run) = self.reader.parts();
        let run = run.and_then(super::run::RunReader::run).ok_or("the run isn't described")?;
        let runtime = run.facts.runtime.as_ref().map_or(0, |name| name.len() + 1);
        let no_task = || "a row doesn't have the name of a task".to_owned();
        let of_task = row.name.get(runtime..).ok_or_else(no_task)?;
        let (of_key, name) = match of_task.split_once(' ') {
            Some((of_key, name)) => (of_key, Some(name)),
            None => (of_task, None),
        };
        let key = task_key(of_key).ok_or_else(no_task)?;
        if let Some(name) = name {
            let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            run.waits.names.insert(key, Arc::from(quoted.ok_or_else(no_task)?));
        }
        if row.location.is_some_and(|location| location as usize >= self.locations.len()) {
            return Err("a spawn location isn't there".to_owned());
        }
        let mut times = Spaced::default();
        let completed = u32::from(TaskState::Completed.value());
        let mut data = Vec::with_capacity(changes.len());
        for change in changes {
            let (time_ns, apart_ns) = times.next(change.time_ns);
            let apart_ns = apart_ns.min(MOST_APART) as u8;
            let is_tagged =
                change.state != completed && (row.location.is_some() || change.wait.is_some());
            let tag = (change.state, row.location, change.wait);
            data.push(Datum {
                time_ns,
                state: change.state,
                tag: is_tagged.then(|| self.tags.index(tag)),
                mark: match change.poll {
                    Some((thread, worker, cuts)) => {
                        let ran_on = self.ran_on.index((thread, worker));
                        if ran_on >= Mark::MOST_RAN_ON {
                            return Err("there are too many threads".to_owned());
                        }
                        Mark::new(apart_ns, cuts, ran_on as u32)
                    }
                    None => Mark::new(apart_ns, 0, 0),
                },
                woken_by: match change.woken_by {
                    None => 0,
                    Some(Waker::Known(by)) => by.pack(),
                    Some(Waker::Place(place)) => place | IS_PLACE,
                },
            });
        }
        let name = row.name[..runtime + of_key.len()].to_owned();
        self.tasks.push((key, Entity { name, description: None, data, parent: row.parent }));
        Ok(key)
    }

    /// Sets who woke tasks, by the keys of the tasks at all places.
    pub(crate) fn wakers(&mut self, keys: &[TaskKey]) -> Result<(), String> {
        for datum in self.tasks.iter_mut().flat_map(|(_, entity)| &mut entity.data) {
            if datum.woken_by & IS_PLACE != 0 {
                let place = usize::try_from(datum.woken_by & !IS_PLACE).ok();
                let key = place.and_then(|place| keys.get(place)).ok_or("a waker isn't there")?;
                datum.woken_by = WokenBy::Task(*key).pack();
            }
        }
        Ok(())
    }

    /// Sets the parent of the task at a place, which wasn't known before.
    pub(crate) fn parent(&mut self, task: usize, parent: TaskKey) {
        self.tasks[task].1.parent = Some(parent);
    }

    /// Adds a row that isn't a task's. Each change is a time, a state and a tag. In a run's data, no two
    /// changes have the same time.
    pub(crate) fn row(
        &mut self,
        name: &str,
        description: Option<&str>,
        changes: impl Iterator<Item = (u64, u32, Option<usize>)>,
    ) {
        let is_of_run = self.reader.parts().1.is_some_and(|run| run.run().is_some());
        let mut times = Spaced::default();
        let data = changes.map(|(real_ns, state, tag)| {
            let (time_ns, apart_ns) = if is_of_run { times.next(real_ns) } else { (real_ns, 0) };
            let mark = Mark::new(apart_ns.min(MOST_APART) as u8, 0, 0);
            Datum { time_ns, state, tag, mark, woken_by: 0 }
        });
        let entity = Entity {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            data: data.collect(),
            parent: None,
        };
        // An event may have named the entity before.
        let known = self.reader.find_entity(name);
        let entities = &mut self.reader.statemap.entities;
        match known {
            Some(index) => {
                entities[index] = entity;
                self.rows.push(index);
            }
            None => {
                self.rows.push(entities.len());
                entities.push(entity);
            }
        }
    }

    /// Returns data that isn't a run's. `places` are the places of the rows in the file.
    pub(crate) fn other(
        mut self,
        places: &[usize],
        tags: Vec<TagDefinition>,
        events: impl Iterator<Item = (u64, usize, String, Option<String>)>,
        is_part: bool,
    ) -> Result<Statemap, String> {
        let statemap = &mut self.reader.statemap;
        for (time_ns, row, event, target) in events {
            let entity = *self.rows.get(row).ok_or("an event is of a row that isn't there")?;
            statemap.events.push(EntityEvent { time_ns, entity, event, target });
        }
        statemap.events.sort_by_key(|event| event.time_ns);
        // Entities without rows come last.
        let mut place_of = vec![usize::MAX; statemap.entities.len()];
        for (&entity, &place) in self.rows.iter().zip(places) {
            place_of[entity] = place;
        }
        let mut order: Vec<usize> = (0..place_of.len()).collect();
        order.sort_by_key(|&entity| place_of[entity]);
        let mut new_place = vec![0; order.len()];
        let entities = std::mem::take(&mut statemap.entities);
        let mut entities: Vec<_> = entities.into_iter().map(Some).collect();
        for (new, &old) in order.iter().enumerate() {
            new_place[old] = new;
            statemap.entities.extend(entities[old].take());
        }
        for event in &mut statemap.events {
            event.entity = new_place[event.entity];
        }
        statemap.tags = tags;
        statemap.is_part = is_part;
        statemap.end_ns = latest(&statemap.entities).unwrap_or_default();
        self.reader.finish()
    }

    /// Returns the complete data of a run. For a part of a run, `part` is the recorded time of the whole, in ns, if
    /// that is known.
    pub(crate) fn run(mut self, part: Option<Option<u64>>) -> Result<Statemap, String> {
        self.end_with_tasks()?;
        let (statemap, run) = self.reader.parts();
        let run = run.ok_or("the run isn't described")?;
        run.told_of(&statemap.entities);
        let of_run = run.run().ok_or("the run isn't described")?;
        of_run.ran_on = self.ran_on.all;
        of_run.whole_ns = part.flatten();
        statemap.is_part = part.is_some();
        self.reader.finish()
    }

    /// Sorts tasks, tags and threads as in a file, and adds the datum that marks the end.
    fn end_with_tasks(&mut self) -> Result<(), String> {
        let (statemap, run) = self.reader.parts();
        let run = run.and_then(super::run::RunReader::run).ok_or("the run isn't described")?;
        self.tasks.sort_by_key(|(key, _)| *key);
        if self.tasks.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err("two rows are of the same task".to_owned());
        }
        let (old_tags, old_ran_on) = (&self.tags.all, &self.ran_on.all);
        let mut tags = vec![None; old_tags.len()];
        let mut ran_on = vec![None; old_ran_on.len()];
        let mut new_ran_on = Vec::with_capacity(old_ran_on.len());
        let mut wait_tags = WaitTags::new(&run.waits.waits);
        let running = u32::from(TaskState::Running.value());
        for datum in self.tasks.iter_mut().flat_map(|(_, entity)| &mut entity.data) {
            if let Some(tag) = &mut datum.tag {
                let (state, location, wait) = old_tags[*tag];
                *tag = *tags[*tag].get_or_insert_with(|| {
                    let location = location.map(|location| self.locations[location as usize]);
                    let wait = wait.map(|wait| wait_tags.get(wait));
                    statemap.tags.push(definition(state, tag_of(location, wait)));
                    statemap.tags.len() - 1
                });
            }
            if datum.state == running {
                let old = datum.mark.ran_on();
                let new = *ran_on[old].get_or_insert_with(|| {
                    new_ran_on.push(old_ran_on[old]);
                    new_ran_on.len() - 1
                });
                let mark = datum.mark;
                datum.mark = Mark::new(mark.apart_ns() as u8, mark.cuts() as u8, new as u32);
            }
        }
        self.ran_on.all = new_ran_on;
        statemap.entities.extend(std::mem::take(&mut self.tasks).into_iter().map(|(_, e)| e));
        let length_ns = run.facts.end_ns.0.saturating_sub(run.facts.begin_ns.0);
        let latest_ns = latest(&statemap.entities);
        let first = statemap.entities.first_mut();
        if let Some((data, latest_ns)) = first.map(|first| &mut first.data).zip(latest_ns) {
            let end_ns = length_ns.max(latest_ns.saturating_add(1));
            if let Some(last) = data.last() {
                data.push(Datum { time_ns: end_ns, mark: Mark::default(), woken_by: 0, ..*last });
                statemap.end_ns = end_ns;
            }
        }
        Ok(())
    }
}

/// Returns the latest time of all data.
fn latest(entities: &[Entity]) -> Option<u64> {
    entities.iter().filter_map(|entity| entity.data.last()).map(|datum| datum.time_ns).max()
}

/// Returns the definition of a tag with these members.
fn definition(state: u32, (tag, members): (String, String)) -> TagDefinition {
    let json = format!("{{{}}}", members.trim_start_matches(','));
    let members: Object = serde_json::from_str(&json).unwrap_or_default();
    let fields = members.into_iter().map(|(key, value)| (key, value.to_string())).collect();
    TagDefinition { state, tag, fields, is_defined: true }
}
