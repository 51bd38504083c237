//! Programs that are killed: what was recorded is in a black box.

use std::sync::Arc;
use std::time::Duration;

use tests::programs::out;
use tokio::sync::Mutex;

#[inline(never)]
fn blocks_forever() {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

async fn waits(lock: Arc<Mutex<()>>) {
    let _guard = lock.lock().await;
}

async fn works() {
    loop {
        for _ in 0..100 {
            tokio::spawn(async {}).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio_statemap::main(
    worker_threads = 2,
    max_events = 40_000,
    black_box = true,
    recover = out("crash-{pid}.html"),
    html = out("boxed.html")
)]
async fn main() {
    let lock = Arc::new(Mutex::new(()));
    let _guard = Arc::clone(&lock).lock_owned().await;
    for _ in 0..3 {
        tokio::spawn(waits(Arc::clone(&lock)));
    }
    println!("ready");
    match std::env::args().nth(1).as_deref() {
        Some("block") => tokio::spawn(async { blocks_forever() }).await.unwrap(),
        Some("work") => tokio::spawn(works()).await.unwrap(),
        _ => {}
    }
}
