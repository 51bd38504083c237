//! The causes of long polls, as JSON.

use super::frames::{Names, from_1};
use crate::analysis::picture::{Why, WhyCulprit};
use crate::util::json::{Raw, array, object};

/// Numbers are in arrays; indices that may be missing count from 1, with 0 for none.
pub(super) fn why(why: &Why, places: &[u32], whole: impl Fn(u64) -> u64) -> Raw {
    let mut names = Names::default();
    let frames = names.frames(&why.frames);
    let calls = why.calls.iter().map(|call| [from_1(call.frame), from_1(call.within)]);
    let polls = why.polls.iter().map(|poll| {
        let cause = poll.cause.map(|of| {
            let off = [of.blocked_ns, of.run_delay_ns, of.stolen_ns];
            array([of.on_cpu_ns].into_iter().chain(off).chain([of.major_faults, of.unknown_ns]))
        });
        let samples = poll.samples.iter().map(|sample| {
            [sample.after_ns, from_1(sample.blocked_in).into(), from_1(sample.call).into()]
        });
        (
            places[poll.row as usize],
            whole(poll.start_ns),
            cause,
            poll.blame,
            array(samples),
            poll.lost_ns,
        )
    });
    let unattributed = object([
        ("at", &why.unattributed_at),
        ("polls", &why.unattributed.polls),
        ("taken", &why.unattributed.taken_ns),
        ("unseen", &why.unattributed.unseen_polls),
        ("unseenAt", &why.unseen_at),
        ("unseenTime", &why.unattributed.unseen_ns),
    ]);
    object([
        ("calls", &array(calls)),
        ("culprits", &array(why.culprits.iter().map(culprit))),
        ("frames", &frames),
        ("names", &names.all),
        ("polls", &array(polls)),
        ("unattributed", &unattributed),
        ("words", &why.words),
    ])
}

fn culprit(culprit: &WhyCulprit) -> Raw {
    object([
        ("at", &culprit.at),
        ("blockingCause", &culprit.blocking_cause),
        ("frame", &culprit.frame),
        ("longest", &culprit.longest),
        ("own", &culprit.own_ns),
        ("place", &culprit.place),
        ("polls", &culprit.polls),
    ])
}
