//! The reasons why the functions that a thread was in are unknown.

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident => $name:literal,)*) => {
        /// The reasons why the functions that a thread was in are unknown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum NoStack {
            $($(#[$doc])* $reason,)*
        }

        impl NoStack {
            pub(crate) const ALL: &[Self] = &[$(Self::$reason),*];

            /// Returns what the data calls it.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)*
                }
            }
        }
    };
}

reasons! {
    /// `/proc` isn't there, or is that of another pid namespace.
    NoProc => "noProc",
    /// The file below `/proc` that says where a thread is blocked can't be read.
    NoCall => "noCall",
    /// The system refuses `process_vm_readv`.
    MemoryDenied => "memoryDenied",
    /// A seccomp filter is in force that may end the program for the system calls that it needs.
    Filtered => "filtered",
    /// The program handles the signal itself by which a thread that runs is asked.
    SignalTaken => "signalTaken",
    /// The thread blocks the signal by which one that runs is asked.
    SignalBlocked => "signalBlocked",
    /// The system has no timer left by which a thread that runs is asked.
    NoTimer => "noTimer",
    /// There was no memory left for it.
    NoMemory => "noMemory",
    /// The program's own file, which has the names of its functions, can't be read.
    NoSymbols => "noSymbols",
    /// The thread was in code that isn't the program's: another program runs that, such as valgrind or qemu, or code was
    /// made while the program runs, or a process was being created.
    Emulated => "emulated",
}

/// The number of times for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoStacks([u64; NoStack::ALL.len()]);

impl NoStacks {
    /// Returns how often it was this.
    pub fn count(&self, why: NoStack) -> u64 {
        self.0[why as usize]
    }

    /// Returns the reasons that occurred, and how often.
    pub(crate) fn all(&self) -> impl Iterator<Item = (NoStack, u64)> + use<'_> {
        let all = NoStack::ALL.iter().map(|&why| (why, self.count(why)));
        all.filter(|&(_, times)| times > 0)
    }

    pub(crate) fn add(&mut self, why: NoStack, times: u64) {
        let count = &mut self.0[why as usize];
        *count = count.saturating_add(times);
    }
}
