//! A metrics server on one thread: it receives lines like `checkout:12.5` over UDP and prints the
//! median and the 99th percentile ten times a second.
//!
//! ```text
//! cargo run --example current_thread
//! ```
//!
//! It has a common bug: it sorts all samples since the start each time, which takes longer and longer
//! while datagrams wait. On a single thread every task delays all others. The report names the line
//! where `print_summaries` was spawned. The two pictures, a page and an SVG, show its polls growing.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The number of measurements in a datagram.
const BATCH: usize = 100;

type Samples = Arc<Mutex<Vec<f64>>>;

#[tokio_statemap::main(
    flavor = "current_thread",
    html = "current_thread.statemap.html",
    svg = "current_thread.statemap.svg"
)]
async fn main() -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let address = socket.local_addr()?;

    let samples = Samples::default();
    tokio::spawn(print_summaries(samples.clone()));
    tokio::spawn(send_measurements(address));

    // `main` itself receives. It isn't `Send`, and doesn't have to be: it stays on this thread.
    let refused = Rc::new(RefCell::new(0));
    let receive = receive_measurements(&socket, &samples, &refused);
    // A real server would run forever.
    match timeout(Duration::from_secs(2), receive).await {
        Ok(failed) => failed?,
        Err(_time_is_over) => {}
    }
    let taken = samples.lock().expect("not poisoned").len();
    println!("{taken} measurements taken, {} refused", refused.borrow());
    Ok(())
}

async fn receive_measurements(
    socket: &UdpSocket,
    samples: &Samples,
    refused: &RefCell<u64>,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = socket.recv(&mut buffer).await?;
        let text = String::from_utf8_lossy(&buffer[..length]);
        let mut samples = samples.lock().expect("not poisoned");
        for line in text.lines() {
            match line.split_once(':').and_then(|(_name, value)| value.parse().ok()) {
                Some(value) => samples.push(value),
                None => *refused.borrow_mut() += 1,
            }
        }
    }
}

async fn print_summaries(samples: Samples) {
    let mut ticks = interval(Duration::from_millis(100));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The bug: all samples since the start, every time. (It should take them and start over.)
        let mut samples = samples.lock().expect("not poisoned").clone();
        if samples.is_empty() {
            continue;
        }
        samples.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| samples[(samples.len() - 1) * percent / 100];
        println!(
            "{:>7} samples: median {:.2} ms, 99 % within {:.2} ms",
            samples.len(),
            at(50),
            at(99),
        );
    }
}

/// Sends measurements, which another program would do; here it is a task of the same one.
async fn send_measurements(to: std::net::SocketAddr) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    let mut ticks = interval(Duration::from_millis(1));
    let mut seed = 1_u64;
    loop {
        ticks.tick().await;
        let mut datagram = String::new();
        for _ in 0..BATCH {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let millis = (seed >> 40) as f64 / 1e6;
            datagram.push_str(&format!("checkout:{millis:.3}\n"));
        }
        socket.send_to(datagram.as_bytes(), to).await?;
    }
}
