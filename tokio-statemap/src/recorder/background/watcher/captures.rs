//! Captures threads of all kinds as fast as possible. Each capture of a running thread waits for a tick of the kernel.
//!
//! `STATEMAP_CAPTURES=1000000 cargo test --release -p tokio-statemap --features stacks --lib captures
//! -- --ignored --nocapture` makes more of them, and prints what each takes.

mod kinds;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::recorder::unwind::Unwinder;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{self, StackCopy, Unavailable};
use kinds::{Kind, Thread};

/// The number of captures of each kind of thread, and their results.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    running: u64,
    blocked: u64,
    /// The captures that were followed down to where the thread or the fiber began.
    complete: u64,
    without_answer: u64,
    frames: u64,
    time: Duration,
}

/// A copy as the watcher makes it, and whether the thread was blocked.
fn capture(id: i32) -> Option<(StackCopy, bool)> {
    match proc::state(id) {
        ThreadState::Blocked => Some((stack::copy_blocked(&proc::system_call(id)?)?, true)),
        ThreadState::Runnable => match stack::copy_running(id) {
            Ok(copy) => Some((copy, false)),
            Err(error) => {
                assert_ne!(error, Unavailable::SignalTaken);
                None
            }
        },
        ThreadState::Unknown => None,
    }
}

/// Returns whether most threads of this kind end while they are looked at, which is their purpose here.
fn is_seldom_seen(kind: Kind) -> bool {
    kind == Kind::Comes
}

#[test]
#[ignore = "slow"]
fn threads_of_all_kinds_survive_their_captures() {
    let captures = std::env::var("STATEMAP_CAPTURES").map_or(200, |n| n.parse().unwrap());
    let threads: Vec<_> = Kind::ALL.into_iter().map(Thread::start).collect();
    let mut counts = vec![Count::default(); threads.len()];
    let (mut unwinder, began) = (Unwinder::new(), Instant::now());
    let mut made = 0_u64;
    for (thread, count) in (0..threads.len()).cycle().map(|i| (&threads[i], i)) {
        let (count, from) = (&mut counts[count], Instant::now());
        let Some((copy, is_blocked)) = capture(thread.id.load(Ordering::Relaxed)) else {
            count.without_answer += 1;
            continue;
        };
        let frames = unwinder.frames(&copy);
        count.time += from.elapsed();
        *(if is_blocked { &mut count.blocked } else { &mut count.running }) += 1;
        count.complete += u64::from(frames.is_complete);
        count.frames += frames.addresses.len() as u64;
        made += 1;
        let is_each_seen = || {
            let mut kinds = threads.iter().zip(&counts);
            kinds.all(|(thread, of)| of.blocked + of.running > 0 || is_seldom_seen(thread.kind))
        };
        if made >= captures && (is_each_seen() || made >= 50 * captures) {
            break;
        }
    }
    let took = began.elapsed();
    println!("{made} captures in {took:.1?}");
    for (thread, count) in threads.iter().zip(&counts) {
        let of_kind = count.running + count.blocked;
        println!("{:?}: {count:?}, {:.1?} each", thread.kind, count.time / of_kind.max(1) as u32);
        let is_enough = of_kind > 0 || is_seldom_seen(thread.kind);
        assert!(is_enough, "{:?} was never seen", thread.kind);
    }
    for thread in threads {
        thread.stop();
    }
}
