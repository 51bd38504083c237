//! Sums up the time in data of other programs, by state and by tag.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::long_polls::LONGEST_POLLS;
use crate::statemap::Datum;
use crate::statemap::read::{Entity, Statemap};

/// A report on where the time went in statemap data of any program.
///
/// Its `Display` is the text, without a newline at its end. All times are in ns. For this crate's own data there is a
/// full report: see [`recordings`](crate::statemap::recordings).
///
/// # Examples
///
/// ```
/// use tokio_statemap::statemap::read::read;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1}
/// {"time":"90","entity":"cpu-0","state":0}
/// "#;
/// let report = read(&data[..])?.report();
/// assert_eq!((report.states[1].total_ns, report.states[1].longest_ns), (20, 20));
/// # Ok::<(), tokio_statemap::statemap::read::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataReport {
    /// The title of the data.
    pub title: String,
    /// The kind of the entities: `CPU`, `Task`, ….
    pub entity_kind: String,
    /// The number of entities.
    pub entities: u64,
    /// The number of changes of state.
    pub changes: u64,
    /// The length of the data.
    pub length_ns: u64,
    /// `true` if the data is a part of what was read.
    pub is_part: bool,
    /// The states, by value.
    pub states: Vec<StateTime>,
    /// The tags that were used, by the time that entities had them, the longest first.
    pub groups: Vec<GroupTime>,
    /// The ten longest times in a state, the longest first.
    pub longest: Vec<Span>,
}

/// The time that the entities were in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateTime {
    /// The state.
    pub name: String,
    /// The sum of these times. For many entities that wait for days, this is more than 64 bits hold.
    pub total_ns: u128,
    /// The longest single time in it.
    pub longest_ns: u64,
    /// The number of times that an entity entered it.
    pub times: u64,
}

/// The time that the entities had a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupTime {
    /// The state and its tag.
    pub label: String,
    /// The number of entities that had it.
    pub entities: u64,
    /// The number of times that an entity got it.
    pub spans: u64,
    /// The sum of these times.
    pub total_ns: u128,
    /// The longest single time with it.
    pub longest_ns: u64,
}

/// A time in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The entity.
    pub entity: String,
    /// The state, and its tag.
    pub label: String,
    /// The time at which it began.
    pub start_ns: u64,
    /// The time that it lasted.
    pub length_ns: u64,
    /// `true` if it lasted to the end.
    pub is_open: bool,
}

impl Statemap {
    /// Works out where the time went.
    pub fn report(&self) -> DataReport {
        let mut report = DataReport {
            title: self.metadata.title.clone(),
            entity_kind: self.metadata.entity_kind.clone().unwrap_or_else(|| "entity".to_owned()),
            entities: self.entities.len() as u64,
            changes: self.entities.iter().map(|entity| entity.data.len() as u64).sum(),
            length_ns: self.end_ns,
            is_part: self.is_part,
            states: Vec::with_capacity(self.metadata.states.len()),
            groups: Vec::new(),
            longest: Vec::new(),
        };
        for state in &self.metadata.states {
            let name = state.name.clone();
            report.states.push(StateTime { name, total_ns: 0, longest_ns: 0, times: 0 });
        }
        scan(self, &mut report);
        report
    }
}

/// A length, its begin, its entity, and its first datum. If two lengths are equal, the earlier one counts as longer.
type Length = (u64, Reverse<(u64, usize, usize)>);

/// One pass over all of the data.
fn scan(file: &Statemap, report: &mut DataReport) {
    let mut tags: Vec<Option<GroupTime>> = vec![None; file.tags.len()];
    // The longest times so far.
    let mut longest: BinaryHeap<Reverse<Length>> = BinaryHeap::new();
    // The entity with which each tag was last seen.
    let mut seen = vec![usize::MAX; file.tags.len()];
    for (index, entity) in file.entities.iter().enumerate() {
        for (at, datum, length_ns) in spans(file, entity) {
            let state = &mut report.states[datum.state as usize];
            state.times += 1;
            state.total_ns += u128::from(length_ns);
            state.longest_ns = state.longest_ns.max(length_ns);
            if length_ns > 0 {
                longest.push(Reverse((length_ns, Reverse((datum.time_ns, index, at)))));
                if longest.len() > LONGEST_POLLS {
                    longest.pop();
                }
            }
            let Some(tag) = datum.tag else { continue };
            let group = tags[tag].get_or_insert_with(|| GroupTime {
                label: label(file, datum),
                entities: 0,
                spans: 0,
                total_ns: 0,
                longest_ns: 0,
            });
            group.entities += u64::from(std::mem::replace(&mut seen[tag], index) != index);
            group.spans += 1;
            group.total_ns += u128::from(length_ns);
            group.longest_ns = group.longest_ns.max(length_ns);
        }
    }
    report.groups = tags.into_iter().flatten().collect();
    report.groups.sort_by_key(|group| Reverse(group.total_ns));
    let mut longest: Vec<_> = longest.into_iter().map(|Reverse(span)| span).collect();
    longest.sort_by_key(|&span| Reverse(span));
    let span_of = |(length_ns, Reverse((start_ns, entity, at))): Length| {
        let entity = &file.entities[entity];
        Span {
            entity: entity.name.clone(),
            label: label(file, entity.data[at]),
            start_ns,
            length_ns,
            // The last change of all may have the same time, so the time alone doesn't tell.
            is_open: entity.data[at..].iter().all(|next| is_same(&entity.data[at], next)),
        }
    };
    report.longest = longest.into_iter().map(span_of).collect();
}

/// Returns the times that an entity was in a state: the first datum and the length of each. A datum that only repeats
/// the state doesn't begin another.
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

fn label(file: &Statemap, datum: Datum) -> String {
    let state = &file.metadata.states[datum.state as usize].name;
    match datum.tag {
        None => state.clone(),
        Some(tag) => format!("{state}: {}", file.tags[tag].tag),
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
    }
}
