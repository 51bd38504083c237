//! A line on a terminal about work that takes over a second.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crate::util::latch::{Ongoing, latch};
use crate::util::message::warn;

/// The duration from which work is worth a line.
const LONG: Duration = Duration::from_secs(1);

/// Work that lasts until this is dropped.
#[derive(Debug)]
pub(crate) struct Slow {
    _ongoing: Ongoing,
}

impl Slow {
    /// Begins work: `what` is printed on stderr if that is a terminal and the work takes long.
    pub(crate) fn begin(what: String) -> Option<Self> {
        let say = move || warn(format_args!("{what}"));
        io::stderr().is_terminal().then(|| Self::begin_with(LONG, say))
    }

    fn begin_with(long: Duration, say: impl FnOnce() + Send + 'static) -> Self {
        let (ongoing, over) = latch();
        let wait = move || {
            #[cfg(unix)]
            crate::sys::signal::block_all();
            if !over.wait_for(long) {
                say();
            }
        };
        // The line is optional, so a thread that can't be started is ignored.
        let _ = crate::sys::start("statemap-slow", Box::new(wait));
        Self { _ongoing: ongoing }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn only_what_takes_long_is_told() {
        let (say, said) = channel();
        let other = say.clone();
        drop(Slow::begin_with(Duration::from_secs(3600), move || other.send("at once").unwrap()));
        let slow = Slow::begin_with(Duration::ZERO, move || say.send("slow").unwrap());
        assert_eq!(said.recv(), Ok("slow"));
        drop(slow);
        assert!(said.recv().is_err(), "the other was over before");
    }
}
