//! Where tasks waited, by the line that awaits.

mod holders;

use std::collections::{BTreeMap, HashMap};

pub use holders::Holder;

use super::locations::quantile;
use super::source_line;
use crate::symbols::StackFrame;
use crate::trace::timeline::{Poll, Shutdown, Task, TaskKey, Timeline, Wait, WaitId, WaitLine};
use crate::util::quantity::{count, human_sum};

/// Where tasks waited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waits {
    /// A row for each line at which a task waited, the longest waits in sum first. None if it is known of
    /// root futures alone.
    pub lines: Vec<WaitRow>,
    /// How many waits there were of which the line isn't known.
    pub unknown: u64,
    /// How long those took in sum, in ns.
    pub unknown_ns: u128,
    /// How many waits there were at functions of which only the addresses are known.
    pub unnamed: u64,
    /// How long those took in sum, in ns.
    pub unnamed_ns: u128,
}

impl Waits {
    /// What isn't known: a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let of = |waits, ns| format!("Of {}, {} in all,", count(waits, "wait"), human_sum(ns));
        let mut notes = Vec::new();
        if self.unnamed > 0 {
            notes.push(format!(
                "{} the functions have no names, as the program has no symbols: `tokio-statemap symbolize` \
                 names them.",
                of(self.unnamed, self.unnamed_ns),
            ));
        }
        if self.unknown > 0 && !self.lines.is_empty() {
            notes.push(format!(
                "{} the line isn't known: of tasks not spawned through tokio_statemap, or from before the \
                 recording.",
                of(self.unknown, self.unknown_ns),
            ));
        }
        notes
    }
}

/// The waits at one line. A wait for several things at once counts at the line of each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitRow {
    /// The function and the line.
    pub at: StackFrame,
    /// What is awaited there, such as `tokio::sync::mutex::Mutex<T>::lock`.
    pub awaits: Option<String>,
    /// How many waits.
    pub times: u64,
    /// How long they took in sum, in ns: up to when the task was ready, or to the right edge.
    pub total_ns: u128,
    /// The longest one, in ns.
    pub longest_ns: u64,
    /// So long at most were half of them, in ns.
    pub p50_ns: u64,
    /// So long at most were 99 of 100, in ns.
    pub p99_ns: u64,
    /// How many tasks waited there at the end: at the right edge, or when their runtime was shut down.
    pub now: u64,
    /// Of a lock: where its holder waited meanwhile, if that is the rule.
    pub holder: Option<Holder>,
}

impl WaitRow {
    /// `src/shop.rs:17, Mutex::lock`: the line, or else the function, and what is awaited there.
    pub(crate) fn label(&self) -> String {
        label(&self.at, self.awaits.as_deref())
    }
}

impl Holder {
    /// As of a [`WaitRow`].
    pub(crate) fn label(&self) -> String {
        label(&self.at, self.awaits.as_deref())
    }
}

fn label(at: &StackFrame, awaits: Option<&str>) -> String {
    let line = at.line.and_then(|_| source_line(at)).unwrap_or_else(|| at.short());
    let awaits = awaits.map(|awaits| format!(", {}", short(awaits)));
    format!("{line}{}", awaits.unwrap_or_default())
}

/// The lines of a wait: `src/shop.rs:17, Mutex::lock + src/shop.rs:20, Sleep`.
pub(crate) fn place_label(wait: &Wait) -> String {
    let mut labels = Vec::new();
    for line in wait.lines() {
        let (at, awaits) = line_of(line);
        let label = label(at, awaits);
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels.join(" + ")
}

/// What waits of one line have in common.
pub(crate) fn line_of(line: WaitLine<'_>) -> (&StackFrame, Option<&str>) {
    (line.at, line.awaits.map(|awaits| awaits.function.trim_start_matches("async ")))
}

/// The waits of one place.
#[derive(Default)]
struct AtPlace {
    lengths_ns: Vec<u64>,
    now: u64,
}

pub(super) fn waits(timeline: &Timeline) -> Waits {
    let mut places: BTreeMap<WaitId, AtPlace> = BTreeMap::new();
    let mut waits = Waits::default();
    let mut is_of_tasks = false;
    let shutdown = Shutdown::of(timeline);
    for task in timeline.tasks.one_by_one() {
        for_each_wait(timeline, &task, shutdown, |wait, _, length_ns, is_now| {
            let id = match wait {
                // It waits for nothing, at no line.
                Some(WaitId::NOTHING) => return,
                Some(id) if timeline.wait(id).is_some() => id,
                Some(id) if timeline.unnamed_waits.has(id) => {
                    waits.unnamed += 1;
                    waits.unnamed_ns += u128::from(length_ns);
                    return;
                }
                _ => {
                    waits.unknown += 1;
                    waits.unknown_ns += u128::from(length_ns);
                    return;
                }
            };
            is_of_tasks |= matches!(task.key, TaskKey::Spawned(_));
            let place = places.entry(id).or_default();
            place.lengths_ns.push(length_ns);
            place.now += u64::from(is_now);
        });
    }
    if is_of_tasks {
        waits.lines = rows(timeline, places);
    }
    waits
}

/// Calls `each` with each wait of a task: where, since when, how long, and whether it went on at the end.
pub(crate) fn for_each_wait(
    timeline: &Timeline,
    task: &Task,
    shutdown: Shutdown,
    mut each: impl FnMut(Option<WaitId>, u64, u64, bool),
) {
    let alive_at = task.terminated_ns.is_none();
    let is_to_the_end = alive_at || shutdown.cut_wait(task).is_some();
    let right = task.terminated_ns.unwrap_or(timeline.end_ns);
    let first = task.carried_wait.map(|carried| (carried.wait, task.first_ns));
    let after = |poll: &Poll| Some((poll.wait(), poll.end_ns()?));
    let begins = std::iter::once(first).chain(task.polls.iter().map(after));
    for (i, begin) in begins.enumerate() {
        let Some((wait, from_ns)) = begin else { continue };
        let next = task.polls.get(i);
        let ready_ns = task.ready_ns.map(std::num::NonZeroU64::get).filter(|_| next.is_none());
        let next_ns = next.map(|next| next.ready_ns().unwrap_or(next.start_ns())).or(ready_ns);
        let to_ns = next_ns.unwrap_or(right);
        // The end of the last poll is the end of the task; a root future is dropped a little later.
        let is_over = to_ns <= from_ns || wait.is_none() && matches!(task.key, TaskKey::Root(_));
        if next_ns.is_none() && !alive_at && is_over {
            continue;
        }
        each(wait, from_ns, to_ns.saturating_sub(from_ns), next_ns.is_none() && is_to_the_end);
    }
}

fn rows(timeline: &Timeline, places: BTreeMap<WaitId, AtPlace>) -> Vec<WaitRow> {
    let mut lines: HashMap<(&StackFrame, Option<&str>), AtPlace> = HashMap::new();
    let mut only_at = Vec::new();
    for (id, place) in &places {
        let Some(wait) = timeline.wait(*id) else { continue };
        let mut keys: Vec<_> = wait.lines().into_iter().map(line_of).collect();
        // Both branches of a `join!` may be of one line.
        keys.sort_by_key(|&(at, awaits)| (order(at), awaits));
        keys.dedup();
        if let [only] = keys[..] {
            only_at.push((*id, only));
        }
        for key in keys {
            let at_line = lines.entry(key).or_default();
            at_line.lengths_ns.extend_from_slice(&place.lengths_ns);
            at_line.now += place.now;
        }
    }
    let row = |((at, awaits), mut place): ((&StackFrame, Option<&str>), AtPlace)| {
        let [p50_ns, p99_ns] = [50, 99].map(|share| quantile(&mut place.lengths_ns, share));
        WaitRow {
            at: at.clone(),
            awaits: awaits.map(str::to_owned),
            times: place.lengths_ns.len() as u64,
            total_ns: place.lengths_ns.iter().map(|&ns| u128::from(ns)).sum(),
            longest_ns: place.lengths_ns.iter().copied().max().unwrap_or_default(),
            p50_ns,
            p99_ns,
            now: place.now,
            holder: None,
        }
    };
    let mut rows: Vec<_> = lines.into_iter().map(row).collect();
    rows.sort_by(|a, b| {
        let longest = b.total_ns.cmp(&a.total_ns);
        longest.then_with(|| (order(&a.at), &a.awaits).cmp(&(order(&b.at), &b.awaits)))
    });
    let indices: HashMap<_, usize> =
        rows.iter().enumerate().map(|(i, row)| ((&row.at, row.awaits.as_deref()), i)).collect();
    let lines = only_at.into_iter().map(|(id, line)| (id, indices[&line])).collect();
    holders::find(timeline, &mut rows, &lines);
    rows
}

/// An order in which no two functions are equal, so that rows don't stand as a map has them.
fn order(at: &StackFrame) -> (Option<&str>, Option<u32>, &str, u8) {
    (at.file.as_deref(), at.line, &at.function, at.origin as u8)
}

/// The last parts of a path, without types: `Mutex::lock`, `Sleep`.
fn short(path: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let mut parts = plain.rsplit("::").filter(|part| !part.is_empty());
    let (last, owner) = (parts.next().unwrap_or_default(), parts.next());
    match owner.filter(|owner| owner.starts_with(char::is_uppercase)) {
        Some(owner) => format!("{owner}::{last}"),
        None => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_has_a_short_name() {
        for (path, name) in [
            ("tokio::sync::mutex::Mutex<T>::lock", "Mutex::lock"),
            ("tokio::time::sleep::Sleep", "Sleep"),
            ("tokio::task::yield_now::yield_now", "yield_now"),
            ("shop::Cart<a::B<C>>", "Cart"),
            ("", ""),
        ] {
            assert_eq!(short(path), name, "{path}");
        }
    }
}
