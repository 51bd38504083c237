//! The causes of long polls, as JSON.

use super::frames::{Names, from_1};
use crate::analysis::picture::{Why, WhyCulprit};
use crate::util::json::{Raw, array, list, object};

/// Numbers are in arrays; indices that may be missing count from 1, with 0 for none.
pub(super) fn why(why: &Why, places: &[u32], whole: &dyn Fn(u64) -> u64) -> Raw {
    let mut names = Names::default();
    let frames = names.frames(&why.frames);
    let calls = array(&why.calls, |call| [from_1(call.frame), from_1(call.within)]);
    let polls = array(&why.polls, |poll| {
        let (row, start_ns) = (places[poll.row as usize], whole(poll.start_ns));
        let cause = poll.cause.map(|of| {
            list(&[
                &of.on_cpu_ns,
                &of.blocked_ns,
                &of.run_delay_ns,
                &of.stolen_ns,
                &of.major_faults,
                &of.unknown_ns,
            ])
        });
        let samples = array(&poll.samples, |sample| {
            [sample.after_ns, from_1(sample.blocked_in).into(), from_1(sample.call).into()]
        });
        list(&[&row, &start_ns, &cause, &poll.blame, &samples, &poll.lost_ns])
    });
    let unattributed = object(&[
        ("at", &why.unattributed_at),
        ("polls", &why.unattributed.polls),
        ("taken", &why.unattributed.taken_ns),
        ("unseen", &why.unattributed.unseen_polls),
        ("unseenAt", &why.unseen_at),
        ("unseenTime", &why.unattributed.unseen_ns),
    ]);
    object(&[
        ("calls", &calls),
        ("culprits", &array(&why.culprits, culprit)),
        ("frames", &frames),
        ("names", &names.all),
        ("polls", &polls),
        ("unattributed", &unattributed),
        ("words", &why.words),
    ])
}

fn culprit(culprit: &WhyCulprit) -> Raw {
    object(&[
        ("at", &culprit.at),
        ("blockingCause", &culprit.blocking_cause),
        ("frame", &culprit.frame),
        ("longest", &culprit.longest),
        ("own", &culprit.own_ns),
        ("place", &culprit.place),
        ("polls", &culprit.polls),
    ])
}
