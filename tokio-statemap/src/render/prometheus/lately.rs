//! The metrics that need a snapshot: where tasks wait just now, and the poll that held a worker longest in the last minute.

use std::cmp::Reverse;

use crate::analysis::recent::Recent;
use crate::analysis::waiting_now::{WaitingAt, waiting_now};
use crate::render::prometheus::places::{MOST, OTHER};
use crate::render::prometheus::text::{Kind, Text, seconds};
use crate::symbols::{StackFrame, without_async};
use crate::trace::timeline::Timeline;
use crate::util::map::Map;
use crate::util::source_path::shown;

/// The figures that were found in a snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lately {
    waiting: Vec<WaitingAt>,
    longest: Option<Longest>,
}

/// The poll that held a worker longest in the last minute.
#[derive(Clone, Debug)]
struct Longest {
    /// The function that is blamed for it, if it was sampled.
    at: Option<StackFrame>,
    location: String,
    held_ns: u64,
}

impl Lately {
    pub(crate) fn from_timeline(timeline: &Timeline) -> Self {
        let recent = Recent::from_timeline(timeline);
        let longest = recent.longest.map(|(task, poll)| {
            let location = task.location.map(|location| location.to_string());
            Longest {
                at: recent.blamed(timeline),
                location: shown(&location.unwrap_or_default()).into(),
                held_ns: timeline.held_ns(poll),
            }
        });
        Self { waiting: waiting_now(timeline), longest }
    }

    pub(super) fn add(&self, text: &mut Text) {
        let places = self.places();
        let mut add = |name: &str, help: &str, value: &dyn Fn(u64, u64) -> String| {
            text.family(name, Kind::Gauge, help);
            for ([function, line, awaits], tasks, longest_ns) in &places {
                let labels = [("function", &**function), ("line", line), ("awaits", awaits)];
                text.sample("", &labels, &value(*tasks, *longest_ns));
            }
        };
        add("tasks_waiting", "The tasks that wait at a line.", &|tasks, _| tasks.to_string());
        let help =
            "The time for which one of these tasks has waited longest, as far as it is known.";
        add("longest_wait_seconds", help, &|_, longest_ns| seconds(longest_ns));
        let name = "longest_poll_of_last_minute_seconds";
        let help = "The time for which one poll held a worker longest in the last minute.";
        text.family(name, Kind::Gauge, help);
        if let Some(longest) = &self.longest {
            let [function, line] = place(longest.at.as_ref());
            let labels =
                [("function", &*function), ("line", &*line), ("location", &*longest.location)];
            text.sample("", &labels, &seconds(longest.held_ns));
        }
    }

    /// Returns the lines with most tasks, and the others as one, each with the values of its labels.
    fn places(&self) -> Vec<([String; 3], u64, u64)> {
        // Places that differ in what calls them, or in types, are one.
        let mut lines: Map<[String; 3], (u64, u64)> = Map::default();
        for waiting in &self.waiting {
            let [function, line] = place(waiting.at.as_ref());
            let awaits = waiting.awaits.as_ref().map(name).unwrap_or_default();
            add_to(
                lines.get_or_default([function, line, awaits]),
                waiting.tasks,
                waiting.longest_ns,
            );
        }
        let mut all: Vec<_> = lines.into_iter().collect();
        crate::util::sort::by_key(&mut all, |(_, line)| Reverse(*line));
        let mut places = Vec::new();
        let mut others = (0, 0);
        for (labels, line) in all {
            match places.len() < MOST {
                true => places.push((labels, line.0, line.1)),
                false => add_to(&mut others, line.0, line.1),
            }
        }
        if others.0 > 0 {
            let labels = [OTHER.to_owned(), String::new(), String::new()];
            places.push((labels, others.0, others.1));
        }
        places
    }
}

/// Adds tasks, and the longest wait of one of them, to others.
fn add_to(line: &mut (u64, u64), tasks: u64, longest_ns: u64) {
    *line = (line.0 + tasks, line.1.max(longest_ns));
}

/// Returns the function, and its file and line, as labels: `unknown` if there is none.
fn place(frame: Option<&StackFrame>) -> [String; 2] {
    let Some(frame) = frame else { return ["unknown".to_owned(), String::new()] };
    let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = frame.file.as_ref().map(|file| format!("{}{line}", shown(file)));
    [name(frame), file.unwrap_or_default()]
}

fn name(frame: &StackFrame) -> String {
    without_async(&frame.function).to_owned()
}
