//! The sentences of a report: a headline and details.

use std::fmt;
use std::time::Duration;

use super::beside::SeenBeside;
use super::culprits::{Culprit, Unattributed};
use super::delay::Delay;
use super::let_go::LetGo;
use super::long_polls::LongPoll;
use super::place::{Place, bare_name, source_line};
use crate::trace::timeline::StackFrame;
use crate::util::clean::clean;
use crate::util::columns::{COLUMNS, keep_right};
use crate::util::quantity::{count, human, human_setting, own_and_wall};

/// A headline, which says who, what and how much, and the sentences that follow it: the harm, then where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    /// One sentence.
    pub(crate) headline: String,
    /// Any number of sentences, separated by spaces.
    pub(crate) details: String,
}

impl Statement {
    pub(crate) fn new(headline: impl Into<String>) -> Self {
        Self { headline: headline.into(), details: String::new() }
    }

    /// Adds a sentence, unless it is empty.
    pub(crate) fn add(&mut self, sentence: impl AsRef<str>) {
        let sentence = sentence.as_ref();
        if !self.details.is_empty() && !sentence.is_empty() {
            self.details.push(' ');
        }
        self.details.push_str(sentence);
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)?;
        if !self.details.is_empty() {
            write!(f, " {}", self.details)?;
        }
        Ok(())
    }
}

/// Returns a place as sentences name it. A path longer than a line is shortened.
pub(super) fn place_name(place: Place) -> String {
    keep_right(&place.to_string(), COLUMNS)
}

/// Returns `tasks spawned at src/shop.rs:21:9`, or the words for a place without such a location.
pub(super) fn tasks_of(place: Place) -> String {
    match tasks_origin(place) {
        Some(origin) => format!("tasks {origin}"),
        None => root_future_of(place),
    }
}

/// Returns `5 tasks spawned at src/shop.rs:21:9`.
pub(super) fn n_tasks_of(n: u64, place: Place) -> String {
    match tasks_origin(place) {
        Some(origin) => format!("{} {origin}", count(n, "task")),
        None => root_future_of(place),
    }
}

/// Returns what follows `tasks`: `spawned at src/shop.rs:21:9`. Returns `None` for a root future.
pub(super) fn tasks_origin(place: Place) -> Option<String> {
    match (place.location, place.is_root) {
        (_, true) => None,
        (Some(_), false) => Some(format!("spawned at {}", place_name(place))),
        (None, false) => Some("of unknown spawn location".to_owned()),
    }
}

fn root_future_of(place: Place) -> String {
    format!("the root future of {}", place_name(place))
}

/// Returns the text with a capital first letter.
pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut capitalized: String = first.to_uppercase().collect();
    capitalized.push_str(chars.as_str());
    capitalized
}

/// Returns `shop::render_invoice at src/shop.rs:21`. A part longer than a line is shortened.
pub(crate) fn function_name(frame: &StackFrame) -> String {
    let name = bare_name(frame);
    let word = if frame.line.is_some() { "at" } else { "in" };
    match source_line(frame) {
        Some(place) => format!("{name} {word} {}", keep_right(&clean(&place), COLUMNS)),
        None => name,
    }
}

/// Returns a sentence that says who called the function of the sentence before; empty if that isn't known.
pub(super) fn called_from(callers: &[StackFrame], are_all: bool) -> String {
    let was = if are_all { "was" } else { "was mostly" };
    match callers {
        [] => String::new(),
        callers => format!("It {was} {}.", called_from_each(callers)),
    }
}

/// Returns `called from` the first of these functions, `and that from` the second.
fn called_from_each(callers: &[StackFrame]) -> String {
    let names: Vec<_> = callers.iter().take(2).map(function_name).collect();
    format!("called from {}", names.join(", and that from "))
}

/// Returns a sentence on another thread, which may hold the lock that polls waited for.
pub(super) fn beside_sentence(beside: &SeenBeside) -> String {
    let SeenBeside { frame, callers, seen_polls, polls } = beside;
    let from = match &callers[..] {
        [] => String::new(),
        callers => format!(", {}", called_from_each(callers)),
    };
    let when = match seen_polls == polls {
        true => "At the same time".to_owned(),
        false => format!("In {seen_polls} of these {polls} polls"),
    };
    format!(
        "{when} another thread was in {}{from}: that may be what they waited for.",
        function_name(frame)
    )
}

/// Returns a sentence on the await at which a task may have held the lock that polls waited for.
pub(super) fn let_go_sentence(let_go: &LetGo) -> String {
    let LetGo { waited_in, polls, of } = let_go;
    let when = match polls == of {
        true => format!("In all {of}"),
        false => format!("In {polls} of {of}"),
    };
    let Some(function) = waited_in.first() else { return String::new() };
    format!(
        "{when} polls that were seen to wait for the lock, the wait ended when a task was polled that had waited in {}: that task \
         may hold the lock over the await.",
        function_name(function)
    )
}

/// Returns a sentence on the lock that a poll waits for at the end, if nobody is known who may hold it.
pub(super) fn unknown_holder_sentence(culprit: &Culprit, is_stuck: bool) -> &'static str {
    let is_known = culprit.beside.is_some() || culprit.let_go.is_some();
    match is_stuck && culprit.is_for_a_lock && !is_known {
        true => {
            "It isn't known who holds what it waits for: another thread, a task that waits, or the function itself, since an \
             earlier line."
        }
        false => "",
    }
}

/// Returns a sentence on where tasks had waited before their long polls.
pub(super) fn waited_in_sentence(functions: &[StackFrame]) -> String {
    match functions {
        [] => String::new(),
        [only] => format!("The tasks had last waited in {}.", function_name(only)),
        [inner, outer, ..] => format!(
            "The tasks had last waited in {}, called from {}.",
            function_name(inner),
            function_name(outer)
        ),
    }
}

/// Returns a setting in words: `1 ms`.
pub(super) fn setting(time: Duration) -> String {
    human_setting(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns a sentence on the delay of other tasks: `Meanwhile other tasks waited 3.20 s for a worker, in sum.` `during`
/// is its first word or words, and `locked_at` the line at which they waited for a lock.
pub(super) fn delay_sentence(delay: Delay, locked_at: Option<&str>, during: &str) -> String {
    let late = match delay.latest_ns {
        0 => None,
        latest_ns => {
            let sum = match delay.late_ns > latest_ns {
                true => format!(", {} in sum", human(delay.late_ns)),
                false => String::new(),
            };
            Some(format!("timers and I/O came up to {} late{sum}", human(latest_ns)))
        }
    };
    let mut waited = Vec::new();
    if let Some(ns @ 1..) = delay.waited_ns {
        waited.push(format!("{} for a worker", human(ns)));
    }
    if let Some(at) = locked_at {
        let (length, at) = (human(delay.locked_ns), clean(at));
        waited.push(format!("{length} for a lock that was held then, at {at}"));
    }
    match (&waited[..], delay.waited_ns, late) {
        ([], None, None) => {
            "How long other tasks waited isn't known: ready times were not recorded.".to_owned()
        }
        ([], Some(_), None) => "No other task waited meanwhile.".to_owned(),
        ([], _, Some(late)) => format!("{during} nothing else ran: {late}."),
        (waited, _, late) => {
            let waited = waited.join(", and ");
            let late = late.map_or_else(String::new, |late| format!(", and {late}"));
            format!("{during} other tasks waited {waited}, in sum{late}.")
        }
    }
}

/// Returns the words that follow `no poll`: `held a worker over 1 ms`.
pub(super) fn no_long_poll(unattributed: &Unattributed, long_poll: Duration) -> String {
    let is_seen = unattributed.unseen_polls == 0 && unattributed.dropped_polls == 0;
    let held = if is_seen { "held" } else { "was seen to hold" };
    let is_any = unattributed.polls > 0 || !is_seen;
    let own = if is_any { " by its own doing" } else { "" };
    format!("{held} a worker over {}{own}", setting(long_poll))
}

/// Returns a sentence on the longest of the long polls that held no worker, if there are any.
pub(super) fn off_worker_sentence(longest: Option<&LongPoll>) -> String {
    let Some(longest) = longest else { return String::new() };
    let name = match longest.place.is_root {
        true => "main".to_owned(),
        false => place_name(longest.place),
    };
    let least = if longest.is_cut { "at least " } else { "" };
    let length = own_and_wall(longest.own_ns, longest.length_ns);
    let in_function = longest.frame.as_ref().map(function_name);
    let in_function = in_function.map(|name| format!(", in {name}")).unwrap_or_default();
    match longest.is_running {
        true => format!(
            "A poll of {name} still ran at the end, after {least}{length}{in_function}, on a thread that isn't a worker."
        ),
        false => format!(
            "The longest poll of {name} took {least}{length}{in_function}, on a thread that isn't a worker."
        ),
    }
}
