//! Programs that never end by themselves.

use std::future::pending;
use std::thread;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// Blocks forever in the variant `how`.
pub async fn run(how: &str) {
    match how {
        "main" => {
            println!("ready");
            spin()
        }
        "task" => {
            tokio::spawn(async {
                println!("ready");
                spin()
            });
            pending().await
        }
        "sleep" => {
            tokio::spawn(async {
                println!("ready");
                thread::sleep(HOUR);
            });
            pending().await
        }
        // All workers are blocked.
        "workers" => {
            for _ in 0..2 {
                tokio::spawn(async { thread::sleep(HOUR) });
            }
            println!("ready");
            pending().await
        }
        // The runtime waits on shutdown for a closure that never ends.
        "blocking" => {
            let (starts, started) = tokio::sync::oneshot::channel();
            tokio::task::spawn_blocking(move || {
                let _ = starts.send(());
                thread::sleep(HOUR)
            });
            started.await.unwrap();
            let guard = SaysReady;
            tokio::spawn(async move {
                let _guard = guard;
                pending::<()>().await
            });
            tokio::task::yield_now().await;
        }
        _ => panic!("no such way: {how}"),
    }
}

fn spin() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Prints a line when it is dropped, as the runtime shuts down.
#[derive(Debug)]
struct SaysReady;

impl Drop for SaysReady {
    fn drop(&mut self) {
        println!("ready");
    }
}
