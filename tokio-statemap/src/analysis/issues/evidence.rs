//! The interface of all kinds of issues.

use crate::analysis::delay::Delay;
use crate::analysis::lengths::Lengths;
use crate::analysis::place::Place;
use crate::analysis::spots::Spot;
use crate::analysis::statement::Statement;
use crate::trace::timeline::StackFrame;

/// The name of a kind of issue, its meaning, and what usually helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// The name of the kind, such as `long polls`.
    pub name: &'static str,
    /// The thing that [`Evidence::number`] counts, in the singular.
    pub noun: &'static str,
    /// The meaning of such an issue, in one line.
    pub meaning: &'static str,
    /// The usual remedy, in one line.
    pub advice: &'static str,
}

/// The subject of an issue, and its amount.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Evidence<'a> {
    /// The function and line to blame; `None` if that isn't known, or no function is.
    pub frame: Option<&'a StackFrame>,
    /// The place where the tasks were spawned; `None` if the issue is not about tasks.
    pub place: Option<Place>,
    /// The number of polls, tasks or waits, as [`Explanation::noun`] says.
    pub number: u64,
    /// The time that these took in sum, in ns. Of tasks that never finished, the longest wait.
    pub total_ns: u64,
    /// The lengths of these; `None` if they aren't known.
    pub lengths: Option<&'a Lengths>,
    /// The delay of other tasks; `None` if that isn't known, or is not what the issue is about.
    pub delay: Option<Delay>,
    /// `true` if none of what it is about is kept in detail.
    pub is_dropped: bool,
    /// The index of the culprit, if the issue is one.
    pub(crate) culprit: Option<usize>,
    /// The polls or waits that show it, the worst first. Empty if it is a culprit, whose polls are known.
    pub(crate) spots: &'a [Spot],
}

/// A kind of issue.
pub(super) trait Finding {
    fn explanation(&self) -> Explanation;

    fn evidence(&self) -> Evidence<'_>;

    fn statement(&self) -> Statement;

    /// Returns whether something was certainly wrong.
    fn is_certain(&self) -> bool {
        true
    }
}
