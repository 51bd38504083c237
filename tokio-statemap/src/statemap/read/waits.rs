//! Reads the places where tasks wait.

use std::collections::HashMap;
use std::sync::Arc;

use super::part::{Part, WaitEntry};
use super::value::{Number, Woke};
use crate::statemap::intern::intern;
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{
    AwaitFrame, CallAtEnd, LocalTask, MOST_DEEP, MOST_OF_WAIT, MOST_OF_WAITS, StackFrame, TaskKey,
    UnnamedWaits, Wait, WaitId,
};

/// The places where tasks wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// The waits, by number.
    pub(crate) waits: Vec<Wait>,
    functions: usize,
    /// The waits whose functions are addresses.
    pub(crate) unnamed: UnnamedWaits,
    /// The number of functions in the chains: in all, and counted for each wait.
    pub(super) of_chains: (usize, usize),
    pub(crate) names: HashMap<TaskKey, Arc<str>>,
    /// The beginnings of waits whose polls are missing, in ns.
    pub(crate) carried: HashMap<TaskKey, u64>,
    pub(crate) local_tasks: Vec<LocalTask>,
    pub(crate) calls_at_end: Vec<(TaskKey, Vec<CallAtEnd>)>,
}

impl Waits {
    /// Adds a part. `functions` are the functions of this part and those before.
    pub(super) fn add(
        &mut self,
        part: &mut Part,
        functions: &[StackFrame],
        end_ns: u64,
    ) -> Result<(), String> {
        for wait in part.waits.drain(..) {
            self.wait(wait, functions)?;
        }
        self.names.extend(part.names.drain(..).map(|(task, name)| (task.0, name.into())));
        for (task, Number(since_ns)) in part.carried.drain(..) {
            if since_ns > end_ns {
                return Err(format!("`carried` has a wait since {since_ns}, after the end"));
            }
            self.carried.insert(task.0, since_ns);
        }
        for (id, polled_in, place, name, since, wait, woken_by) in part.local_tasks.drain(..) {
            let location = match place {
                Some((file, line, column)) => {
                    let file = intern(&file).ok_or("there are too many names of files")?;
                    Some(SpawnLocation { file, line, column })
                }
                None => None,
            };
            if since.0 > end_ns {
                return Err(format!("`localTasks` has a wait since {}, after the end", since.0));
            }
            self.local_tasks.push(LocalTask {
                id: id.0,
                polled_in: polled_in.0,
                location,
                name: name.map(Arc::from),
                waits_since_ns: since.0,
                woken_by: woken_by.map(|Woke(by)| by),
                wait: wait.map(|wait| wait_id(wait, "localTasks")).transpose()?,
            });
        }
        for (task, calls) in part.calls.drain(..) {
            if self.calls_at_end.last().is_some_and(|(last, _)| *last >= task.0) {
                return Err("`calls` must be by task".to_owned());
            }
            let call = |(entered, fields): (Number, Option<String>)| CallAtEnd {
                entered_ns: entered.0,
                fields,
            };
            self.calls_at_end.push((task.0, calls.into_iter().map(call).collect()));
        }
        Ok(())
    }

    fn wait(&mut self, (id, nodes): WaitEntry, functions: &[StackFrame]) -> Result<(), String> {
        let id = wait_id(id, "waits")?;
        if id == WaitId::NOTHING || nodes.is_empty() {
            let number = id.number();
            return Err(match nodes.is_empty() {
                true => format!("`waits` has no functions of number {number}"),
                false => format!("`waits` has the number {number}, which is of no functions"),
            });
        }
        if self.waits.len() > id.index() {
            return Err("`waits` must be by number".to_owned());
        }
        self.functions += nodes.len();
        if nodes.len() > MOST_OF_WAIT || self.functions > MOST_OF_WAITS {
            return Err(format!("`waits` have too many functions, such as number {}", id.number()));
        }
        let mut depths: Vec<usize> = Vec::with_capacity(nodes.len());
        let mut frames: Vec<(Option<usize>, AwaitFrame)> = Vec::with_capacity(nodes.len());
        for (function, parent, name, call) in nodes {
            let function = functions.get(function as usize);
            let function = function.ok_or("`waits` has an index that `functions` doesn't have")?;
            let parent = parent.map(|parent| parent as usize);
            let depth = match parent {
                None => 0,
                Some(parent) => {
                    1 + *depths.get(parent).ok_or("`waits` has a caller that comes later")?
                }
            };
            if depth > MOST_DEEP {
                return Err(format!("`waits` has functions over {MOST_DEEP} deep"));
            }
            depths.push(depth);
            let frame = AwaitFrame {
                function: function.clone(),
                awaits: Vec::new(),
                name: name.map(Arc::from),
                call,
            };
            frames.push((parent, frame));
        }
        // Each awaited function follows the one that awaits it, so taken from the end, each is complete.
        let mut wait = Wait::default();
        while let Some((parent, mut frame)) = frames.pop() {
            frame.awaits.reverse();
            match parent.and_then(|parent| frames.get_mut(parent)) {
                Some((_, parent)) => parent.awaits.push(frame),
                None => wait.frames.push(frame),
            }
        }
        wait.frames.reverse();
        self.waits.resize_with(id.index(), Wait::default);
        self.waits.push(wait);
        Ok(())
    }
}

pub(super) fn wait_id(number: u16, of: &str) -> Result<WaitId, String> {
    WaitId::new(number).ok_or_else(|| format!("`{of}` has the invalid number {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::timeline::FrameOrigin;

    /// 128 places have as many functions as there may be, in a file of a few MB.
    #[test]
    #[ignore = "slow"]
    fn all_places_have_a_limit() {
        let functions =
            [StackFrame { function: "f".into(), file: None, line: None, origin: FrameOrigin::Std }];
        let mut waits = Waits::default();
        let mut add = |id| {
            let node = (0, None, None, None);
            let mut part = Part { waits: vec![(id, vec![node; MOST_OF_WAIT])], ..Part::default() };
            waits.add(&mut part, &functions, 0)
        };
        (1..=128).try_for_each(&mut add).unwrap();
        assert_eq!(add(129).unwrap_err(), "`waits` have too many functions, such as number 129");
    }
}
