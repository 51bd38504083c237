//! What a thread was doing at a moment of a long poll.

use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::snapshot::Snapshot;

/// What a thread was doing at a moment of a long poll: the functions that it was in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollSample {
    /// The poll's thread.
    pub(crate) thread: u32,
    /// When the poll started, in ns.
    pub(crate) poll_start_ns: u64,
    /// When the sample was taken, in ns.
    pub at_ns: u64,
    /// The system call that the thread was blocked in, such as `clock_nanosleep`, or `read of
    /// /dev/random`; `None` if it was on a processor, or ready to run.
    pub blocked_in: Option<String>,
    /// The functions, the innermost first, up to the task's own: the runtime's are left out.
    pub frames: Vec<StackFrame>,
    /// Whether [`frames`](Self::frames) go up to the task's own; otherwise the stack was too deep, or
    /// could not be followed.
    pub is_complete: bool,
}

impl PollSample {
    /// The function to blame: the program's own innermost one, or else a dependency's.
    pub fn blamed(&self) -> Option<&StackFrame> {
        let of = |origin| self.frames.iter().find(move |frame| frame.origin == origin);
        of(FrameOrigin::Program).or_else(|| of(FrameOrigin::Dependency))
    }
}

/// The samples of a snapshot, sorted.
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) fn resolve(snapshot: &Snapshot) -> Vec<PollSample> {
    use std::sync::Mutex;

    use crate::symbols::{Resolver, system_call};
    use crate::util::sync::lock;

    // Files are read once, and only if there is something to look up.
    static RESOLVER: Mutex<Option<Resolver>> = Mutex::new(None);
    if snapshot.samples.all.is_empty() {
        return Vec::new();
    }
    let mut resolver = lock(&RESOLVER);
    let resolver = resolver.get_or_insert_default();
    let samples = snapshot.samples.all.iter().map(|sample| {
        let all = sample.addresses.iter().flat_map(|&at| resolver.frames(at).to_vec());
        let mut is_cut = false;
        let frames = all.take_while(|frame| {
            is_cut |= polls_task(frame);
            !is_cut
        });
        let frames = frames.collect();
        PollSample {
            thread: sample.stream,
            poll_start_ns: snapshot.ns(sample.start_ticks),
            at_ns: snapshot.ns(sample.ticks),
            blocked_in: sample.blocked.as_ref().map(|call| {
                let name = system_call(call.number);
                match &call.descriptor {
                    Some(descriptor) => format!("{name} of {descriptor}"),
                    None => name.into_owned(),
                }
            }),
            frames,
            is_complete: is_cut || sample.is_complete,
        }
    });
    let mut samples: Vec<_> = samples.collect();
    samples.sort_by_key(|sample: &PollSample| (sample.thread, sample.poll_start_ns, sample.at_ns));
    samples
}

/// Whether it is the function of the runtime that polls tasks, or root futures: all outside of it are
/// the runtime's.
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn polls_task(frame: &StackFrame) -> bool {
    let is_of = |name: &str, file: &str| {
        frame.function.contains(name) || frame.file.as_ref().is_some_and(|of| of.ends_with(file))
    };
    frame.origin == FrameOrigin::Runtime
        && (is_of("tokio::runtime::task::", "/runtime/task/core.rs")
            || is_of("::recorder::root_future::", "/recorder/root_future.rs"))
}

/// There are none.
#[cfg(not(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(super) fn resolve(_: &Snapshot) -> Vec<PollSample> {
    Vec::new()
}
