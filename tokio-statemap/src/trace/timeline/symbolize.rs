//! Names for the functions of which a program without symbols knew only the addresses.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::symbols::{Address, ObjectFile, StackFrame};
use crate::trace::timeline::sample::limit_stacks;
use crate::trace::timeline::stack_end::up_to_task;
use crate::trace::timeline::{MOST_DEEP, MOST_OF_WAIT, MOST_OF_WAITS, PollSample, Timeline, Wait};

/// How many functions have names now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbolized {
    /// How many were found in the file.
    pub found: usize,
    /// How many are still addresses: of other files, or not in it.
    pub left: usize,
}

/// Whether there are functions in `timeline` that are addresses in a file with a build id.
pub fn has_addresses(timeline: &Timeline) -> bool {
    functions(timeline).any(is_address)
}

/// The functions of samples, and those that tasks wait in as far as they may be addresses.
fn functions(timeline: &Timeline) -> impl Iterator<Item = &StackFrame> {
    let of_samples = timeline.samples.iter().flat_map(|sample| &sample.frames);
    of_samples.chain(timeline.unnamed_waits.functions())
}

/// Fills in names, files and lines of the functions of all `timelines` that are addresses in the file at `binary`: the
/// program or library before it was stripped, or its debug information.
///
/// # Errors
///
/// What is wrong with the file: it can't be read, it is another, or it has no symbols either.
pub fn symbolize(timelines: &mut [&mut Timeline], binary: &Path) -> Result<Symbolized, String> {
    let mut file = ObjectFile::open(binary)?;
    let build_id = file
        .build_id()
        .ok_or("it has no build id, so that it can't be told from others")?
        .to_owned();
    let all = timelines.iter().flat_map(|timeline| functions(timeline));
    let wanted: BTreeSet<&str> =
        all.filter_map(|frame| Some(Address::of(&frame.function)?.build_id)).collect();
    if !wanted.contains(&*build_id) {
        let wanted: Vec<_> = wanted.into_iter().take(4).collect();
        let wanted = wanted.join(", ");
        return Err(format!(
            "its build id is {build_id}; the addresses are of one with build id {wanted}"
        ));
    }
    let mut known = HashMap::new();
    let mut look_up = |address| file.frames(address, true);
    for timeline in timelines.iter_mut() {
        fill_in_all(&mut timeline.samples, &mut look_up, &build_id, &mut known);
        fill_in_waits(timeline, &mut look_up, &build_id, &mut known);
    }
    let found =
        known.values().filter(|frames| frames.iter().any(|frame| !is_address(frame))).count();
    if found == 0 {
        return Err("it has no symbols for the addresses: is it stripped, too?".to_owned());
    }
    let all = timelines.iter().flat_map(|timeline| functions(timeline));
    let left: BTreeSet<&str> =
        all.filter(|frame| is_address(frame)).map(|frame| &*frame.function).collect();
    let left = left.len();
    timelines.iter_mut().for_each(|timeline| timeline.unnamed_waits.forget_named());
    Ok(Symbolized { found, left })
}

fn is_address(frame: &StackFrame) -> bool {
    Address::of(&frame.function).is_some()
}

/// Fills in the functions of all samples, by what `look_up` says of an address.
fn fill_in_all(
    samples: &mut [PollSample],
    look_up: &mut impl FnMut(u64) -> Vec<StackFrame>,
    build_id: &str,
    known: &mut HashMap<Arc<str>, Vec<StackFrame>>,
) {
    for sample in &mut *samples {
        fill_in(sample, look_up, build_id, known);
    }
    // They are written, and then read again.
    limit_stacks(samples);
}

/// Fills in the functions that tasks wait in, and makes the trees of them that a program with symbols would have
/// made: only then can it be told what of a chain is the task's own.
fn fill_in_waits(
    timeline: &mut Timeline,
    look_up: &mut impl FnMut(u64) -> Vec<StackFrame>,
    build_id: &str,
    known: &mut HashMap<Arc<str>, Vec<StackFrame>>,
) {
    let unnamed = &mut timeline.unnamed_waits;
    for (_, frames) in unnamed.chains.iter_mut().flat_map(|chain| &mut chain.places) {
        let new = named(frames, look_up, build_id, known);
        if let Some(new) = new {
            *frames = new.into();
        }
    }
    // They are written, and then read again.
    let mut left =
        MOST_OF_WAITS.saturating_sub(timeline.waits.iter().map(|wait| wait.size().0).sum());
    for (id, chains) in &unnamed.waits {
        let wait = unnamed.wait(chains);
        let (functions, depth) = wait.size();
        if functions == 0 || functions > MOST_OF_WAIT.min(left) || depth > MOST_DEEP {
            continue;
        }
        left -= functions;
        if timeline.waits.len() <= id.index() {
            timeline.waits.resize_with(id.index() + 1, Wait::default);
        }
        timeline.waits[id.index()] = wait;
    }
}

/// Fills in the functions of a sample.
fn fill_in(
    sample: &mut PollSample,
    look_up: &mut impl FnMut(u64) -> Vec<StackFrame>,
    build_id: &str,
    known: &mut HashMap<Arc<str>, Vec<StackFrame>>,
) {
    let Some(frames) = named(&sample.frames, look_up, build_id, known) else { return };
    sample.frames = frames;
    // Only now can the runtime's be told.
    if up_to_task(&mut sample.frames) {
        sample.is_complete = true;
    }
}

/// The functions with those at addresses in the file: where some were inlined, there are several for one. `None`
/// if there is no such address.
fn named(
    frames: &[StackFrame],
    look_up: &mut impl FnMut(u64) -> Vec<StackFrame>,
    build_id: &str,
    known: &mut HashMap<Arc<str>, Vec<StackFrame>>,
) -> Option<Vec<StackFrame>> {
    let mut all = Vec::with_capacity(frames.len());
    let mut is_any = false;
    for frame in frames {
        let address = Address::of(&frame.function).filter(|address| address.build_id == build_id);
        let Some(Address { address, .. }) = address else {
            all.push(frame.clone());
            continue;
        };
        is_any = true;
        let key = Arc::clone(&frame.function);
        all.extend_from_slice(known.entry(key).or_insert_with(|| look_up(address)));
    }
    is_any.then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::timeline::{FrameOrigin, MOST_FRAMES, MOST_FRAMES_OF_SAMPLE};

    fn frame(function: &str) -> StackFrame {
        StackFrame {
            function: function.into(),
            file: None,
            line: None,
            origin: FrameOrigin::System,
        }
    }

    /// Of each address many functions may have been inlined.
    #[test]
    #[ignore = "slow"]
    fn what_is_filled_in_can_be_read_again() {
        let inlined = vec![frame("f"); 3_000];
        for (count, addresses, left) in [
            (2, 9, 9 * 3_000),
            (2, 40, MOST_FRAMES_OF_SAMPLE),
            (40, 20, MOST_FRAMES / 40),
            (40, 40, MOST_FRAMES / 40),
        ] {
            let sample = PollSample {
                thread: 0,
                poll_start_ns: 1,
                at_ns: 2,
                blocked_in: None,
                frames: vec![frame("0x1f of shop (build id 00ff)"); addresses],
                is_complete: true,
            };
            let mut samples = vec![sample; count];
            let mut look_up = |_| inlined.clone();
            fill_in_all(&mut samples, &mut look_up, "00ff", &mut HashMap::new());
            let is_cut = left < addresses * inlined.len();
            for sample in &samples {
                assert_eq!((sample.frames.len(), sample.is_complete), (left, !is_cut));
                assert!(sample.frames.iter().all(|frame| &*frame.function == "f"));
            }
        }
    }
}
