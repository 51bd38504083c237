//! Tasks that wait for ever, as it seems.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::place::Place;
use crate::trace::state::TaskState;
use crate::trace::timeline::{TaskKey, Timeline};

/// Tasks of a spawn location that had waited for most of the recording when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// Where they were spawned.
    pub place: Place,
    /// How many.
    pub tasks: u64,
    /// How long the one that waited longest did, in ns.
    pub waited_ns: u64,
}

/// From when on a wait is worth a word, if it is also half of what was recorded.
const LONG_WAIT_NS: u64 = 1_000_000_000;

/// Those of the location of which a task waited longest; `None` if none waited for long.
pub(super) fn stuck(timeline: &Timeline) -> Option<Stuck> {
    let long_ns = LONG_WAIT_NS.max(timeline.length_ns() / 2);
    let mut places: HashMap<Place, Stuck> = HashMap::new();
    for task in timeline.tasks.one_by_one() {
        if task.terminated_ns.is_some() || matches!(task.key, TaskKey::Root(_)) {
            continue;
        }
        let since_ns = match task.polls.last() {
            Some(poll) => poll.end_ns(),
            None => (task.first_state == TaskState::Waiting).then_some(task.first_ns),
        };
        let waited_ns = since_ns.map(|since| timeline.end_ns.saturating_sub(since));
        // One that is ready waits for a worker: that is another matter.
        let Some(waited_ns) = waited_ns.filter(|&ns| ns >= long_ns && task.ready_ns.is_none())
        else {
            continue;
        };
        let place = Place::of(&task);
        let stuck = places.entry(place).or_insert(Stuck { place, tasks: 0, waited_ns: 0 });
        stuck.tasks += 1;
        stuck.waited_ns = stuck.waited_ns.max(waited_ns);
    }
    places.into_values().max_by_key(|stuck| (stuck.waited_ns, Reverse(stuck.place)))
}
