//! The web shop's customers, who do as little as they can: HTTP/1.1 over connections kept open, each
//! with one request under way.

use std::time::Instant;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CONNECTIONS: u64 = 32;

/// Asks the shop at `address` for `requests` answers, on this thread.
pub(crate) fn load(address: &str, requests: u64) -> Value {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let began = Instant::now();
        let mut visits = JoinSet::new();
        for number in 0..CONNECTIONS {
            visits.spawn(visit(address.to_owned(), number, requests / CONNECTIONS));
        }
        let mut latencies = visits.join_all().await.concat();
        let seconds = began.elapsed().as_secs_f64();
        latencies.sort_unstable();
        let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100];
        json!({
            "requests_per_s": latencies.len() as f64 / seconds,
            "p50_ns": at(50),
            "p99_ns": at(99),
        })
    })
}

/// How many ns each request took.
async fn visit(address: String, number: u64, requests: u64) -> Vec<u64> {
    let mut stream = TcpStream::connect(address).await.expect("the shop is open");
    stream.set_nodelay(true).expect("a socket");
    let request = format!("GET /orders/{number} HTTP/1.1\r\nHost: shop\r\n\r\n");
    let mut latencies = Vec::with_capacity(requests as usize);
    let mut buffer = vec![0; 1024];
    let mut length = None;
    for _ in 0..requests {
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).await.expect("the shop is open");
        match length {
            // All answers are as long as the first.
            Some(length) => _ = stream.read_exact(&mut buffer[..length]).await.expect("an answer"),
            None => {
                let read = stream.read(&mut buffer).await.expect("an answer");
                assert!(buffer.starts_with(b"HTTP/1.1 200 OK"), "the shop refuses");
                length = Some(read);
            }
        }
        latencies.push(asked.elapsed().as_nanos() as u64);
        assert!(buffer.starts_with(b"HTTP/1.1 200 OK"), "the shop refuses");
    }
    latencies
}
