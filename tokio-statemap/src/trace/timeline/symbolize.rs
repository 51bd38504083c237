//! Names for the functions of which a program without symbols knew only the addresses.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::symbols::{Address, ObjectFile, StackFrame};
use crate::trace::timeline::stack_end::up_to_task;
use crate::trace::timeline::{PollSample, Timeline};

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
    timeline.samples.iter().flat_map(|sample| &sample.frames).any(is_address)
}

/// Fills in names, files and lines of the functions that are addresses in the file at `binary`: the
/// program or library before it was stripped, or its debug information.
///
/// # Errors
///
/// What is wrong with the file: it can't be read, it is another, or it has no symbols either.
pub fn symbolize(timeline: &mut Timeline, binary: &Path) -> Result<Symbolized, String> {
    let mut file = ObjectFile::open(binary)?;
    let build_id = file
        .build_id()
        .ok_or("it has no build id, so that it can't be told from others")?
        .to_owned();
    let all = timeline.samples.iter().flat_map(|sample| &sample.frames);
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
    for sample in &mut timeline.samples {
        fill_in(sample, &mut file, &build_id, &mut known);
    }
    let found =
        known.values().filter(|frames| frames.iter().any(|frame| !is_address(frame))).count();
    if found == 0 {
        return Err("it has no symbols for the addresses: is it stripped, too?".to_owned());
    }
    let all = timeline.samples.iter().flat_map(|sample| &sample.frames);
    let left: BTreeSet<&str> =
        all.filter(|frame| is_address(frame)).map(|frame| &*frame.function).collect();
    Ok(Symbolized { found, left: left.len() })
}

fn is_address(frame: &StackFrame) -> bool {
    Address::of(&frame.function).is_some()
}

/// Fills in the functions of a sample: where some were inlined, there are several for an address.
fn fill_in(
    sample: &mut PollSample,
    file: &mut ObjectFile,
    build_id: &str,
    known: &mut HashMap<Arc<str>, Vec<StackFrame>>,
) {
    let mut frames = Vec::with_capacity(sample.frames.len());
    let mut is_any = false;
    for frame in sample.frames.drain(..) {
        let address = Address::of(&frame.function).filter(|address| address.build_id == build_id);
        let Some(Address { address, .. }) = address else {
            frames.push(frame);
            continue;
        };
        is_any = true;
        let key = Arc::clone(&frame.function);
        frames.extend_from_slice(known.entry(key).or_insert_with(|| file.frames(address, true)));
    }
    sample.frames = frames;
    // Only now can the runtime's be told.
    if is_any && up_to_task(&mut sample.frames) {
        sample.is_complete = true;
    }
}
