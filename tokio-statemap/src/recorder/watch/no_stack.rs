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

            /// Returns its name in the data.
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
    /// A seccomp filter is in force that may end the program for the system calls that sampling needs.
    Filtered => "filtered",
    /// The program itself handles the signal by which a running thread is asked.
    SignalTaken => "signalTaken",
    /// The thread blocks the signal by which a running thread is asked.
    SignalBlocked => "signalBlocked",
    /// The system has no timer left by which a running thread is asked.
    NoTimer => "noTimer",
    /// There was no memory left for the stack.
    NoMemory => "noMemory",
    /// The program's own file, which has the names of its functions, can't be read.
    NoSymbols => "noSymbols",
    /// The thread was in code that isn't the program's: another program runs it, such as valgrind or qemu, or the code
    /// was made at run time, or a process was being created.
    Emulated => "emulated",
    /// The program used all processors, so a look at a thread came later than usual. Whether there was a long poll then isn't known.
    RareLooks => "rareLooks",
}

/// The number of times for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoStacks([u64; NoStack::ALL.len()]);

impl NoStacks {
    /// Returns how often this was the reason.
    pub fn count(&self, why: NoStack) -> u64 {
        self.0[why as usize]
    }

    /// Returns the reasons that occurred, each with how often it did.
    pub(crate) fn all(&self) -> impl Iterator<Item = (NoStack, u64)> + use<'_> {
        let all = NoStack::ALL.iter().map(|&why| (why, self.count(why)));
        all.filter(|&(_, times)| times > 0)
    }

    pub(crate) fn add(&mut self, why: NoStack, times: u64) {
        let count = &mut self.0[why as usize];
        *count = count.saturating_add(times);
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain_newtype! { NoStacks }
