use std::sync::atomic::{AtomicUsize, Ordering};

static STARTED: AtomicUsize = AtomicUsize::new(0);

// Names of the user's stay the user's, whichever ours are.
struct Builder;

impl Builder {
    fn configure(builder: &mut tokio::runtime::Builder) {
        builder.worker_threads(3);
    }

    fn hooks() -> tokio_statemap::Hooks {
        tokio_statemap::Hooks::new().on_thread_start(|| {
            STARTED.fetch_add(1, Ordering::Relaxed);
        })
    }
}

// What `configure` sets wins over the keys.
#[tokio_statemap::main(worker_threads = 1, configure = Builder::configure, hooks = Builder::hooks)]
async fn main() {
    let _ = Builder;
    assert_eq!(tokio::runtime::Handle::current().metrics().num_workers(), 3);
    while STARTED.load(Ordering::Relaxed) < 3 {
        tokio::task::yield_now().await;
    }
    println!("configured");
}
