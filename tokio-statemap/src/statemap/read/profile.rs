//! Reads the profile of async functions.

use super::part::Part;
use crate::trace::profile::{Ended, FunctionProfile, PerCall};

/// The most functions: a program tells as many apart.
const MOST: usize = 4096;

/// Adds a part.
pub(super) fn add(functions: &mut Vec<FunctionProfile>, part: &mut Part) -> Result<(), String> {
    if functions.len() + part.profile.len() > MOST {
        return Err(format!("`profile` has over {MOST} functions, which is the limit"));
    }
    for entry in part.profile.drain(..) {
        let (name, file, line, column, calls, completed, cancelled, polls, total, own, ended) =
            entry;
        let ends = completed.0.checked_add(cancelled.0);
        if ends.is_none_or(|ends| ends > calls.0) {
            return Err("`profile` has a function of which more calls ended than began".to_owned());
        }
        let ended = ended.map(|all| {
            let [total, own, waiting] = all.map(|times| PerCall::new(times.map(|ns| ns.0)));
            Ended { total, own, waiting }
        });
        functions.push(FunctionProfile {
            name,
            file,
            line,
            column,
            calls: calls.0,
            completed: completed.0,
            cancelled: cancelled.0,
            polls: polls.0,
            total_ns: total.0,
            own_ns: own.0,
            ended,
        });
    }
    Ok(())
}
