//! What calls of async functions took, as it is in the data.

use super::facts::Number;
use crate::trace::profile::{Ended, FunctionProfile, PerCall};

/// How many functions there may be: a program tells that many apart.
const MOST: usize = 4096;

/// `[name, file, line, column, calls, completed, cancelled, polls, total, own, ended]`
pub(super) type ProfileEntry = (
    String,
    String,
    u32,
    u32,
    Number,
    Number,
    Number,
    Number,
    Number,
    Number,
    Option<[[Number; 5]; 3]>,
);

/// Adds what a part says.
pub(super) fn add(
    functions: &mut Vec<FunctionProfile>,
    entries: &mut Vec<ProfileEntry>,
) -> Result<(), String> {
    if functions.len() + entries.len() > MOST {
        return Err(format!("`profile` has over {MOST} functions, which is the most there may be"));
    }
    for entry in entries.drain(..) {
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
