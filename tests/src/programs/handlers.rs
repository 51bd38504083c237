//! Programs with signal handlers of their own.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// The last signal for which the handler of [`set`] was called.
static LAST: AtomicI32 = AtomicI32::new(0);

extern "C" fn handler(signal: i32) {
    LAST.store(signal, Ordering::SeqCst);
}

/// Handles SIGINT from now on.
pub fn set() {
    let handler = handler as extern "C" fn(i32) as libc::sighandler_t;
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::signal(libc::SIGINT, handler) };
}

/// Sends this process a signal, which any thread may get.
pub fn send(signal: i32) {
    // SAFETY: neither call has a precondition.
    unsafe { libc::kill(libc::getpid(), signal) };
}

/// Waits for a signal in the variant `which`.
pub async fn run(which: &str) {
    match which {
        "tokio" => {
            // Like `tokio::signal::ctrl_c`, but certainly registered before the line is printed.
            let mut interrupts = signal(SignalKind::interrupt()).unwrap();
            println!("ready");
            interrupts.recv().await;
            println!("interrupted");
        }
        "tokio_twice" => {
            let mut interrupts = signal(SignalKind::interrupt()).unwrap();
            for count in 1..=2 {
                send(libc::SIGINT);
                interrupts.recv().await;
                println!("{count}");
            }
        }
        // Tokio's handler stays installed after the last listener is dropped: the program survives.
        "tokio_dropped" => {
            let mut interrupts = signal(SignalKind::interrupt()).unwrap();
            send(libc::SIGINT);
            interrupts.recv().await;
            drop(interrupts);
            send(libc::SIGINT);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The program survives an abort. Tokio's handler calls the previous one.
        "abort" => {
            let mut aborts = signal(SignalKind::from_raw(libc::SIGABRT)).unwrap();
            send(libc::SIGABRT);
            aborts.recv().await;
            println!("survived");
        }
        // The program has no handler, and may end before the signal is handled, which its sender doesn't observe.
        "none" => thread::spawn(|| send(libc::SIGINT)).join().unwrap(),
        // The program replaces and restores the handler, of which it saves only the address.
        "restored" => {
            // SAFETY: The handler is the one that was set before.
            unsafe {
                let before = libc::signal(libc::SIGTERM, libc::SIG_IGN);
                libc::signal(libc::SIGTERM, before);
            }
            println!("ready");
            std::future::pending().await
        }
        "after" => {
            set();
            wait().await;
        }
        // The handler is set before `main`.
        "before" => wait().await,
        // The test starts the program with SIGINT and SIGHUP ignored, as `nohup` does.
        "ignored" => {
            send(libc::SIGINT);
            send(libc::SIGHUP);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // The program has a handler for one signal, but none for another.
        "other" => {
            set();
            wait().await;
            println!("waits");
            std::future::pending().await
        }
        _ => panic!("no such handler: {which}"),
    }
}

async fn wait() {
    println!("ready");
    while LAST.load(Ordering::SeqCst) != libc::SIGINT {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    println!("handled");
}

/// Blocks SIGTERM in this thread and those that it starts later, and waits for it with `sigwait` on a new thread.
pub fn sigwait() -> thread::JoinHandle<i32> {
    // SAFETY: the set is initialised before it is used, and lives through the calls.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        thread::spawn(move || {
            let mut signal = 0;
            libc::sigwait(&raw const set, &raw mut signal);
            signal
        })
    }
}
