//! A line on a terminal about work that takes over a second.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::util::message::warn;

/// From when on it is worth a line.
const LONG: Duration = Duration::from_secs(1);

/// Work that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct Slow {
    _ends: Sender<()>,
}

impl Slow {
    /// The work begins: `what` is printed on stderr if it takes long, and somebody may be waiting there.
    pub(crate) fn begin(what: String) -> Option<Self> {
        let say = move || warn(format_args!("{what}"));
        io::stderr().is_terminal().then(|| Self::begin_with(LONG, say))
    }

    fn begin_with(long: Duration, say: impl FnOnce() + Send + 'static) -> Self {
        let (ends, end) = channel();
        let thread = thread::Builder::new().name("statemap-slow".to_owned()).spawn(move || {
            #[cfg(unix)]
            crate::sys::signal::block_all();
            if end.recv_timeout(long) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        // Without a thread there is no line.
        drop(thread);
        Self { _ends: ends }
    }
}

#[cfg(test)]
mod tests {
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
