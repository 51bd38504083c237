//! Why polls took long, as JSON.

use super::frames::{Names, from_1};
use crate::analysis::picture::{Why, WhyCulprit};
use crate::util::json::{Raw, array, object};

/// Numbers in arrays, and the indices of what may be missing from 1 on, with 0 for none.
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
    let excused = object([
        ("at", &why.excused_at),
        ("polls", &why.excused.polls),
        ("taken", &why.excused.taken_ns),
        ("unseen", &why.excused.unseen_polls),
        ("unseenAt", &why.unseen_at),
        ("unseenTime", &why.excused.unseen_ns),
    ]);
    object([
        ("calls", &array(calls)),
        ("culprits", &array(why.culprits.iter().map(culprit))),
        ("excused", &excused),
        ("frames", &frames),
        ("names", &names.all),
        ("polls", &array(polls)),
        ("words", &why.words),
    ])
}

fn culprit(culprit: &WhyCulprit) -> Raw {
    object([
        ("act", &culprit.act),
        ("at", &culprit.at),
        ("frame", &culprit.frame),
        ("longest", &culprit.longest),
        ("own", &culprit.own_ns),
        ("place", &culprit.place),
        ("polls", &culprit.polls),
    ])
}
