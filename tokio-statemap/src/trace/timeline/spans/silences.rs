//! Times in which no worker looked for timers and I/O.
//!
//! The worker that would have looked was in a long poll, while the others were parked. This is inferred from a silence:
//! no other poll began or ended. A task that the runtime wakes right after a silence was due earlier, or may have been.

use super::causes::Stretch;
use crate::trace::timeline::{Poll, Timeline};
use crate::trace::woken_by::WokenBy;

/// A shorter silence delays no task noticeably.
const SILENCE_NS: u64 = 1_000_000;
/// A task that is woken this soon after a silence was kept waiting by it: within this time, or within one part in
/// [`BEHIND_PART`] of the silence if that is longer.
const BEHIND_NS: u64 = 1_000_000;
const BEHIND_PART: u64 = 20;

/// The silences, by their ends.
#[derive(Debug, Default)]
pub(super) struct Silences(Vec<Stretch>);

impl Silences {
    /// Finds them. `workers` has the stretches of long polls, by worker and time.
    pub(super) fn find(timeline: &Timeline, workers: &[Vec<Stretch>]) -> Self {
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
            if poll.to_ns - from_ns >= SILENCE_NS {
                silences.push(Stretch { from_ns, ..poll });
            }
        }
        crate::util::sort::by_key(&mut silences, |silence| (silence.to_ns, silence.from_ns));
        Self(silences)
    }

    /// Returns the silence that kept a task waiting, which became ready at `ready_ns` for `poll`.
    pub(super) fn before(&self, poll: &Poll, ready_ns: u64) -> Option<Stretch> {
        if poll.woken_by() != Some(WokenBy::Runtime) {
            return None;
        }
        let after = self.0.partition_point(|silence| silence.to_ns <= ready_ns);
        let silence = self.0[after.checked_sub(1)?];
        let behind_ns = BEHIND_NS.max((silence.to_ns - silence.from_ns) / BEHIND_PART);
        (ready_ns - silence.to_ns <= behind_ns).then_some(silence)
    }
}
