//! What metrics tell beyond the sums: where tasks wait just now, and the poll that held a worker longest in the last
//! minute.
//!
//! A snapshot is needed for these, which takes some 50 ms for a million events. A scrape each second would make that much of
//! a processor, so what was found stays for a hundred times as long as it took.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::analysis::recent::Recent;
use crate::analysis::waiting_now::{WaitingAt, waiting_now};
use crate::render::prometheus::places::{MOST, OTHER};
use crate::render::prometheus::text::{Kind, Text, seconds};
use crate::symbols::StackFrame;
use crate::trace::timeline::Timeline;
use crate::util::source_path::shown;
use crate::util::sync::lock;

/// The part of the time that may be spent on it: one of so many.
const ONE_OF: u32 = 100;

/// What was found in a snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lately {
    waiting: Vec<WaitingAt>,
    longest: Option<Longest>,
}

/// The poll that held a worker longest.
#[derive(Clone, Debug)]
struct Longest {
    /// The function that is blamed for it, if it was sampled.
    at: Option<StackFrame>,
    location: String,
    held_ns: u64,
}

impl Lately {
    pub(super) fn from_timeline(timeline: &Timeline) -> Self {
        let longest = Recent::from_timeline(timeline).longest.map(|(task, poll)| {
            let at = timeline.samples(poll).last().and_then(|sample| sample.blamed());
            let location = task.location.map(|location| location.to_string());
            Longest {
                at: at.cloned(),
                location: shown(&location.unwrap_or_default()).into(),
                held_ns: timeline.held_ns(poll),
            }
        });
        Self { waiting: waiting_now(timeline), longest }
    }

    pub(super) fn add(&self, text: &mut Text) {
        let places = self.places();
        let mut add = |name: &str, help: &str, value: &dyn Fn(&WaitingAt) -> String| {
            text.family(name, Kind::Gauge, help);
            for (labels, waiting) in &places {
                let labels =
                    [("function", &*labels[0]), ("line", &*labels[1]), ("awaits", &*labels[2])];
                text.sample("", &labels, &value(waiting));
            }
        };
        add("tasks_waiting", "The tasks that wait at a line.", &|at| at.tasks.to_string());
        let help = "The time for which one of these tasks has waited longest.";
        add("longest_wait_seconds", help, &|at| seconds(at.longest_ns));
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
    fn places(&self) -> Vec<([String; 3], WaitingAt)> {
        let mut places: Vec<([String; 3], WaitingAt)> = Vec::new();
        for waiting in &self.waiting {
            let [function, line] = place(waiting.at.as_ref());
            let awaits = waiting.awaits.as_ref().map(name).unwrap_or_default();
            let labels = [function, line, awaits];
            // Functions that are told apart only by their types or columns are one.
            let known = places.iter().position(|(known, _)| *known == labels);
            let place = match known {
                None if places.len() < MOST => {
                    places.push((labels, waiting.clone()));
                    continue;
                }
                None if places.len() == MOST => {
                    let others = [OTHER.to_owned(), String::new(), String::new()];
                    places.push((others, waiting.clone()));
                    continue;
                }
                None => MOST,
                Some(place) => place,
            };
            let sum = &mut places[place].1;
            sum.tasks += waiting.tasks;
            sum.longest_ns = sum.longest_ns.max(waiting.longest_ns);
        }
        places
    }
}

/// Returns the function, and its file and line, as labels: `unknown` if there is none.
fn place(frame: Option<&StackFrame>) -> [String; 2] {
    let Some(frame) = frame else { return ["unknown".to_owned(), String::new()] };
    let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = frame.file.as_ref().map(|file| format!("{}{line}", shown(file)));
    [name(frame), file.unwrap_or_default()]
}

fn name(frame: &StackFrame) -> String {
    frame.function.trim_start_matches("async ").to_owned()
}

/// What was found last, when, and how long that took.
#[derive(Debug, Default)]
pub(crate) struct LatelyFound(Mutex<Option<(Lately, Instant, Duration)>>);

impl LatelyFound {
    /// Returns what was found, or what is found in a snapshot by `take` if that is long ago.
    pub(crate) fn get(&self, take: impl FnOnce() -> Timeline) -> Lately {
        let mut found = lock(&self.0);
        if let Some((lately, at, took)) = &*found {
            if at.elapsed() < *took * ONE_OF {
                return lately.clone();
            }
        }
        let began = Instant::now();
        let lately = Lately::from_timeline(&take());
        *found = Some((lately.clone(), began, began.elapsed()));
        lately
    }
}
