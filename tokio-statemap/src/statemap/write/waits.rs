//! Writes where tasks wait.

use std::io;
use std::sync::Arc;

use super::run::{Indices, List, Parts, key, number, or_null, place};
use super::stream::Text;
use crate::trace::timeline::{
    AwaitFrame, CallAtEnd, NamedCall, StackFrame, Timeline, Wait, WaitId,
};
use crate::util::json;
use crate::util::map::Map;

impl Parts {
    /// Writes the functions that tasks wait in: each wait with its number.
    pub(super) fn waits<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for (id, wait) in (1..).zip(&timeline.places.waits) {
            if wait.frames.is_empty() {
                continue;
            }
            let mut nodes = Vec::new();
            for frame in &wait.frames {
                self.node(frame, None, &mut nodes, indices);
            }
            self.entry(text, List::Waits, format_args!("[{id},[{}]]", nodes.join(",")))?;
        }
        Ok(())
    }

    /// Adds a function, and behind it what it awaits.
    fn node<'a>(
        &mut self,
        frame: &'a AwaitFrame,
        parent: Option<usize>,
        nodes: &mut Vec<String>,
        indices: &mut Indices<'a>,
    ) {
        let function = self.index_of(&frame.function, indices);
        let name = or_null(frame.name.as_deref().map(json::string));
        let (call, up) = (or_null(frame.call), or_null(parent));
        let this = nodes.len();
        nodes.push(format!("[{function},{up},{name},{call}]"));
        for next in &frame.awaits {
            self.node(next, Some(this), nodes, indices);
        }
    }

    /// Writes the chains of waits of which functions are addresses, and which waits are of which.
    pub(super) fn unnamed<'a>(
        &mut self,
        timeline: &'a Timeline,
        indices: &mut Indices<'a>,
        text: &mut Text<'_>,
    ) -> io::Result<()> {
        for chain in &timeline.places.unnamed.chains {
            let place = |(number, frames): &'a (u32, Arc<[StackFrame]>)| {
                let functions =
                    frames.iter().map(|frame| self.index_of(frame, indices).to_string());
                let place: Vec<_> = std::iter::once(number.to_string()).chain(functions).collect();
                format!("[{}]", place.join(","))
            };
            let places: Vec<_> = chain.places.iter().map(place).collect();
            let call = |call: &NamedCall| {
                format!("[{},{},{}]", json::string(&call.name), json::string(&call.file), call.line)
            };
            let calls: Vec<_> = chain.calls.iter().map(call).collect();
            self.entry(
                text,
                List::Chains,
                format_args!("[[{}],[{}]]", places.join(","), calls.join(",")),
            )?;
        }
        for (id, chains) in &timeline.places.unnamed.waits {
            let chains: Vec<_> = chains.iter().map(ToString::to_string).collect();
            self.entry(
                text,
                List::Unnamed,
                format_args!("[{},[{}]]", id.number(), chains.join(",")),
            )?;
        }
        Ok(())
    }

    /// Writes the facts about single tasks.
    pub(super) fn tasks(&mut self, timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
        for task in timeline.tasks.one_by_one() {
            let of = key(Some(task.key));
            if let Some(name) = task.name.as_ref().filter(|_| !self.are_names_elsewhere) {
                self.add(List::Names, format_args!("[{of},{}]", json::string(name)));
            }
            if let Some(carried) = task.carried_wait {
                self.add(List::Carried, format_args!("[{of},{}]", number(carried.since_ns)));
            }
            self.write_if_full(text)?;
        }
        for task in &timeline.local_tasks {
            let (id, polled_in) = (number(task.id), key(Some(task.polled_in)));
            let at = place(Some(task.location));
            let name = or_null(task.name.as_deref().map(json::string));
            let (since_ns, wait) =
                (number(task.waits_since_ns), or_null(task.wait.map(WaitId::number)));
            self.entry(
                text,
                List::LocalTasks,
                format_args!("[{id},{polled_in},{at},{name},{since_ns},{wait}]"),
            )?;
        }
        for (task, calls) in &*timeline.places.calls_at_end {
            let call = |call: &CallAtEnd| {
                let fields = or_null(call.fields.as_deref().map(json::string));
                format!("[{},{fields}]", number(call.entered_ns))
            };
            let calls: Vec<_> = calls.iter().map(call).collect();
            self.entry(
                text,
                List::Calls,
                format_args!("[{},[{}]]", key(Some(*task)), calls.join(",")),
            )?;
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
