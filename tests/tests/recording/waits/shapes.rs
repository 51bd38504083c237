//! Ways to await something, each recorded on its line.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesOrdered, FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{sleep, timeout};
use tokio_statemap::Instrument;

use super::runtimes::check_all;
use super::shadow::Shadow;

const LONG: Duration = Duration::from_secs(1000);

type BoxFuture<'a, T = ()> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

async fn sleeps(up: Shadow) {
    let frame = up.enter("sleeps");
    frame.waits(line!(), "Sleep"); sleep(LONG).await;
}

async fn sequential(up: Shadow) {
    let frame = up.enter("sequential");
    frame.waits(line!(), "yield_now"); yield_now().await;
    frame.waits(line!(), "Sleep"); sleep(Duration::from_millis(1)).await;
    let down = frame.at(line!()); sleeps(down).await;
}

async fn joins(up: Shadow) {
    let frame = up.enter("joins");
    let down = frame.at(line!()); tokio::join!(sleeps(down.clone()), sequential(down.clone()), quick(down));
}

async fn joins_the_same(up: Shadow) {
    let frame = up.enter("joins_the_same");
    let down = frame.at(line!()); tokio::join!(sleeps(down.clone()), sleeps(down));
}

async fn quick(up: Shadow) {
    let frame = up.enter("quick");
    frame.waits(line!(), "yield_now"); yield_now().await;
}

async fn fallible(up: Shadow) -> Result<(), ()> {
    let frame = up.enter("fallible");
    let down = frame.at(line!()); sleeps(down).await;
    Ok(())
}

async fn tries_to_join(up: Shadow) {
    let frame = up.enter("tries_to_join");
    let down = frame.at(line!()); let _ = tokio::try_join!(fallible(down.clone()), fallible(down));
}

async fn selects(up: Shadow) {
    let frame = up.enter("selects");
    let down = frame.at(line!()); tokio::select! { () = sleeps(down.clone()) => {} () = sequential(down.clone()) => {} }
}

async fn unordered(up: Shadow) {
    let frame = up.enter("unordered");
    let mut all: FuturesUnordered<_> = (0..3).map(|_| sleep(LONG)).collect();
    frame.waits(line!(), "Next"); all.next().await;
}

async fn ordered(up: Shadow) {
    let frame = up.enter("ordered");
    let mut all: FuturesOrdered<_> = (0..3).map(|_| sleep(LONG)).collect();
    frame.waits(line!(), "Next"); all.next().await;
}

async fn yields(up: Shadow) -> Option<((), Shadow)> {
    let frame = up.enter("yields");
    frame.waits(line!(), "Sleep"); sleep(LONG).await;
    Some(((), up.clone()))
}

async fn streams(up: Shadow) {
    let frame = up.enter("streams");
    let (down, next) = (Shadow::default(), frame.at(line!() + 2).enter("Next"));
    let mut stream = std::pin::pin!(futures_util::stream::unfold(next.at(0), yields)); drop(down);
    stream.next().await;
}

async fn times_out(up: Shadow) {
    let frame = up.enter("times_out");
    let next = frame.at(line!()).enter("Timeout"); let _ = timeout(LONG, sequential(next.at(0))).await;
}

fn recurses(up: Shadow, depth: u32) -> BoxFuture<'static> {
    Box::pin(async move {
        let frame = up.enter("recurses");
        if depth > 0 {
            let down = frame.at(line!()); recurses(down, depth - 1).await;
        }
        frame.waits(line!(), "Sleep"); sleep(LONG).await;
    })
}

async fn recursive(up: Shadow) {
    let frame = up.enter("recursive");
    let down = frame.at(line!()); recurses(down, 5).await;
}

#[async_trait::async_trait]
trait Waits {
    async fn waits(&self, up: Shadow);
}

struct Waiter;

#[async_trait::async_trait]
impl Waits for Waiter {
    async fn waits(&self, up: Shadow) {
        let frame = up.enter("waits");
        frame.waits(line!(), "Sleep"); sleep(LONG).await;
    }
}

async fn by_trait(up: Shadow) {
    let frame = up.enter("by_trait");
    let waiter: Box<dyn Waits + Send + Sync> = Box::new(Waiter);
    let down = frame.at(line!()); waiter.waits(down).await;
}

async fn generic<T: Default + Send>(up: Shadow, inner: Shadow, future: impl Future<Output = T> + Send) -> T {
    let frame = up.enter("generic");
    frame.continues(line!(), &inner); future.await
}

async fn generics(up: Shadow) {
    let frame = up.enter("generics");
    let inner = Shadow::default(); let sleep = sleeps(inner.clone());
    let down = frame.at(line!()); generic(down, inner, sleep).await;
}

async fn boxes(up: Shadow) {
    let frame = up.enter("boxes");
    let down = frame.at(line!() + 1); let boxed: BoxFuture<'_> = Box::pin(sleeps(down));
    boxed.await;
}

async fn receives(up: Shadow) {
    let frame = up.enter("receives");
    let (_sender, mut receiver) = mpsc::channel::<u8>(1);
    frame.waits(line!(), "recv"); receiver.recv().await;
}

async fn sends(up: Shadow) {
    let frame = up.enter("sends");
    let (sender, _receiver) = mpsc::channel::<u8>(1);
    sender.send(1).await.unwrap();
    frame.waits(line!(), "send"); sender.send(2).await.unwrap();
}

async fn receives_once(up: Shadow) {
    let frame = up.enter("receives_once");
    let (_sender, receiver) = oneshot::channel::<u8>();
    frame.waits(line!(), "Receiver"); let _ = receiver.await;
}

async fn watches(up: Shadow) {
    let frame = up.enter("watches");
    let (_sender, mut receiver) = watch::channel(1);
    frame.waits(line!(), "changed"); let _ = receiver.changed().await;
}

async fn listens(up: Shadow) {
    let frame = up.enter("listens");
    let (_sender, mut receiver) = broadcast::channel::<u8>(1);
    frame.waits(line!(), "recv"); let _ = receiver.recv().await;
}

async fn locks(up: Shadow) {
    let frame = up.enter("locks");
    let mutex = Arc::new(Mutex::new(()));
    let _held = mutex.clone().try_lock_owned().unwrap();
    frame.waits(line!(), "lock"); let _ = mutex.lock().await;
}

async fn writes(up: Shadow) {
    let frame = up.enter("writes");
    let lock = RwLock::new(());
    let _held = lock.try_read().unwrap();
    frame.waits(line!(), "write"); let _ = lock.write().await;
}

async fn acquires(up: Shadow) {
    let frame = up.enter("acquires");
    let semaphore = Semaphore::new(0);
    frame.waits(line!(), "acquire"); let _ = semaphore.acquire().await;
}

async fn is_notified(up: Shadow) {
    let frame = up.enter("is_notified");
    let notify = Notify::new();
    frame.waits(line!(), "Notified"); notify.notified().await;
}

async fn meets(up: Shadow) {
    let frame = up.enter("meets");
    let barrier = Barrier::new(2);
    frame.waits(line!(), "wait"); barrier.wait().await;
}

async fn accepts(up: Shadow) {
    let frame = up.enter("accepts");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    frame.waits(line!(), "accept"); let _ = listener.accept().await;
}

async fn reads(up: Shadow) {
    let frame = up.enter("reads");
    // A connection that is made here may wake the task late, when it reads already: then its place isn't known.
    let (mut stream, _other) = tokio::net::UnixStream::pair().unwrap();
    frame.waits(line!(), "Read"); let _ = stream.read(&mut [0; 8]).await;
}

async fn fills_a_pipe(up: Shadow) {
    let frame = up.enter("fills_a_pipe");
    let (mut pipe, _other) = tokio::io::duplex(8);
    frame.waits(line!(), "WriteAll"); let _ = pipe.write_all(&[0; 100]).await;
}

async fn joins_a_task(up: Shadow) {
    let frame = up.enter("joins_a_task");
    let task = tokio::spawn(sleep(LONG));
    frame.waits(line!(), "JoinHandle"); let _ = task.await;
}

async fn joins_a_set(up: Shadow) {
    let frame = up.enter("joins_a_set");
    let mut set = JoinSet::new();
    set.spawn(sleep(LONG));
    frame.waits(line!(), "join_next"); let _ = set.join_next().await;
}

async fn blocks_elsewhere(up: Shadow) {
    let frame = up.enter("blocks_elsewhere");
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    let task = tokio::task::spawn_blocking(move || receiver.recv());
    frame.waits(line!(), "JoinHandle"); let _ = task.await;
}

/// The line where [`KeepsItsWaker`] takes the waker.
const OWN_LINE: u32 = line!() + 9;

/// A future that keeps the first waker with which it is polled.
struct KeepsItsWaker(Arc<StdMutex<Option<Waker>>>);

impl Future for KeepsItsWaker {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.lock().unwrap().get_or_insert_with(|| cx.waker().clone()); // `OWN_LINE`
        Poll::Pending
    }
}

async fn keeps_its_waker(up: Shadow) {
    let frame = up.enter("keeps_its_waker");
    let waker = Arc::new(StdMutex::new(None));
    let wake = Arc::clone(&waker);
    tokio::spawn(async move {
        for _ in 0..3 {
            sleep(Duration::from_millis(1)).await;
            wake.lock().unwrap().as_ref().inspect(|waker: &&Waker| waker.wake_by_ref());
        }
    });
    // A future that is written by hand has the line in its `poll`.
    let own = frame.at(line!()).enter("KeepsItsWaker"); own.at(OWN_LINE); KeepsItsWaker(waker).await;
}

async fn names_a_block(up: Shadow) {
    let frame = up.enter("names_a_block");
    let named = frame.at(line!()).enter("connection"); let down = named.at(line!()); async { sleeps(down).await }.instrument("connection").await;
}

async fn names_a_leaf(up: Shadow) {
    let frame = up.enter("names_a_leaf");
    let named = frame.at(line!()).enter("nap"); named.waits(line!(), "Sleep"); sleep(LONG).instrument("nap").await;
}

async fn loops(up: Shadow) {
    let frame = up.enter("loops");
    let (sender, mut receiver) = mpsc::channel::<u8>(1);
    tokio::spawn(async move {
        for i in 0..5 {
            sender.send(i).await.unwrap();
        }
        sleep(LONG).await;
    });
    loop {
        frame.waits(line!(), "recv"); receiver.recv().await;
    }
}

macro_rules! shapes {
    ($($shape:ident)+) => {
        [$((stringify!($shape), (|up| Box::pin($shape(up))) as fn(Shadow) -> BoxFuture<'static>),)+]
    };
}

#[test]
fn each_way_to_await_is_recorded() {
    check_all(&shapes! {
        sleeps sequential joins joins_the_same tries_to_join selects unordered ordered streams times_out generics
        recursive by_trait boxes receives sends receives_once watches listens locks writes acquires
        is_notified meets accepts reads fills_a_pipe joins_a_task joins_a_set blocks_elsewhere
        keeps_its_waker names_a_block names_a_leaf loops
    });
}
