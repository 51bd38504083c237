//! Writes the profile of async functions.

use std::io;

use super::run::{List, Parts, number};
use super::stream::Text;
use crate::trace::profile::{FunctionProfile, PerCall, Profile};
use crate::trace::timeline::Timeline;
use crate::util::json;

/// Returns the facts about a profile for the first definition, if there is a profile.
pub(super) fn facts(profile: &Profile) -> Option<String> {
    let Profile { recorded_ns, workers, uncounted_calls, .. } = *profile;
    let numbers = [recorded_ns, workers, uncounted_calls];
    (*profile != Profile::default()).then(|| numbers.map(number).join(","))
}

impl Parts {
    pub(super) fn profile(&mut self, timeline: &Timeline, text: &mut Text<'_>) -> io::Result<()> {
        for function in &timeline.profile.functions {
            let FunctionProfile { calls, completed, cancelled, polls, total_ns, own_ns, .. } =
                *function;
            let (name, file) = (json::string(&function.name), json::string(&function.file));
            let (line, column) = (function.line, function.column);
            let numbers = [calls, completed, cancelled, polls, total_ns, own_ns].map(number);
            let ended = function.ended.as_ref().map_or_else(
                || "null".to_owned(),
                |ended| {
                    let all = [ended.total, ended.own, ended.waiting].map(per_call);
                    format!("[{}]", all.join(","))
                },
            );
            let numbers = numbers.join(",");
            self.entry(
                text,
                List::Profile,
                format_args!("[{name},{file},{line},{column},{numbers},{ended}]"),
            )?;
        }
        Ok(())
    }
}

fn per_call(times: PerCall) -> String {
    let PerCall { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns } = times;
    format!("[{}]", [mean_ns, p50_ns, p90_ns, p99_ns, longest_ns].map(number).join(","))
}
