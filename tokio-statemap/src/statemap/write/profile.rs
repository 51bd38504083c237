//! Writes what calls of async functions took.

use std::io;

use super::run::{List, Parts, number};
use super::stream::Text;
use crate::trace::profile::{FunctionProfile, PerCall, Profile};
use crate::trace::timeline::Timeline;
use crate::util::json;

/// What the first definition says of a profile, if there is one.
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
            self.add(
                List::Profile,
                format_args!("[{name},{file},{line},{column},{numbers},{ended}]"),
            );
            self.write_if_full(text)?;
        }
        Ok(())
    }
}

fn per_call(times: PerCall) -> String {
    let PerCall { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns } = times;
    format!("[{}]", [mean_ns, p50_ns, p90_ns, p99_ns, longest_ns].map(number).join(","))
}
