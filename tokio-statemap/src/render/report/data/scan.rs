//! One pass over all of the data.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::{DataReport, GroupTime, LONG_POLL_NS, Span, StateTime};
use crate::statemap::read::{Entity, Statemap};
use crate::statemap::{Datum, Ours, is_root};
use crate::trace::state::{TaskState, WorkerState};
use crate::util::clean::clean;

const LONGEST_POLLS: usize = 10;

/// What tells groups apart: a spawn location, a worker, or a state and its tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Location { is_root: bool, tag: Option<&'a str> },
    Worker(usize),
    Tag(usize),
}

/// A length, when it began, and what is that long: an entity and one of its data. Of equals the
/// earliest counts more.
type Length = (u64, Reverse<(u64, usize, usize)>);

pub(super) fn scan(file: &Statemap, report: &mut DataReport) {
    let kind = file.metadata.ours();
    report.states = states(file, kind);
    let mut groups: HashMap<Key<'_>, usize> = HashMap::new();
    // The longest so far: length, then whichever comes first.
    let mut longest: BinaryHeap<Reverse<Length>> = BinaryHeap::new();
    for (index, entity) in file.entities.iter().enumerate() {
        let own_key = match kind {
            Some(Ours::Tasks { .. }) => Some(location(file, entity)),
            Some(Ours::Workers) => Some(Key::Worker(index)),
            None => None,
        };
        let mut seen = Vec::new();
        for (at, datum, length_ns) in spans(file, entity) {
            let state = &mut report.states[datum.state as usize];
            state.times += 1;
            state.total_ns += u128::from(length_ns);
            state.longest_ns = state.longest_ns.max(length_ns);
            if length_ns > 0 && is_worth_listing(kind, datum) {
                longest.push(Reverse((length_ns, Reverse((datum.time_ns, index, at)))));
                if longest.len() > LONGEST_POLLS {
                    longest.pop();
                }
            }
            let Some(key) = own_key.or(datum.tag.map(Key::Tag)) else { continue };
            let group = *groups.entry(key).or_insert_with(|| {
                report.groups.push(group(file, key));
                report.groups.len() - 1
            });
            if !seen.contains(&group) {
                // An entity has few tags at once; what has many is not counted to the last one.
                if seen.len() < 64 {
                    seen.push(group);
                }
                report.groups[group].entities += 1;
            }
            add(&mut report.groups[group], kind, datum, length_ns, (datum.time_ns, index, at));
        }
    }
    report.groups.sort_by_key(|group| Reverse(group.total_ns));
    let mut longest: Vec<_> = longest.into_iter().map(|Reverse(span)| span).collect();
    longest.sort_by_key(|&span| Reverse(span));
    report.longest = longest
        .into_iter()
        .map(|(length_ns, Reverse((_, entity, at)))| {
            let entity = &file.entities[entity];
            let datum = entity.data[at];
            Span {
                entity: entity.name.clone(),
                label: label(file, entity, datum, kind),
                start_ns: datum.time_ns,
                length_ns,
                is_open: is_open(entity, at),
                is_cut: kind.is_some() && is_cut(at, datum),
            }
        })
        .collect();
}

/// Whether an entity was still in a state at the end. Not by the time: what the last change of all
/// ended is over, too.
pub(super) fn is_open(entity: &Entity, at: usize) -> bool {
    entity.data[at..].iter().all(|next| is_same(&entity.data[at], next))
}

/// Whether a poll may have begun before the data does: what isn't there from its spawn on was there at
/// the left edge.
pub(super) fn is_cut(at: usize, datum: Datum) -> bool {
    at == 0 && datum.time_ns == 0
}

fn states(file: &Statemap, kind: Option<Ours>) -> Vec<StateTime> {
    let states = file.metadata.states.iter().zip(0_u32..);
    states
        .map(|(state, value)| StateTime {
            name: state.name.clone(),
            total_ns: 0,
            longest_ns: 0,
            times: 0,
            is_end: match kind {
                Some(Ours::Tasks { .. }) => value == u32::from(TaskState::Completed.value()),
                Some(Ours::Workers) => value == u32::from(WorkerState::Stopped.value()),
                None => false,
            },
        })
        .collect()
}

/// The times that an entity was in a state: which datum, and for how long. Data that only repeat
/// the state don't begin another.
fn spans<'a>(
    file: &Statemap,
    entity: &'a Entity,
) -> impl Iterator<Item = (usize, Datum, u64)> + use<'a> {
    let (data, end_ns) = (&entity.data, file.end_ns);
    let is_new = |at: usize| at == 0 || !is_same(&data[at - 1], &data[at]);
    let mut starts = (0..data.len()).filter(move |&at| is_new(at)).peekable();
    std::iter::from_fn(move || {
        let at = starts.next()?;
        let until_ns = starts.peek().map_or(end_ns, |&next| data[next].time_ns);
        Some((at, data[at], until_ns - data[at].time_ns))
    })
}

fn is_same(a: &Datum, b: &Datum) -> bool {
    (a.state, a.tag) == (b.state, b.tag)
}

fn is_running(kind: Option<Ours>, datum: Datum) -> bool {
    match kind {
        Some(Ours::Tasks { .. }) => datum.state == u32::from(TaskState::Running.value()),
        Some(Ours::Workers) => datum.state == u32::from(WorkerState::Running.value()),
        None => true,
    }
}

fn is_worth_listing(kind: Option<Ours>, datum: Datum) -> bool {
    // How long a worker ran says little: it polls one task after the other.
    kind != Some(Ours::Workers) && is_running(kind, datum)
}

fn add(
    group: &mut GroupTime,
    kind: Option<Ours>,
    datum: Datum,
    length_ns: u64,
    at: (u64, usize, usize),
) {
    let is = |state: TaskState| datum.state == u32::from(state.value());
    if is_running(kind, datum) {
        group.spans += 1;
        group.total_ns += u128::from(length_ns);
        let is_longer = group
            .longest_at
            .is_none_or(|longest| (length_ns, Reverse(at)) > (group.longest_ns, Reverse(longest)));
        if is_longer {
            (group.longest_ns, group.longest_at) = (length_ns, Some(at));
        }
        if length_ns > LONG_POLL_NS {
            group.long_spans += 1;
            group.long_spans_ns += u128::from(length_ns);
        }
    } else if matches!(kind, Some(Ours::Tasks { .. }))
        && !group.is_root
        // From its spawn on a task is ready; a future of `block_on` is in no queue.
        && (is(TaskState::Ready) || is(TaskState::Spawned))
    {
        group.ready_ns += u128::from(length_ns);
        group.longest_ready_ns = group.longest_ready_ns.max(Some(length_ns));
    }
}

fn location<'a>(file: &'a Statemap, entity: &Entity) -> Key<'a> {
    let tag = entity.data.iter().find_map(|datum| datum.tag);
    Key::Location {
        is_root: is_root(&entity.name),
        tag: tag.map(|tag| file.tags[tag].tag.as_str()),
    }
}

fn group(file: &Statemap, key: Key<'_>) -> GroupTime {
    let (label, is_root) = match key {
        Key::Location { is_root, tag } => (place(is_root, tag), is_root),
        Key::Worker(entity) => (file.entities[entity].name.clone(), false),
        Key::Tag(tag) => {
            let tag = &file.tags[tag];
            (format!("{}: {}", file.metadata.states[tag.state as usize].name, tag.tag), false)
        }
    };
    GroupTime {
        label,
        is_root,
        entities: 0,
        spans: 0,
        total_ns: 0,
        longest_ns: 0,
        long_spans: 0,
        long_spans_ns: 0,
        ready_ns: 0,
        longest_ready_ns: None,
        longest_at: None,
    }
}

/// How a spawn location is named.
fn place(is_root: bool, tag: Option<&str>) -> String {
    match (is_root, tag) {
        (true, Some(tag)) => format!("{} (main)", clean(tag)),
        (true, None) => "main".to_owned(),
        (false, Some(tag)) => clean(tag).into_owned(),
        (false, None) => "location unknown".to_owned(),
    }
}

fn label(file: &Statemap, entity: &Entity, datum: Datum, kind: Option<Ours>) -> String {
    let tag = datum.tag.map(|tag| file.tags[tag].tag.as_str());
    match (kind, tag) {
        (Some(_), tag) => place(is_root(&entity.name), tag),
        (None, None) => file.metadata.states[datum.state as usize].name.clone(),
        (None, Some(tag)) => {
            format!("{}: {tag}", file.metadata.states[datum.state as usize].name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statemap::read::read;

    #[test]
    fn a_span_is_over_where_the_state_changes() {
        let data = br#"{"start":[0,0],"title":"","states":{"a":{"value":0},"b":{"value":1}}}
            {"time":"1","entity":"e","state":0} {"time":"5","entity":"e","state":0}
            {"time":"7","entity":"e","state":1}{"time":"9","entity":"f","state":1}"#;
        let file = read(&data[..]).unwrap();
        let lengths = |entity: usize| -> Vec<u64> {
            spans(&file, &file.entities[entity]).map(|(_, _, length)| length).collect()
        };
        assert_eq!(lengths(0), [6, 2]);
        assert_eq!(lengths(1), [0]);
    }

    #[test]
    fn what_the_last_change_ends_is_over() {
        let data = br#"{"start":[0,0],"title":"","states":{"a":{"value":0},"b":{"value":1}}}
            {"time":"0","entity":"e","state":0} {"time":"5","entity":"e","state":1}
            {"time":"0","entity":"f","state":0} {"time":"8","entity":"f","state":0}
            {"time":"9","entity":"e","state":0}"#;
        let report = read(&data[..]).unwrap().report();
        let open = report.longest.iter().map(|span| (span.entity.as_str(), span.is_open));
        assert_eq!(open.collect::<Vec<_>>(), [("f", true), ("e", false), ("e", false)]);
    }

    #[test]
    fn there_may_be_more_states_than_we_have() {
        let states: Vec<_> = (0..300).map(|n| format!(r#""s{n}":{{"value":{n}}}"#)).collect();
        let data = format!(
            r#"{{"start":[0,0],"title":"","states":{{{}}}}}
            {{"time":"0","entity":"e","state":299}} {{"time":"5","entity":"e","state":256}}"#,
            states.join(",")
        );
        let report = read(data.as_bytes()).unwrap().report();
        assert_eq!((report.states.len(), report.states[299].total_ns), (300, 5));
        assert!(report.states.iter().all(|state| !state.is_end));
    }
}
