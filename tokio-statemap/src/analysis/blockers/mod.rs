//! Finds what keeps tasks waiting at the end: what they wait for, who holds it, and who used to wake them.

mod asked;
mod awaited;
mod come_from;
mod given_back;
mod held_by;
mod joins;
mod kept_by;
mod last_wait;
mod spawned;
mod turns;
mod wait_set;
mod woken_by;
mod woken_from;

pub(in crate::analysis) use asked::Asked;
pub(super) use awaited::Awaited;
pub(in crate::analysis) use come_from::ComeFrom;
pub(crate) use held_by::{HeldBy, Holds};
pub(in crate::analysis) use joins::Joins;
pub(in crate::analysis) use kept_by::KeptBy;
pub(super) use last_wait::{LastWaits, wait_to_the_end, waits_to_the_end};
pub(in crate::analysis) use spawned::StillThere;
pub(in crate::analysis) use turns::receives_messages;
pub(super) use wait_set::WaitSet;
pub(super) use woken_by::Chain;
pub(super) use woken_from::WokenFrom;
