//! A program with a handler of its own for the signal that samples stacks.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use tokio_statemap::timeline::NoStack;

use super::{compute, recorded, samples};

/// The number of calls of the handler.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// The number of signals that the program sends itself.
const SENT: u32 = 10;

/// The number of threads that may be asked for their stacks at once.
const ASKED: u32 = 4;

const LONG: Duration = Duration::from_millis(30);

extern "C" fn handler(_: i32) {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

fn own() -> libc::sighandler_t {
    handler as extern "C" fn(i32) as libc::sighandler_t
}

/// Returns the current handler.
fn present() -> libc::sighandler_t {
    // SAFETY: all zeroes are a valid `sigaction`, which the call fills in.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGURG, std::ptr::null(), &raw mut action);
        action.sa_sigaction
    }
}

fn set() {
    // SAFETY: the handler only adds to an atomic.
    unsafe { libc::signal(libc::SIGURG, own()) };
}

/// Sets the handler `before` anything is recorded, or `after` running threads were sampled, and goes on until the report
/// says that the signal is taken.
///
/// # Panics
///
/// If the handler gets any but the program's own signals, and those that threads had been asked with before it was set.
pub fn run(when: &str) {
    let is_before = match when {
        "before" => true,
        "after" => false,
        _ => panic!("no such time: {when}"),
    };
    if is_before {
        set();
    }
    let (collector, runtime) = recorded(2);
    let long_poll = |is_blocked: bool| {
        let poll = async move { if is_blocked { sleep(LONG) } else { compute(LONG) } };
        collector.block_on(&runtime, async { tokio::spawn(poll).await.unwrap() });
    };
    if !is_before {
        while !samples(&collector.snapshot()).iter().any(|sample| sample.blocked_in.is_none()) {
            long_poll(false);
        }
        assert_ne!(present(), own());
        set();
    }
    let with_own = collector.snapshot().end_ns;
    loop {
        long_poll(false);
        long_poll(true);
        let timeline = collector.snapshot();
        let seen = samples(&timeline);
        let mut since = seen.iter().filter(|sample| sample.at_ns > with_own);
        let is_blocked_seen = since.any(|sample| sample.blocked_in.is_some());
        if timeline.long_polls.sampling.no_stacks.count(NoStack::SignalTaken) > 0 && is_blocked_seen
        {
            break;
        }
    }
    let early = CALLS.load(Ordering::Relaxed);
    let most = if is_before { 0 } else { ASKED };
    assert!(early <= most, "{early} signals that the program didn't send");
    for _ in 0..SENT {
        // SAFETY: it has no precondition; the handler only adds to an atomic.
        unsafe { libc::raise(libc::SIGURG) };
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), early + SENT);
    assert_eq!(present(), own());
}
