//! Looks up the functions of the chains that a timeline's tasks wait at.

use std::collections::{BTreeSet, HashMap};

use super::tree::{Located, essential, tree};
use super::{Wait, WaitId};
use crate::recorder::waits::table::{Chain, ChainId, Places};
use crate::symbols::{Resolver, StackFrame, with_resolver};
use crate::trace::timeline::Timeline;
use crate::util::quantity::count;
use crate::util::slow::Slow;

/// Where the tasks of `timeline` wait, by number; those that it doesn't have are empty.
pub(in crate::trace::timeline) fn resolve(timeline: &Timeline, places: &Places) -> Vec<Wait> {
    let ids = used(timeline);
    let Some(last) = ids.last() else { return Vec::new() };
    let slow =
        || Slow::begin(format!("looking up {}", count(ids.len() as u64, "place of waiting")));
    let _slow = slow();
    let mut waits = vec![Wait::default(); last.index() + 1];
    with_resolver(|resolver| {
        let mut known: HashMap<ChainId, Vec<Located>> = HashMap::new();
        for id in ids {
            let Some(wait) = places.waits.get(id.index()) else { continue };
            let (mut chains, mut first_call) = (Vec::new(), 0);
            for &id in wait {
                let Some(chain) = places.chains.get(id as usize) else { continue };
                let named = known.entry(id).or_insert_with(|| named(chain, resolver));
                chains.push(essential(
                    named.clone(),
                    (first_call..).zip(chain.calls().iter().copied()),
                ));
                first_call += chain.calls().len() as u16;
            }
            chains.retain(|chain| !chain.is_empty());
            waits[id.index()] = tree(chains);
        }
    });
    waits
}

/// The numbers that a timeline has.
fn used(timeline: &Timeline) -> BTreeSet<WaitId> {
    let mut used = [false; 1 << 14];
    let mut mark = |id: Option<WaitId>| {
        if let Some(id) = id {
            used[usize::from(id.number())] = true;
        }
    };
    for task in timeline.tasks.one_by_one() {
        mark(task.carried_wait.and_then(|wait| wait.wait));
        task.polls.iter().for_each(|poll| mark(poll.wait()));
    }
    timeline.local_tasks.iter().for_each(|task| mark(task.wait));
    used[usize::from(WaitId::NOTHING.number())] = false;
    (0..).zip(used).filter(|(_, used)| *used).filter_map(|(id, _)| WaitId::new(id)).collect()
}

/// The functions of a chain, the outermost first.
fn named(chain: &Chain, resolver: &mut Resolver) -> Vec<Located> {
    let mut all = Vec::new();
    for (i, address) in chain.addresses().enumerate() {
        let frames = resolver.frames(address);
        let is_outermost = i + 1 == chain.len();
        // Of the function that polls the task only what was inlined into it is the task's own.
        let own = match is_outermost {
            true => frames.iter().position(polls_task).unwrap_or(0),
            false => frames.len(),
        };
        let located = |frame: &StackFrame| Located {
            frame: frame.clone(),
            address,
            call: 0,
            instrumented: None,
            name: None,
        };
        all.extend(frames[..own].iter().map(located));
    }
    all.reverse();
    // What clones the waker, and what that calls.
    let end = all.iter().position(|located| is_capture(&located.frame)).unwrap_or(all.len());
    all.truncate(end);
    all
}

/// Whether it is what polls a task through a probe.
fn polls_task(frame: &StackFrame) -> bool {
    const FILES: [&str; 2] = ["/waits/probe.rs", "/sys/waker.rs"];
    ["waits::probe::", "sys::waker::"].iter().any(|of| frame.function.contains(of))
        || frame.file.as_deref().is_some_and(|of| FILES.iter().any(|file| of.ends_with(file)))
}

/// Whether it is what is called when a waker is cloned.
fn is_capture(frame: &StackFrame) -> bool {
    frame.function.contains("sys::waker::clone") || frame.function.contains("waits::capture::")
}
