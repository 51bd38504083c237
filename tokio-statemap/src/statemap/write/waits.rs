//! Writes the places where tasks wait.

use std::io;

use super::run::{Indices, List, Number, Parts};
use super::stream::Text;
use crate::trace::timeline::{AwaitFrame, Timeline, Wait, WaitId};
use crate::util::json::{self, Raw, array, list};
use crate::util::map::Map;

impl Parts {
    /// Writes the functions in which tasks wait, each wait with its number.
    pub(super) fn waits<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for (id, wait) in (1_u32..).zip(&timeline.places.waits) {
            if wait.frames.is_empty() {
                continue;
            }
            let mut nodes = Vec::new();
            for frame in &wait.frames {
                self.node(frame, None, &mut nodes, indices);
            }
            self.entry(text, List::Waits, &[&id, &nodes])?;
        }
        Ok(())
    }

    /// Adds a function, followed by the functions that it awaits.
    fn node<'a>(
        &mut self,
        frame: &'a AwaitFrame,
        parent: Option<usize>,
        nodes: &mut Vec<Raw>,
        indices: &mut Indices<'a>,
    ) {
        let function = self.index_of(&frame.function, indices);
        let this = nodes.len();
        nodes.push(list(&[&function, &parent, &frame.name.as_deref(), &frame.call]));
        for next in &frame.awaits {
            self.node(next, Some(this), nodes, indices);
        }
    }

    /// Writes the chains with functions known only by address, and the chains of each such wait.
    pub(super) fn unnamed<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for chain in &timeline.places.unnamed.chains {
            let mut places = Vec::new();
            for (number, frames) in &chain.places {
                let mut place = vec![*number as usize];
                for frame in frames.iter() {
                    place.push(self.index_of(frame, indices));
                }
                places.push(place);
            }
            let calls = array(&chain.calls, |call| list(&[&&*call.name, &&*call.file, &call.line]));
            self.entry(text, List::Chains, &[&places, &calls])?;
        }
        for (id, chains) in &timeline.places.unnamed.waits {
            self.entry(text, List::Unnamed, &[&id.number(), chains])?;
        }
        Ok(())
    }

    /// Writes the facts about single tasks.
    pub(super) fn tasks(&mut self, timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
        for task in timeline.tasks.one_by_one() {
            if let (Some(name), false) = (&task.name, self.are_names_elsewhere) {
                self.add(List::Names, &[&task.key, &&**name]);
            }
            if let Some(since_ns) = task.carried_since_ns() {
                self.add(List::Carried, &[&task.key, &Number(since_ns)]);
            }
            self.write_if_full(text)?;
        }
        for task in &timeline.local_tasks {
            let wait = task.wait.map(WaitId::number);
            self.entry(
                text,
                List::LocalTasks,
                &[
                    &Number(task.id),
                    &task.polled_in,
                    &task.location,
                    &task.name.as_deref(),
                    &Number(task.waits_since_ns),
                    &wait,
                    &task.woken_by,
                ],
            )?;
        }
        for (task, calls) in &*timeline.places.calls_at_end {
            let calls =
                array(calls, |call| list(&[&Number(call.entered_ns), &call.fields.as_deref()]));
            self.entry(text, List::Calls, &[task, &calls])?;
        }
        Ok(())
    }
}

/// The text and the members of tags for places of waiting, by number.
pub(in crate::statemap) struct WaitTags<'a> {
    waits: &'a [Wait],
    texts: Map<WaitId, (String, String)>,
}

impl<'a> WaitTags<'a> {
    pub(in crate::statemap) fn new(waits: &'a [Wait]) -> Self {
        Self { waits, texts: Map::default() }
    }

    /// Returns the end of a tag, and the members of its definition.
    pub(in crate::statemap) fn get(&mut self, id: WaitId) -> &(String, String) {
        let wait = self.waits.get(id.index());
        self.texts.get_or_insert_with(id, || {
            let number = id.number();
            let lines = wait.map(Wait::lines).unwrap_or_default();
            let texts: Vec<_> = lines.iter().map(ToString::to_string).collect();
            let text = match &texts[..] {
                [] if id == WaitId::NOTHING => "nothing took its waker".to_owned(),
                [] => "unknown".to_owned(),
                [one] => one.clone(),
                [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
            };
            let all = json::string(&texts.join("; "));
            // The number tells equal texts apart.
            (format!("waits ({number}): {text}"), format!(",\"wait\":{number},\"waitsAt\":{all}"))
        })
    }
}
