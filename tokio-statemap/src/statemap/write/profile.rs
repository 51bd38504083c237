//! Writes the profile of async functions.

use std::io;

use super::run::{List, Number, Parts};
use super::stream::Text;
use crate::trace::profile::{PerCall, Profile};
use crate::trace::timeline::Timeline;

/// Returns the facts about a profile for the first definition, if there is a profile.
pub(super) fn facts(profile: &Profile) -> Option<[Number; 3]> {
    let Profile { recorded_ns, workers, uncounted_calls, .. } = *profile;
    let numbers = [Number(recorded_ns), Number(workers), Number(uncounted_calls)];
    (*profile != Profile::default()).then_some(numbers)
}

impl Parts {
    pub(super) fn profile(&mut self, timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
        for of in &timeline.profile.functions {
            let ended = of
                .ended
                .as_ref()
                .map(|ended| [per_call(ended.total), per_call(ended.own), per_call(ended.waiting)]);
            self.entry(
                text,
                List::Profile,
                &[
                    &&*of.name,
                    &&*of.file,
                    &of.line,
                    &of.column,
                    &Number(of.calls),
                    &Number(of.completed),
                    &Number(of.cancelled),
                    &Number(of.polls),
                    &Number(of.total_ns),
                    &Number(of.own_ns),
                    &ended,
                ],
            )?;
        }
        Ok(())
    }
}

fn per_call(times: PerCall) -> [Number; 5] {
    let PerCall { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns } = times;
    [Number(mean_ns), Number(p50_ns), Number(p90_ns), Number(p99_ns), Number(longest_ns)]
}
