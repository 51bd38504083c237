//! Finds the silences within long polls whose places are known.

use super::causes::Stretch;
use crate::trace::timeline::{Silence, Silences, Timeline};

/// Finds them. `workers` has the stretches of long polls, by worker and time.
pub(super) fn silences(timeline: &Timeline, workers: &[Vec<Stretch>]) -> Silences {
    // The long polls of each worker, whole, with the time of the last activity within.
    let mut long: Vec<Vec<(Stretch, u64)>> = Vec::new();
    for stretches in workers {
        let mut polls: Vec<(Stretch, u64)> = Vec::new();
        for stretch in stretches {
            match polls.last_mut() {
                // The stretches of a poll follow each other.
                Some((last, _)) if last.to_ns == stretch.from_ns => {
                    (last.to_ns, last.place) = (stretch.to_ns, stretch.place);
                }
                _ => polls.push((*stretch, stretch.from_ns)),
            }
        }
        if !polls.is_empty() {
            long.push(polls);
        }
    }
    if !long.is_empty() {
        for poll in timeline.tasks.seen().iter().flat_map(|task| &task.polls) {
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            for at_ns in [poll.start_ns(), end_ns] {
                for polls in &mut long {
                    let after = polls.partition_point(|(poll, _)| poll.from_ns < at_ns);
                    let Some(before) = after.checked_sub(1) else { continue };
                    let (poll, last_ns) = &mut polls[before];
                    if at_ns < poll.to_ns {
                        *last_ns = at_ns.max(*last_ns);
                    }
                }
            }
        }
    }
    let mut silences = Vec::new();
    for (poll, from_ns) in long.into_iter().flatten() {
        silences.push(Silence { from_ns, to_ns: poll.to_ns, by: poll.place });
    }
    Silences::new(silences)
}
