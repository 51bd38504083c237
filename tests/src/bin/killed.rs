//! A program that is killed: `killed MAX_EVENTS`. It emits as much as it can, and logs what it emits in the folder LOG. Early
//! on, one task holds a worker a few times.

#[cfg(all(tokio_unstable, target_os = "linux"))]
mod program {
    use std::path::PathBuf;
    use std::time::Duration;

    use tests::emitted::logging_hooks;
    use tests::programs::out;
    use tokio::runtime::Builder;
    use tokio::task::{id, yield_now};
    use tokio::time::sleep;
    use tokio_statemap::Recording;

    const MS: Duration = Duration::from_millis(1);

    #[inline(never)]
    fn reads_the_disk() {
        std::thread::sleep(60 * MS);
        // A call at the end would be a jump.
        std::hint::black_box(());
    }

    async fn blocks() {
        for _ in 0..5 {
            sleep(20 * MS).await;
            reads_the_disk();
        }
        println!("ready");
    }

    /// Its number of polls is known by its id.
    async fn yields() {
        let id: u64 = id().to_string().parse().unwrap();
        for _ in 0..id % 4 {
            yield_now().await;
        }
    }

    async fn spawns() {
        loop {
            for _ in 0..100 {
                tokio::spawn(yields()).await.unwrap();
            }
            sleep(MS / 2).await;
        }
    }

    pub(super) fn run() {
        let max_events = std::env::args().nth(1).unwrap().parse().unwrap();
        let log = PathBuf::from(std::env::var_os("LOG").expect("LOG says where the log goes"));
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).enable_all();
        let recording = Recording::new().hooks(logging_hooks(&log)).max_events(max_events);
        let recording =
            recording.black_box(true).html(out("killed.html")).start(&mut builder).unwrap();
        let runtime = builder.build().unwrap();
        recording.block_on(&runtime, async {
            tokio::spawn(blocks());
            for _ in 0..4 {
                tokio::spawn(spawns());
            }
            std::future::pending::<()>().await;
        });
    }
}

fn main() {
    #[cfg(all(tokio_unstable, target_os = "linux"))]
    program::run();
}
