//! System calls that wait, in long polls. None is repeated when it is interrupted.

use std::io::Error;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{compute, recorded, samples};

/// The length of a poll, which has about three samples.
const POLL: Duration = Duration::from_millis(50);

/// The number of calls, and how many of them failed with EINTR.
#[derive(Debug, Default)]
struct Counts {
    calls: AtomicU64,
    interrupted: AtomicU64,
}

/// Waits in four kinds of calls for `seconds`, each in a task of its own, and prints the counts.
pub fn wait(seconds: u64) {
    in_long_polls(seconds, &["nanosleep", "poll", "recv", "epoll_wait"], |call, counts| {
        count(call, Duration::from_millis(15), counts);
    });
}

/// Alternates between computing and sleeping, for 50 µs each.
pub fn alternate(seconds: u64) {
    const TURN: Duration = Duration::from_micros(50);
    in_long_polls(seconds, &["nanosleep"], |call, counts| {
        compute(TURN);
        count(call, TURN, counts);
    });
}

fn in_long_polls(seconds: u64, calls: &[&'static str], turn: fn(&str, &Counts)) {
    let (collector, runtime) = recorded(calls.len());
    let all: &'static [Counts] =
        Vec::leak(calls.iter().map(|_| Counts::default()).collect::<Vec<_>>());
    let until = Instant::now() + Duration::from_secs(seconds);
    // On a busy machine it may take longer until a poll is sampled.
    let is_sampled = &*Box::leak(Box::new(AtomicBool::new(false)));
    collector.block_on(&runtime, async {
        let task = |(&call, counts): (&&'static str, &'static Counts)| {
            tokio::spawn(async move {
                while Instant::now() < until || !is_sampled.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    while began.elapsed() < POLL {
                        turn(call, counts);
                    }
                    tokio::task::yield_now().await;
                }
            })
        };
        let tasks: Vec<_> = calls.iter().zip(all).map(task).collect();
        while samples(&collector.snapshot()).is_empty() {
            tokio::time::sleep(POLL).await;
        }
        is_sampled.store(true, Ordering::Relaxed);
        for task in tasks {
            task.await.unwrap();
        }
    });
    let timeline = collector.snapshot();
    let samples = samples(&timeline);
    let running = samples.iter().filter(|sample| sample.blocked_in.is_none()).count();
    println!("{} samples, {running} of a thread that ran", samples.len());
    for (call, counts) in calls.iter().zip(all) {
        let [calls, interrupted] =
            [&counts.calls, &counts.interrupted].map(|count| count.load(Ordering::Relaxed));
        println!("{call}: {interrupted} of {calls} calls interrupted");
    }
}

fn count(call: &str, time: Duration, counts: &Counts) {
    counts.calls.fetch_add(1, Ordering::Relaxed);
    if call_it(call, time) < 0 && Error::last_os_error().raw_os_error() == Some(libc::EINTR) {
        counts.interrupted.fetch_add(1, Ordering::Relaxed);
    }
}

fn call_it(call: &str, time: Duration) -> i64 {
    let ms = i32::try_from(time.as_millis()).unwrap();
    // SAFETY: All pointers are valid through the calls.
    unsafe {
        match call {
            "nanosleep" => {
                let time = libc::timespec { tv_sec: 0, tv_nsec: time.as_nanos() as i64 };
                libc::nanosleep(&raw const time, null_mut()).into()
            }
            "poll" => libc::poll(null_mut(), 0, ms).into(),
            "recv" => {
                let (socket, _other) = UnixStream::pair().unwrap();
                socket.set_read_timeout(Some(time)).unwrap();
                let mut byte = 0_u8;
                let result = libc::recv(socket.as_raw_fd(), (&raw mut byte).cast(), 1, 0) as i64;
                // Closing the sockets must not change `errno`.
                let errno = *libc::__errno_location();
                drop((socket, _other));
                *libc::__errno_location() = errno;
                result
            }
            "epoll_wait" => {
                let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
                let mut event = libc::epoll_event { events: 0, u64: 0 };
                let result = libc::epoll_wait(epoll, &raw mut event, 1, ms).into();
                let errno = *libc::__errno_location();
                libc::close(epoll);
                *libc::__errno_location() = errno;
                result
            }
            _ => panic!("no such call: {call}"),
        }
    }
}
