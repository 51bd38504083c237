//! The async functions.

use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::{sleep, timeout};

pub(crate) async fn leaf(ms: u64) {
    sleep(Duration::from_millis(ms)).await; // awaits tokio::time::sleep::Sleep
}

pub(crate) async fn one_after_the_other() {
    leaf(1).await; // awaits awaits::ways::leaf
    leaf(2).await; // awaits awaits::ways::leaf
    let lock = Mutex::new(1);
    let value = *lock.lock().await; // awaits tokio::sync::mutex::Mutex<T>::lock
    println!("{value}");
    let (sender, mut receiver) = mpsc::channel::<u8>(1);
    sender.send(1).await.unwrap(); // awaits tokio::sync::mpsc::bounded::Sender<T>::send
    receiver.recv().await; // awaits tokio::sync::mpsc::bounded::Receiver<T>::recv
}

pub(crate) async fn in_loops(all: &[u64]) {
    for one in all {
        leaf(*one).await; // awaits awaits::ways::leaf
    }
    while ready().await {
        // awaits awaits::ways::ready
        loop {
            if ready().await {
                // awaits awaits::ways::ready
                break;
            }
            leaf(2).await; // awaits awaits::ways::leaf
        }
    }
}

async fn ready() -> bool {
    leaf(3).await; // awaits awaits::ways::leaf
    false
}

pub(crate) async fn joined() {
    let (..) = tokio::join!(leaf(1), ready(), sleep(Duration::from_millis(1)));
    leaf(1).await; // awaits awaits::ways::leaf
}

pub(crate) async fn selected() {
    let mut other = pin!(leaf(4));
    tokio::select! {
        () = leaf(1) => {
            ready().await; // awaits awaits::ways::ready
        }
        () = &mut other => leaf(2).await, // awaits awaits::ways::leaf
        () = sleep(Duration::from_millis(3)) => {}
        is_ready = ready(), if true => {
            println!("{is_ready}");
        }
    }
    other.await; // awaits awaits::ways::leaf
}

pub(crate) async fn tried() -> Result<(), ()> {
    tokio::try_join!(
        async {
            leaf(1).await; // awaits awaits::ways::leaf
            Ok(())
        },
        fails(),
    )?;
    Ok(())
}

async fn fails() -> Result<(), ()> {
    leaf(9).await; // awaits awaits::ways::leaf
    Err(())
}

pub(crate) async fn boxed() {
    let all: Vec<Pin<Box<dyn Future<Output = ()> + Send>>> = vec![Box::pin(leaf(1))];
    for one in all {
        one.await; // awaits dyn Future<Output=()> + Send [known at run time only]
    }
}

pub(crate) async fn recursive(n: u64) {
    if n > 0 {
        Box::pin(recursive(n - 1)).await; // awaits awaits::ways::recursive [recursion]
    }
    leaf(n).await; // awaits awaits::ways::leaf
}

pub(crate) async fn generic<F: Future>(future: F) {
    future.await; // awaits one of 3
    leaf(1).await; // awaits awaits::ways::leaf
}

pub(crate) struct ByHand;

impl Future for ByHand {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

pub(crate) async fn with_closure(f: impl AsyncFn(u64)) {
    f(1).await; // awaits async closure in awaits::main
}

pub(crate) trait Work {
    async fn work(&self);

    async fn twice(&self) {
        self.work().await; // awaits <awaits::ways::Fast as awaits::ways::Work>::work
        self.work().await; // awaits <awaits::ways::Fast as awaits::ways::Work>::work
    }
}

pub(crate) struct Fast;
pub(crate) struct Slow;

impl Work for Fast {
    async fn work(&self) {
        leaf(1).await; // awaits awaits::ways::leaf
    }
}

impl Work for Slow {
    async fn work(&self) {
        ready().await; // awaits awaits::ways::ready
    }
}

impl Slow {
    pub(crate) async fn own(&self) {
        self.work().await; // awaits <awaits::ways::Slow as awaits::ways::Work>::work
    }
}

pub(crate) async fn through_a_trait(worker: impl Work) {
    worker.work().await; // awaits one of 2
}

pub(crate) async fn in_arms(what: Option<u64>) {
    match what {
        Some(1) => leaf(1).await, // awaits awaits::ways::leaf
        Some(n) if n > 2 => {
            ready().await; // awaits awaits::ways::ready
        }
        Some(_) => ByHand.await, // awaits awaits::ways::ByHand
        None => pending().await, // awaits core::future::pending::Pending<()>
    }
}

pub(crate) async fn within_arguments() {
    println!("{} {}", ready().await, ready().await); // awaits awaits::ways::ready
    let both = (ready().await, ready().await); // awaits awaits::ways::ready
    let block = async {
        ready().await && both.0 // awaits awaits::ways::ready
    };
    let inner = async {
        leaf(1).await; // awaits awaits::ways::leaf
        block.await // awaits async block in awaits::ways::within_arguments
    };
    inner.await; // awaits async block in awaits::ways::within_arguments
}

pub(crate) async fn wrapped() {
    let _ = timeout(Duration::from_secs(1), leaf(1)).await; // awaits tokio::time::timeout::Timeout<async awaits::ways::leaf>
    let mut later = pin!(leaf(2));
    (&mut later).await; // awaits awaits::ways::leaf
}

pub(crate) async fn never() {}
