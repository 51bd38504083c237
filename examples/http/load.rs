//! The shop's customers: HTTP/1.1 clients that keep their connections open.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The measurements of the clients.
pub(crate) struct Summary {
    clients: usize,
    /// The latency of each request, sorted.
    latencies: Vec<Duration>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |percent: usize| {
            let index = self.latencies.len().saturating_sub(1) * percent / 100;
            self.latencies.get(index).copied().unwrap_or_default()
        };
        write!(
            f,
            "{} requests served to {} clients: p50 {:.2?}, p99 {:.2?}, longest {:.2?}",
            self.latencies.len(),
            self.clients,
            at(50),
            at(99),
            at(100),
        )
    }
}

/// Has `clients` customers make `requests` requests each, on this thread.
///
/// The number is given rather than a time, so that each handler is called equally often on a slow
/// or busy machine.
pub(crate) fn run(shop: SocketAddr, clients: usize, requests: usize) -> io::Result<Summary> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build()?;
    runtime.block_on(async {
        let mut visits = JoinSet::new();
        for number in 0..clients as u64 {
            visits.spawn(visit(shop, number, requests));
        }
        let mut latencies = Vec::new();
        while let Some(visit) = visits.join_next().await {
            latencies.extend(visit.map_err(io::Error::other)??);
        }
        latencies.sort_unstable();
        Ok(Summary { clients, latencies })
    })
}

/// Simulates one customer: places an order, requests it repeatedly, and sometimes requests the
/// invoice.
async fn visit(shop: SocketAddr, number: u64, requests: usize) -> io::Result<Vec<Duration>> {
    let stream = TcpStream::connect(shop).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufStream::new(stream);
    let order = format!("/orders/{number}");
    let mut latencies = Vec::new();
    let mut step = number;
    while latencies.len() < requests {
        let asked = Instant::now();
        step += 1;
        let status = if latencies.is_empty() {
            request(&mut stream, "POST", &order, "1 teapot\n2 cups\n").await?
        } else if step % 150 == 0 {
            request(&mut stream, "GET", &format!("{order}/invoice"), "").await?
        } else if step % 3 == 0 {
            request(&mut stream, "GET", "/", "").await?
        } else {
            request(&mut stream, "GET", &order, "").await?
        };
        latencies.push(asked.elapsed());
        if !(200..300).contains(&status) {
            return Err(io::Error::other(format!("the shop answered {status}")));
        }
        sleep(Duration::from_millis(3)).await;
    }
    Ok(latencies)
}

/// Sends one request and reads the whole response; returns its status.
async fn request(
    stream: &mut BufStream<TcpStream>,
    method: &str,
    path: &str,
    body: &str,
) -> io::Result<u16> {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: shop\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    stream.write_all(head.as_bytes()).await?;
    stream.flush().await?;

    let bad = || io::Error::new(io::ErrorKind::InvalidData, "this is no HTTP");
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let status = line.split(' ').nth(1).ok_or_else(bad)?;
    let status = status.parse().map_err(|_| bad())?;
    let mut length = 0;
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| bad())?;
        }
    }
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await?;
    Ok(status)
}
