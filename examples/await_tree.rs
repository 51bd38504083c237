//! scratch
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc};
async fn foo() {
    bar(3).await
}
async fn bar(n: u32) {
    tokio::task::yield_now().await;
    tokio::join!(buz(n), fiz());
}
async fn buz(n: u32) {
    baz(n).await
}
async fn baz(_n: u32) {
    tokio::time::sleep(Duration::from_secs(10)).await
}
async fn fiz() {
    std::future::pending::<()>().await
}
async fn chan(mut r: mpsc::Receiver<u8>) {
    let _ = r.recv().await;
}
async fn boxed() {
    let b: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(baz(3));
    b.await
}
async fn sel() {
    tokio::select! { _ = baz(1) => {}, _ = buz(2) => {} }
}
async fn two() {
    tokio::join!(buz(1), buz(2));
}
async fn lock(m: Arc<Mutex<u32>>) {
    let _g = m.lock().await;
}
async fn sem(m: Arc<Semaphore>) {
    let _g = m.acquire().await;
}
async fn note(m: Arc<Notify>) {
    m.notified().await;
}
async fn seq() {
    tokio::time::sleep(Duration::from_millis(1)).await;
    baz(1).await
}
async fn to() {
    tokio::time::timeout(Duration::from_secs(9), foo()).await.unwrap();
}
async fn accept() {
    let l = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    l.accept().await.unwrap();
}
async fn joins() {
    tokio_statemap::spawn(fiz()).await.unwrap();
}
async fn blocking() {
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(300))).await.unwrap();
}
#[tokio_statemap::main(report = stderr)]
async fn main() {
    let m = Arc::new(Mutex::new(0));
    let _g = m.lock().await;
    let (_tx, rx) = mpsc::channel(1);
    use tokio_statemap::spawn;
    spawn(foo());
    spawn(chan(rx));
    spawn(boxed());
    spawn(sel());
    spawn(two());
    spawn(lock(m.clone()));
    spawn(sem(Arc::new(Semaphore::new(0))));
    spawn(note(Arc::new(Notify::new())));
    spawn(seq());
    spawn(to());
    spawn(accept());
    spawn(joins());
    spawn(blocking());
    spawn(async {
        baz(1).await;
    });
    let mut set = tokio_statemap::task::JoinSet::new();
    set.spawn(fiz());
    tokio_statemap::task::Builder::new()
        .name("joiner")
        .spawn(async move {
            set.join_next().await;
        })
        .unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    println!("{}", tokio_statemap::trees::Folded(&tokio_statemap::current().unwrap().trees()));
}
