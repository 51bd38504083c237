//! The profile of instrumented functions, as JSON.

use crate::trace::profile::{FunctionProfile, PerCall, Profile};
use crate::util::json::{Raw, array, object};
use crate::util::source_path::shown;

pub(super) fn profile(profile: &Profile) -> Raw {
    let function = |function: &FunctionProfile| {
        let times = |of: PerCall| [of.mean_ns, of.p50_ns, of.p90_ns, of.p99_ns, of.longest_ns];
        let ended = function
            .ended
            .map(|ended| (times(ended.total), times(ended.own), times(ended.waiting)));
        object(&[
            ("calls", &function.calls),
            ("cancelled", &function.cancelled),
            ("completed", &function.completed),
            ("ended", &ended),
            ("file", &shown(&function.file).into_owned()),
            ("line", &function.line),
            ("name", &function.name),
            ("own", &function.own_ns),
            ("polls", &function.polls),
            ("total", &function.total_ns),
        ])
    };
    object(&[
        ("functions", &array(&profile.functions, function)),
        ("recorded", &profile.recorded_ns),
        ("uncounted", &profile.uncounted_calls),
        ("workers", &profile.workers),
    ])
}
