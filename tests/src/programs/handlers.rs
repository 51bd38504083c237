//! Signal handlers of the program's own.

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

/// The last signal that the handler of [`set`] was called for.
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

/// Sends this process a signal. It may be delivered to any thread.
pub fn send(signal: i32) {
    // SAFETY: neither call has a precondition.
    unsafe { libc::kill(libc::getpid(), signal) };
}

/// Waits for a signal in the variant `which`.
pub async fn run(which: &str) {
    match which {
        "tokio" => {
            // As `tokio::signal::ctrl_c`, but known to be registered before the line is printed.
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
        // An abort that the program survives: its handler calls the previous one.
        "abort" => {
            let mut aborts = signal(SignalKind::from_raw(libc::SIGABRT)).unwrap();
            send(libc::SIGABRT);
            aborts.recv().await;
            println!("survived");
        }
        // Without a handler, and the program ends by itself before the signal is handled, which its
        // sender doesn't observe.
        "none" => thread::spawn(|| send(libc::SIGINT)).join().unwrap(),
        // A program that saves nothing but the handler's address removes and restores it.
        "restored" => {
            // SAFETY: what is set is what was set before.
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
        // SIGINT and SIGHUP are ignored, as under `nohup`.
        "ignored" => {
            send(libc::SIGINT);
            send(libc::SIGHUP);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // A handler for one signal, but none for another.
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

/// Blocks SIGTERM in this thread and those that it starts, and waits for it with `sigwait` on one.
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
