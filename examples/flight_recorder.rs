//! A service that is always recorded and keeps only the newest events, for a snapshot when it is slow.
//!
//! ```text
//! cargo run --example flight_recorder
//! kill -USR1 <its pid>
//! ```
//!
//! On SIGUSR1 it writes the states of every task and worker up to now, and continues. It sends that
//! signal to itself once, and ends after four seconds or on Ctrl-C.

#[cfg(unix)]
#[tokio_statemap::main(
    // The time that this covers depends on the load. This service has about 7 000 events a second,
    // so it is about one and a half seconds.
    max_events = 10_000,
    keep = "last",
    // This is written when the program ends, as always.
    html = "flight_recorder.statemap.html"
)]
async fn main() -> std::io::Result<()> {
    use std::time::Duration;

    use tokio::signal::ctrl_c;
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::time::sleep;

    let mut asked = signal(SignalKind::user_defined1())?;
    println!("process {}: send it SIGUSR1 for a snapshot", std::process::id());
    for client in 0..16 {
        tokio::spawn(service::serve(client));
    }
    tokio::spawn(service::ask_for_a_snapshot_once());

    let end = sleep(Duration::from_secs(4));
    tokio::pin!(end);
    loop {
        tokio::select! {
            Some(()) = asked.recv() => service::write_snapshot().await,
            // A program that handles Ctrl-C itself continues to do so.
            result = ctrl_c() => return result,
            () = &mut end => return Ok(()),
        }
    }
}

#[cfg(unix)]
mod service {
    use std::fs::File;
    use std::time::Duration;

    use tokio::time::{interval, sleep};
    use tokio_statemap::Timeline;

    /// A page for a web browser.
    const SNAPSHOT: &str = "flight_recorder.snapshot.statemap.html";

    /// Serves one client for as long as the program runs.
    pub(super) async fn serve(client: u64) {
        let mut requests = interval(Duration::from_millis(5));
        for request in 0_u64.. {
            requests.tick().await;
            // Rarely: each client is affected once in four seconds.
            if (request + 50 * client) % 800 == 400 {
                // Simulates a log file that is rotated synchronously.
                std::thread::sleep(Duration::from_millis(40));
            }
        }
    }

    /// Writes a snapshot. Recording continues meanwhile.
    pub(super) async fn write_snapshot() {
        let Some(collector) = tokio_statemap::current() else {
            // Recording is disabled with TOKIO_STATEMAP=0.
            return;
        };
        // Sorting and writing belong on a blocking thread, not on a worker.
        let written = tokio::task::spawn_blocking(move || write(collector.snapshot()));
        match written.await {
            Ok(Ok(())) => println!("snapshot written: {SNAPSHOT}"),
            Ok(Err(error)) => eprintln!("snapshot not written: {error}"),
            Err(panicked) => eprintln!("snapshot not written: {panicked}"),
        }
    }

    fn write(timeline: Timeline) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        println!("\n{}\n", timeline.report());
        timeline.write_html(File::create(SNAPSHOT)?)?;
        Ok(())
    }

    /// Sends the signal, as `kill -USR1` in another terminal would.
    pub(super) async fn ask_for_a_snapshot_once() {
        sleep(Duration::from_secs(3)).await;
        let pid = std::process::id().to_string();
        let kill = move || std::process::Command::new("kill").args(["-USR1", &pid]).status();
        if let Err(error) = tokio::task::spawn_blocking(kill).await.expect("it can't panic") {
            eprintln!("kill can't be run: {error}");
        }
    }
}

#[cfg(not(unix))]
fn main() {
    eprintln!(
        "SIGUSR1 is a signal of Unix; elsewhere call `write_snapshot` from whatever you have"
    );
}
