//! The time that the machine took from the threads, and the state of the sampler, over the whole
//! recording.

pub use crate::recorder::CpuLimit;
use crate::recorder::watch::{ALWAYS_SEEN_NS, ALWAYS_SEEN_RARELY_NS};
pub use crate::recorder::watch::{NoStack, NoStacks};
pub use crate::trace::clock::ClockChanges;

/// The total time that the machine took from the runtime's threads. No code of the program is to
/// blame for it. Available only on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MachineTime {
    /// The time that threads were ready to run while others ran, or while a limit of their control
    /// group was reached, in ns.
    pub run_delay_ns: u64,
    /// The part of it for which workers were ready, in ns.
    pub workers_delay_ns: u64,
    /// The part of it for which threads of the blocking pool were ready, in ns.
    pub pool_delay_ns: u64,
    /// The processor time of the threads of the blocking pool, in ns, as far as it was read.
    pub pool_cpu_ns: u64,
    /// The time for which the host of a virtual machine took processors from threads, in ns: at
    /// most what the kernel counted.
    pub stolen_ns: u64,
    /// The limit of the program's control group, such as a container's; `None` if there is none.
    pub limit: Option<CpuLimit>,
    /// The irregularities of the clock during the recording.
    pub clock: ClockChanges,
}

/// The state of the sampler of long polls' stacks, and what it missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampling {
    /// The reason why stacks were or were not sampled.
    pub state: SamplingState,
    /// The number of samples beyond those that are kept.
    pub dropped: u64,
    /// The number of samples without a known stack, by reason.
    pub no_stacks: NoStacks,
}

impl Sampling {
    /// Returns the length from which on a poll has samples if it held its worker by its own doing, in ns.
    pub(crate) fn always_seen_ns(&self) -> u64 {
        match self.no_stacks.count(NoStack::RareLooks) {
            0 => ALWAYS_SEEN_NS,
            _ => ALWAYS_SEEN_RARELY_NS,
        }
    }

    /// Returns `true` if every poll that is long enough has samples, unless the machine stood
    /// still.
    pub(crate) fn sees_all(&self) -> bool {
        let is_blind = self.no_stacks.count(NoStack::NoProc) > 0
            || self.no_stacks.count(NoStack::Filtered) > 0;
        self.state == SamplingState::On && self.dropped == 0 && !is_blind
    }
}

/// The reason why stacks of long polls were or were not sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SamplingState {
    /// Stacks were sampled.
    On,
    /// Sampling was turned off by `stacks = false`.
    Off,
    /// The crate was built without the feature `stacks`.
    #[default]
    NotBuilt,
    /// The system or processor is not supported: sampling requires Linux on x86-64 or aarch64.
    NotSupported,
}

impl SamplingState {
    /// The state that this build supports.
    pub(crate) const OF_THIS_BUILD: Self = match (
        cfg!(feature = "stacks"),
        cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    ) {
        (true, true) => Self::On,
        (true, false) => Self::NotSupported,
        (false, _) => Self::NotBuilt,
    };
}
