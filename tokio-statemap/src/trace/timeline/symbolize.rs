//! Looks up functions that a program without symbols recorded only by address.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::symbols::{Address, ObjectFile, StackFrame};
use crate::trace::timeline::places::WaitPlaces;
use crate::trace::timeline::sample::{PollSample, limit_stacks};
use crate::trace::timeline::stack_end::up_to_task;
use crate::trace::timeline::wait::{MOST_DEEP, MOST_OF_WAIT, MOST_OF_WAITS, Wait};
use crate::trace::timeline::{CpuTime, LongPolls, Timeline, blamed};

/// The number of functions that were looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Symbolized {
    /// The number of functions found in the file.
    pub found: usize,
    /// The number of functions that are still addresses: of other files, or not in this one.
    pub left: usize,
}

/// Returns `true` if `timeline` has functions that are addresses in a file with a build id.
pub fn has_addresses(timeline: &Timeline) -> bool {
    functions(timeline).any(is_address)
}

/// Iterates over the functions of samples, and over those of waits that may be addresses.
fn functions(timeline: &Timeline) -> impl Iterator<Item = &StackFrame> {
    let LongPolls { samples, beside, .. } = &timeline.long_polls;
    let of_samples = samples.iter().chain(beside).flat_map(|sample| &sample.frames);
    let of_cpu = timeline.cpu.stacks.iter().flat_map(|stack| &stack.frames);
    of_samples.chain(of_cpu).chain(timeline.places.unnamed.functions())
}

/// Fills in the names, files and lines of functions that are addresses in the file at `binary`, in
/// all `timelines`. The file is the program or library before it was stripped, or its debug
/// information.
///
/// # Errors
///
/// Returns a message if the file can't be read, has another build id, or has no symbols.
pub fn symbolize(timelines: &mut [&mut Timeline], binary: &Path) -> Result<Symbolized, String> {
    let mut file = ObjectFile::open(binary)?;
    let build_id = file
        .build_id()
        .ok_or("it has no build id, so it can't be matched with the addresses")?
        .to_owned();
    let all = timelines.iter().flat_map(|timeline| functions(timeline));
    let wanted: BTreeSet<&str> =
        all.filter_map(|frame| Some(Address::parse(&frame.function)?.build_id)).collect();
    if !wanted.contains(&*build_id) {
        let wanted: Vec<_> = wanted.into_iter().take(4).collect();
        let wanted = wanted.join(", ");
        return Err(format!(
            "its build id is {build_id}; the addresses belong to a file with build id {wanted}"
        ));
    }
    let mut look_up = |address| file.frames(address, true);
    let mut names = Names { look_up: &mut look_up, build_id: &build_id, known: HashMap::new() };
    for timeline in timelines.iter_mut() {
        names.fill_in_samples(&mut timeline.long_polls.samples);
        names.fill_in_samples(&mut timeline.long_polls.beside);
        names.fill_in_cpu(&mut timeline.cpu);
        names.fill_in_waits(&mut timeline.places);
    }
    let is_named = |frames: &&Vec<StackFrame>| frames.iter().any(|frame| !is_address(frame));
    let found = names.known.values().filter(is_named).count();
    if found == 0 {
        return Err("it has no symbols for the addresses: is it stripped, too?".to_owned());
    }
    let all = timelines.iter().flat_map(|timeline| functions(timeline));
    let left: BTreeSet<&str> =
        all.filter(|frame| is_address(frame)).map(|frame| &*frame.function).collect();
    let left = left.len();
    for timeline in timelines {
        Arc::make_mut(&mut timeline.places.unnamed).forget_named();
    }
    Ok(Symbolized { found, left })
}

fn is_address(frame: &StackFrame) -> bool {
    Address::parse(&frame.function).is_some()
}

/// The names of the functions of one file.
struct Names<'a> {
    /// Returns the functions at an address of the file, several if some were inlined there.
    look_up: &'a mut dyn FnMut(u64) -> Vec<StackFrame>,
    build_id: &'a str,
    /// The functions looked up so far.
    known: HashMap<Arc<str>, Vec<StackFrame>>,
}

impl Names<'_> {
    /// Fills in the functions of all samples.
    fn fill_in_samples(&mut self, samples: &mut [PollSample]) {
        for sample in &mut *samples {
            let Some(frames) = self.named(&sample.frames) else { continue };
            sample.frames = frames;
            // Only with names can the runtime's functions be found.
            sample.is_complete |= up_to_task(&mut sample.frames);
        }
        // The samples are written and then read again.
        limit_stacks(samples);
    }

    /// Fills in the functions of what polls computed.
    fn fill_in_cpu(&mut self, cpu: &mut CpuTime) {
        let mut named = CpuTime::default();
        for mut stack in std::mem::take(&mut cpu.stacks) {
            // One with a function to blame was known to be in a poll.
            let is_known = blamed(&stack.frames).is_some();
            let frames = self.named(&stack.frames);
            let stacks = if is_known || frames.is_none() { &mut *cpu } else { &mut named };
            stack.frames = frames.unwrap_or(stack.frames);
            stacks.stacks.push(stack);
        }
        named.tidy();
        cpu.stacks.append(&mut named.stacks);
        cpu.others.add(named.others);
        cpu.outside.add(named.outside);
    }

    /// Fills in the functions that tasks wait in, and rebuilds their trees. Only with names can the
    /// task's own functions be found.
    fn fill_in_waits(&mut self, places: &mut WaitPlaces) {
        let WaitPlaces { unnamed, waits, .. } = places;
        let unnamed = Arc::make_mut(unnamed);
        for (_, frames) in unnamed.chains.iter_mut().flat_map(|chain| &mut chain.places) {
            if let Some(named) = self.named(frames) {
                *frames = named.into();
            }
        }
        // The waits are written and then read again.
        let mut left = MOST_OF_WAITS.saturating_sub(waits.iter().map(|wait| wait.size().0).sum());
        for (id, chains) in &unnamed.waits {
            let wait = unnamed.wait(chains);
            let (functions, depth) = wait.size();
            if functions == 0 || functions > MOST_OF_WAIT.min(left) || depth > MOST_DEEP {
                continue;
            }
            left -= functions;
            if waits.len() <= id.index() {
                waits.resize_with(id.index() + 1, Wait::default);
            }
            waits[id.index()] = wait;
        }
    }

    /// Returns the functions with those at addresses in the file replaced, several for one if
    /// functions were inlined there. Returns `None` if there is no such address.
    fn named(&mut self, frames: &[StackFrame]) -> Option<Vec<StackFrame>> {
        let mut all = Vec::with_capacity(frames.len());
        let mut is_any = false;
        for frame in frames {
            match Address::parse(&frame.function) {
                Some(Address { address, build_id }) if build_id == self.build_id => {
                    is_any = true;
                    let key = Arc::clone(&frame.function);
                    let found = self.known.entry(key).or_insert_with(|| (self.look_up)(address));
                    all.extend_from_slice(found);
                }
                _ => all.push(frame.clone()),
            }
        }
        is_any.then_some(all)
    }
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

    /// Many functions may have been inlined at each address.
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
            let look_up = &mut |_| inlined.clone();
            Names { look_up, build_id: "00ff", known: HashMap::new() }
                .fill_in_samples(&mut samples);
            let is_cut = left < addresses * inlined.len();
            for sample in &samples {
                assert_eq!((sample.frames.len(), sample.is_complete), (left, !is_cut));
                assert!(sample.frames.iter().all(|frame| &*frame.function == "f"));
            }
        }
    }
}
