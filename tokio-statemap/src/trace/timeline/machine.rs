//! What the machine took of the threads' time, over the whole recording.

pub use crate::recorder::CpuLimit;
pub use crate::recorder::watch::{NoStack, NoStacks};
pub use crate::trace::clock::ClockChanges;

/// What the machine took of the time of the runtime's threads, in sum: no code of the program is to blame
/// for it. Only Linux tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineTime {
    /// How long threads were ready to run while others ran, or a limit of their control group was
    /// reached, in ns.
    pub run_delay_ns: u64,
    /// How long the host of a virtual machine took processors from threads, in ns: no more than the kernel counted.
    pub stolen_ns: u64,
    /// The limit of the program's control group, such as a container's; `None` if there is none.
    pub limit: Option<CpuLimit>,
    /// What became of the clock meanwhile.
    pub clock: ClockChanges,
}

/// Whether the stacks of long polls were sampled, and what is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampling {
    /// Whether it was done.
    pub state: SamplingState,
    /// How many samples were taken beyond those that are kept.
    pub dropped: u64,
    /// How often it wasn't found out which functions a thread was in, by reason.
    pub no_stacks: NoStacks,
}

impl Sampling {
    /// Whether a poll that went on for long enough has samples, unless the machine stood still.
    pub(crate) fn sees_all(&self) -> bool {
        let is_blind =
            [NoStack::NoProc, NoStack::Filtered].map(|why| self.no_stacks.count(why)) != [0, 0];
        self.state == SamplingState::On && self.dropped == 0 && !is_blind
    }
}

/// Whether the stacks of long polls were sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SamplingState {
    /// They were.
    On,
    /// They were not to be: `stacks = false`.
    Off,
    /// The feature `stacks` is off.
    #[default]
    NotBuilt,
    /// Not on this system or processor: it takes Linux on x86-64 or aarch64.
    NotSupported,
}

impl SamplingState {
    /// What this build can do.
    pub(crate) const OF_THIS_BUILD: Self = match (
        cfg!(feature = "stacks"),
        cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    ) {
        (true, true) => Self::On,
        (true, false) => Self::NotSupported,
        (false, _) => Self::NotBuilt,
    };
}
