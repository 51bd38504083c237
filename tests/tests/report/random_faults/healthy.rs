//! Healthy tasks: some of them wait for ever, as a server does for its clients.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, Mutex, Notify, Semaphore, mpsc, watch};
use tokio::time::sleep;

/// Tasks that do their work, or have none.
#[derive(Clone, Copy, Debug)]
pub(super) enum Healthy {
    Ticker,
    IdleServer,
    IdleConsumer,
    Sleepers,
    Pairs,
    ShortLocks,
    Permits,
    Subscribers,
    Notified,
    Echo,
    Short,
    /// A pool of workers that share the receiver of their jobs, and have none for now.
    Workers,
    Rounds,
}

pub(super) const ALL: [Healthy; 13] = {
    use Healthy::*;
    [
        Ticker,
        IdleServer,
        IdleConsumer,
        Sleepers,
        Pairs,
        ShortLocks,
        Permits,
        Subscribers,
        Notified,
        Echo,
        Short,
        Workers,
        Rounds,
    ]
};

pub(super) fn any() -> impl Strategy<Value = Healthy> {
    prop::sample::select(&ALL[..])
}

const SHORT: Duration = Duration::from_millis(3);

impl Healthy {
    pub(super) fn start(self) {
        match self {
            Self::Ticker => drop(tokio::spawn(ticks())),
            Self::IdleServer => drop(tokio::spawn(serves())),
            Self::IdleConsumer => {
                let (sender, receiver) = mpsc::channel::<u32>(8);
                tokio::spawn(consumes(receiver));
                tokio::spawn(async move {
                    sleep(Duration::from_secs(3600)).await;
                    sender.send(1).await
                });
            }
            Self::Sleepers => {
                (0..5).for_each(|_| drop(tokio::spawn(sleep(Duration::from_secs(3600)))));
            }
            Self::Pairs => {
                let (sender, receiver) = mpsc::channel(4);
                tokio::spawn(consumes(receiver));
                tokio::spawn(produces(sender));
            }
            Self::ShortLocks => {
                let lock = Arc::new(Mutex::new(0));
                (0..3).for_each(|_| drop(tokio::spawn(locks(Arc::clone(&lock)))));
            }
            Self::Permits => {
                let permits = Arc::new(Semaphore::new(4));
                (0..3).for_each(|_| drop(tokio::spawn(takes_a_permit(Arc::clone(&permits)))));
            }
            Self::Subscribers => {
                let (sender, receiver) = watch::channel(0);
                (0..3).for_each(|_| drop(tokio::spawn(watches(receiver.clone()))));
                tokio::spawn(publishes(sender));
            }
            Self::Notified => {
                let notify = Arc::new(Notify::new());
                tokio::spawn(is_notified(Arc::clone(&notify)));
                tokio::spawn(notifies(notify));
            }
            Self::Echo => drop(tokio::spawn(echoes())),
            Self::Short => drop(tokio::spawn(spawns())),
            Self::Workers => {
                let (sender, receiver) = mpsc::channel(8);
                let receiver = Arc::new(Mutex::new(receiver));
                (0..4).for_each(|_| drop(tokio::spawn(works(Arc::clone(&receiver)))));
                tokio::spawn(gives_jobs(sender));
            }
            Self::Rounds => {
                let barrier = Arc::new(Barrier::new(4));
                (0..4).for_each(|n| drop(tokio::spawn(meets(Arc::clone(&barrier), n))));
            }
        }
    }
}

async fn ticks() {
    let mut interval = tokio::time::interval(SHORT);
    loop {
        interval.tick().await;
    }
}

async fn serves() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    while listener.accept().await.is_ok() {}
}

async fn consumes(mut messages: mpsc::Receiver<u32>) {
    while messages.recv().await.is_some() {}
}

async fn produces(messages: mpsc::Sender<u32>) {
    while messages.send(1).await.is_ok() {
        sleep(SHORT).await;
    }
}

async fn locks(lock: Arc<Mutex<u32>>) {
    loop {
        *lock.lock().await += 1;
        sleep(SHORT).await;
    }
}

async fn takes_a_permit(permits: Arc<Semaphore>) {
    loop {
        let permit = permits.acquire().await.unwrap();
        sleep(SHORT).await;
        drop(permit);
        sleep(SHORT).await;
    }
}

async fn watches(mut value: watch::Receiver<u32>) {
    while value.changed().await.is_ok() {
        value.borrow_and_update();
    }
}

async fn publishes(value: watch::Sender<u32>) {
    loop {
        value.send_modify(|value| *value += 1);
        sleep(10 * SHORT).await;
    }
}

async fn is_notified(notify: Arc<Notify>) {
    loop {
        notify.notified().await;
    }
}

async fn notifies(notify: Arc<Notify>) {
    loop {
        notify.notify_one();
        sleep(SHORT).await;
    }
}

async fn echoes() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap());
    let (client, server) = tokio::join!(client, listener.accept());
    let (mut client, (mut server, _)) = (client.unwrap(), server.unwrap());
    tokio::spawn(async move {
        let mut byte = [0];
        while server.read_exact(&mut byte).await.is_ok() {
            server.write_all(&byte).await.unwrap();
        }
    });
    let mut byte = [7];
    loop {
        client.write_all(&byte).await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        sleep(SHORT).await;
    }
}

async fn spawns() {
    loop {
        tokio::spawn(sleep(SHORT)).await.unwrap();
    }
}

async fn works(jobs: Arc<Mutex<mpsc::Receiver<u32>>>) {
    loop {
        let job = jobs.lock().await.recv().await;
        let Some(job) = job else { return };
        sleep(SHORT * job).await;
    }
}

async fn gives_jobs(jobs: mpsc::Sender<u32>) {
    for job in 0..50 {
        jobs.send(job % 4).await.unwrap();
    }
    sleep(Duration::from_secs(3600)).await;
    drop(jobs);
}

async fn meets(barrier: Arc<Barrier>, nth: u32) {
    loop {
        sleep(SHORT * (nth + 1)).await;
        barrier.wait().await;
    }
}
