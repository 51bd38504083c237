//! Measures where tasks waited, by the line that awaits.

mod holders;
pub(super) mod path;

use std::num::NonZeroU64;

pub use holders::Holder;
pub(super) use holders::{is_lock, is_room};

use super::lengths::quantile;
use super::place::{bare_name, source_line};
use super::usual::long_wait_ns;
use crate::symbols::{StackFrame, without_async};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline, Wait, WaitId, WaitLine};
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human_sum, percent, share};

/// The lines at which tasks waited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waits {
    /// The lines at which tasks waited, the one with the longest waits in sum first. Empty if only the lines of root
    /// futures are known.
    pub lines: Vec<WaitRow>,
    /// The number of waits whose line isn't known.
    pub unknown: u64,
    /// The time that the waits at unknown lines took in sum, in ns.
    pub unknown_ns: u128,
    /// The number of waits in functions that are only known by address.
    pub unnamed: u64,
    /// The time that the waits in these functions took in sum, in ns.
    pub unnamed_ns: u128,
}

impl Waits {
    /// Returns what isn't known about the waits, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        let waits = |n, ns| format!("{}, {} in all", count(n, "wait"), human_sum(ns));
        let mut notes = Vec::new();
        if self.unnamed > 0 {
            notes.push(format!(
                "The functions of {} have no names, as the program has no symbols: `tokio-statemap symbolize` \
                 names them.",
                waits(self.unnamed, self.unnamed_ns),
            ));
        }
        if self.unknown > 0 && !self.lines.is_empty() {
            notes.push(format!(
                "The lines of {} aren't known: the task's waker was used up elsewhere, the stack could not be \
                 followed, or the task waited since before the recording.",
                waits(self.unknown, self.unknown_ns),
            ));
        }
        notes
    }
}

/// The waits at one line. A wait for several futures at once counts at the line of each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitRow {
    /// The function and the line.
    pub at: StackFrame,
    /// The future that is awaited there, such as `tokio::sync::mutex::Mutex<T>::lock`.
    pub awaits: Option<String>,
    /// The number of waits.
    pub times: u64,
    /// The time that the waits took in sum, in ns: until the task was ready, or to the right edge.
    pub total_ns: u128,
    /// The longest wait, in ns.
    pub longest_ns: u64,
    /// The median length, in ns.
    pub p50_ns: u64,
    /// The length that 99 % of them did not exceed, in ns.
    pub p99_ns: u64,
    /// The number of tasks that waited there at the end: at the right edge, or when their runtime was shut down.
    pub now: u64,
    /// The time for which no wait there had ended at the end, in ns, although tasks waited; `None` if no task waited,
    /// or if that time isn't far longer than earlier waits took.
    pub none_ended_for_ns: Option<u64>,
    /// The line at which the holders of the lock waited for most of the time that they held it, if there is one. For room in a
    /// channel, the same of the tasks that took something out of it.
    pub holder: Option<Holder>,
}

impl WaitRow {
    /// Returns whether tasks wait there, and either none ever went on, or none has for far longer than waits there took.
    pub(super) fn is_still(&self) -> bool {
        self.now > 0 && (self.now == self.times || self.none_ended_for_ns.is_some())
    }

    /// Returns the line, or the function if the line isn't known, and the awaited future: `src/shop.rs:17,
    /// Mutex::lock`.
    pub(crate) fn label(&self) -> String {
        label(&self.at, self.awaits.as_deref())
    }
}

impl Holder {
    /// Returns the lines from the lock's function down to its own, and the awaited future.
    pub(crate) fn label(&self) -> String {
        match (&self.path, &self.awaits) {
            (Some(path), Some(awaits)) => format!("{path}, {}", short(awaits)),
            (Some(path), None) => path.clone(),
            (None, awaits) => label(&self.at, awaits.as_deref()),
        }
    }

    /// Returns a sentence about it. `at` is the line at which others waited for it meanwhile, if nothing else says so.
    pub(crate) fn sentence(&self, at: Option<&str>) -> String {
        let share = percent(share(self.waited_ns, self.held_ns).unwrap_or(1.0));
        let label = self.label();
        let (holder, label) = (clean(&label), at.map(clean));
        let said = match (self.is_for_room, label) {
            (false, None) => format!("For {share} of the time that it was held, its holders"),
            (false, Some(at)) => {
                format!(
                    "For {share} of the time that what is awaited at {at} was held, its holders"
                )
            }
            (true, None) => format!("For {share} of that time, those that took something out"),
            (true, Some(at)) => {
                format!(
                    "For {share} of the time that tasks waited at {at}, those that took something out"
                )
            }
        };
        let function = match self.at.is_nameless_async() {
            true => String::new(),
            false => format!(" in {}", bare_name(&self.at)),
        };
        format!("{said} waited{function} at {holder}, as far as is known.")
    }
}

/// The module of Tokio's mutex.
pub(super) const MUTEX: &str = "tokio::sync::mutex";

/// Returns the module of Tokio, or of another crate, that an awaited future is in: `tokio::sync::rwlock`. In an optimised build more
/// may not be known of some of the waits at a line.
pub(super) fn awaited_module(awaits: &str) -> &str {
    let name = awaits.trim_start_matches("an async fn of ").trim_start_matches('<');
    let end = name.match_indices("::").nth(2).map_or(name.len(), |(at, _)| at);
    &name[..end]
}

/// Returns a line, or its function if the line isn't known, and the awaited future: `src/shop.rs:17, Mutex::lock`.
pub(super) fn label(at: &StackFrame, awaits: Option<&str>) -> String {
    let line = match (at.line, source_line(at)) {
        (Some(_), Some(line)) => line,
        _ => at.short(),
    };
    match awaits {
        Some(awaits) => format!("{line}, {}", short(awaits)),
        None => line,
    }
}

/// Returns the lines of a wait: `src/shop.rs:17, Mutex::lock + src/shop.rs:20, Sleep`.
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

/// Returns the lines of the program from the outermost function of a wait down; of a wait at one line only, [`place_label`].
pub(super) fn path_label(wait: &Wait) -> String {
    let path = wait.frames.first().and_then(path::path_of_several);
    path.unwrap_or_else(|| place_label(wait))
}

/// Returns the properties that identify a line of waits.
#[inline(never)]
pub(crate) fn line_of(line: WaitLine<'_>) -> (&StackFrame, Option<&str>) {
    (line.at, line.awaits.map(|awaits| without_async(&awaits.function)))
}

/// The waits at one place.
#[derive(Default)]
struct AtPlace {
    lengths_ns: Vec<u64>,
    now: u64,
    last_ended_ns: u64,
    longest_ended_ns: u64,
}

/// The least ratio of the time without the end of a wait to any wait there that ended.
const TIMES_AS_LONG: u64 = 2;

/// Finds where tasks waited.
pub(super) fn find(timeline: &Timeline) -> Waits {
    // The places, in the order of the waits' numbers, which are small.
    let mut places: Vec<AtPlace> = Vec::new();
    let mut waits = Waits::default();
    let mut is_of_tasks = false;
    let shutdown = Shutdown::from_timeline(timeline);
    // Since this time, the place of every wait that ended is known.
    let mut known_since_ns = timeline.recent_ns.max(timeline.begin_ns);
    for &(_, to_ns) in &timeline.gaps {
        known_since_ns = known_since_ns.max(to_ns);
    }
    for task in timeline.tasks.one_by_one() {
        if let (TaskState::Waiting, None, Some(first)) =
            (task.first_state, task.carried_wait, task.polls.first())
        {
            known_since_ns = known_since_ns.max(first.ready_ns().unwrap_or(first.start_ns()));
        }
        // The place where the task waited last, as far as is known.
        let mut last: Option<usize> = None;
        for_each_wait(timeline, &task, shutdown, &mut |wait, from_ns, length_ns, is_now| {
            let id = match wait {
                // Nothing kept the task's waker, so it waits at no line.
                Some(WaitId::NOTHING) => return,
                Some(id) if timeline.wait(id).is_some() => id,
                Some(id) if timeline.places.unnamed.has(id) => {
                    waits.unnamed += 1;
                    waits.unnamed_ns += u128::from(length_ns);
                    return;
                }
                _ => {
                    waits.unknown += 1;
                    waits.unknown_ns += u128::from(length_ns);
                    if is_now {
                        return;
                    }
                    // It may have been at the place before, if that place's waker wasn't the one that was used up.
                    let ended_ns = from_ns.saturating_add(length_ns);
                    let before = last.filter(|_| timeline.places.not_kept == 0);
                    let ended = match before.and_then(|last| places.get_mut(last)) {
                        Some(place) => &mut place.last_ended_ns,
                        None => &mut known_since_ns,
                    };
                    *ended = ended_ns.max(*ended);
                    return;
                }
            };
            is_of_tasks |= matches!(task.key, TaskKey::Spawned(_));
            if places.len() <= id.index() {
                places.resize_with(id.index() + 1, AtPlace::default);
            }
            last = Some(id.index());
            let place = &mut places[id.index()];
            place.lengths_ns.push(length_ns);
            match is_now {
                true => place.now += 1,
                false => {
                    let ended_ns = from_ns.saturating_add(length_ns);
                    place.last_ended_ns = place.last_ended_ns.max(ended_ns);
                    place.longest_ended_ns = place.longest_ended_ns.max(length_ns);
                }
            }
        });
    }
    if is_of_tasks {
        let end_ns = shutdown.begins_ns().unwrap_or(timeline.end_ns);
        waits.lines = rows(timeline, &places, known_since_ns, end_ns);
    }
    waits
}

/// Calls `each` with each wait of a task: its place, its start, its length, and whether it went on at the end.
pub(crate) fn for_each_wait(
    timeline: &Timeline,
    task: &Task,
    shutdown: Shutdown,
    each: &mut dyn FnMut(Option<WaitId>, u64, u64, bool),
) {
    let alive_at = task.terminated_ns.is_none();
    let is_to_the_end = alive_at || shutdown.cut_wait(task).is_some();
    let right = task.terminated_ns.unwrap_or(timeline.end_ns);
    for i in 0..=task.polls.len() {
        let (wait, mut from_ns) = match i.checked_sub(1) {
            None => match task.carried_wait {
                Some(carried) => (carried.wait, task.first_ns),
                None => continue,
            },
            Some(before) => match (task.polls[before].wait(), task.polls[before].end_ns()) {
                (wait, Some(end_ns)) => (wait, end_ns),
                (_, None) => continue,
            },
        };
        let next_ns = match task.polls.get(i) {
            Some(next) => Some(next.ready_ns().unwrap_or(next.start_ns())),
            None => task.ready_ns.map(NonZeroU64::get),
        };
        let to_ns = next_ns.unwrap_or(right);
        if i > 0 && timeline.gap_between(from_ns, to_ns).is_some() {
            // It waited, but when that wait ended isn't known unless the task still waits.
            match (wait, task.waits_since_ns) {
                (_, Some(since)) if next_ns.is_none() => from_ns = since.get(),
                (None, _) => continue,
                _ => {}
            }
        }
        // A task ends with its last poll; a root future is dropped a little later.
        let is_over = to_ns <= from_ns || wait.is_none() && matches!(task.key, TaskKey::Root(_));
        if next_ns.is_none() && !alive_at && is_over {
            continue;
        }
        each(wait, from_ns, to_ns.saturating_sub(from_ns), next_ns.is_none() && is_to_the_end);
    }
}

fn rows(timeline: &Timeline, places: &[AtPlace], known_since_ns: u64, end_ns: u64) -> Vec<WaitRow> {
    let kept_ns = end_ns.saturating_sub(timeline.recent_ns.max(timeline.begin_ns));
    let least_ns = long_wait_ns(kept_ns);
    let mut lines: Map<(&StackFrame, Option<&str>), AtPlace> = Map::default();
    let mut only_at = Vec::new();
    for (index, place) in places.iter().enumerate() {
        if place.lengths_ns.is_empty() {
            continue;
        }
        let Some(id) = WaitId::new(index as u16 + 1) else { continue };
        let Some(wait) = timeline.wait(id) else { continue };
        let mut keys = Vec::new();
        for line in wait.lines() {
            keys.push(line_of(line));
        }
        // Both branches of a `join!` may be on one line.
        crate::util::sort::by_key(&mut keys, |&(at, awaits)| (order(at), awaits));
        keys.dedup();
        if let [only] = keys[..] {
            only_at.push((id, only));
        }
        for key in keys {
            let at_line = lines.get_or_default(key);
            at_line.lengths_ns.extend_from_slice(&place.lengths_ns);
            at_line.now += place.now;
            at_line.last_ended_ns = at_line.last_ended_ns.max(place.last_ended_ns);
            at_line.longest_ended_ns = at_line.longest_ended_ns.max(place.longest_ended_ns);
        }
    }
    let mut rows = Vec::new();
    for ((at, awaits), mut place) in lines {
        let mut total_ns = 0;
        for &ns in &place.lengths_ns {
            total_ns += u128::from(ns);
        }
        let longest_ns = quantile(&mut place.lengths_ns, 100);
        // No task may have waited before.
        let none_ended_for_ns =
            end_ns.saturating_sub(place.last_ended_ns.max(known_since_ns)).min(longest_ns);
        let is_long = place.now > 0
            && none_ended_for_ns >= least_ns
            && none_ended_for_ns / TIMES_AS_LONG >= place.longest_ended_ns;
        rows.push(WaitRow {
            at: at.clone(),
            awaits: awaits.map(str::to_owned),
            times: place.lengths_ns.len() as u64,
            total_ns,
            longest_ns,
            p50_ns: quantile(&mut place.lengths_ns, 50),
            p99_ns: quantile(&mut place.lengths_ns, 99),
            now: place.now,
            none_ended_for_ns: is_long.then_some(none_ended_for_ns),
            holder: None,
        });
    }
    crate::util::sort::by(&mut rows, |a, b| {
        let longest = b.total_ns.cmp(&a.total_ns);
        longest.then_with(|| (order(&a.at), &a.awaits).cmp(&(order(&b.at), &b.awaits)))
    });
    let mut indices: Map<_, usize> = Map::default();
    for (index, row) in rows.iter().enumerate() {
        indices.insert((&row.at, row.awaits.as_deref()), index);
    }
    let mut lock_lines = Vec::new();
    for &(id, line) in &only_at {
        match indices.get(&line) {
            Some(&index) if rows[index].is_for_a_lock() || rows[index].is_for_room() => {
                lock_lines.resize(places.len(), None);
                lock_lines[id.index()] = Some(index);
            }
            _ => {}
        }
    }
    holders::find(timeline, &mut rows, &lock_lines);
    rows
}

/// Returns a key that is different for any two functions, so that the order of rows doesn't depend on a map.
fn order(at: &StackFrame) -> (Option<&str>, Option<u32>, &str, u8) {
    (at.file.as_deref(), at.line, &at.function, at.origin as u8)
}

/// Returns a path without the arguments of types and functions: `shop::Cart` for `shop::Cart<a::B<C>>`.
pub(super) fn without_types(path: &str) -> String {
    let (mut plain, mut depth) = (String::new(), 0_u32);
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.replace("::::", "::")
}

/// Returns the last parts of a path, without types: `Mutex::lock`, `Sleep`.
fn short(path: &str) -> String {
    let plain = without_types(path);
    let (mut last, mut owner) = ("", "");
    for part in plain.split("::") {
        if !part.is_empty() {
            (owner, last) = (last, part);
        }
    }
    match owner.starts_with(char::is_uppercase) {
        true => format!("{owner}::{last}"),
        false => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awaited_futures_have_short_names() {
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
