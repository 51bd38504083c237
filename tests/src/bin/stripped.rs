//! Tasks that wait, in a program that is stripped before it is run.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tests::programs::out;
use tokio::sync::{Mutex, Notify};
use tokio::time::sleep;
use tokio_statemap::Instrument as _;

async fn checkout(cart: u32, mutex: Arc<Mutex<u32>>) {
    pay(cart, &mutex).await;
}

#[inline(always)]
async fn pay(cart: u32, mutex: &Mutex<u32>) {
    *mutex.lock().await += cart;
    sleep(Duration::from_secs(cart.into())).await;
}

async fn both() {
    tokio::join!(sleep_long(), is_notified());
}

async fn sleep_long() {
    sleep(Duration::from_secs(1000)).await;
}

#[tokio_statemap::instrument]
async fn is_notified() {
    Notify::new().notified().await;
}

async fn twice() {
    let one = || Box::pin(is_notified());
    tokio::select! {
        () = one() => {}
        () = one() => {}
    }
}

#[tokio_statemap::main(flavor = "current_thread", tasks = out("tasks.json"))]
async fn main() {
    let mutex = Arc::new(Mutex::new(0));
    let held = mutex.lock().await;
    for cart in 1000..1003 {
        tokio_statemap::spawn(checkout(cart, Arc::clone(&mutex)));
    }
    tokio_statemap::spawn(both());
    tokio_statemap::spawn(twice());
    tokio_statemap::spawn(sleep_long().instrument("a name"));
    tokio_statemap::spawn(pending::<()>());
    tokio::task::yield_now().await;
    drop(held);
    sleep(Duration::from_millis(20)).await;
}
