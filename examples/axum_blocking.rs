//! An axum service with a handler that blocks: a warning while it does, and the report at the end.
//!
//! ```text
//! cargo run --example axum_blocking
//! ```
//!
//! The handler calls another service with `std::net`, which blocks its worker until the answer. All
//! tasks are axum's, one per connection, spawned at one line of its code. The warnings and the report
//! on stderr name [`exchange_rate`] and the line at which it waits. With `warn_after` a poll that has
//! run for 20 ms is printed while it is running, which also helps in a service that never ends.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use examples::request;

#[tokio_statemap::main(
    worker_threads = 2,
    warn_after = "20ms",
    html = "axum_blocking.statemap.html"
)]
async fn main() -> io::Result<()> {
    let bank = start_bank()?;
    let app = Router::new()
        .route("/", get(|| async { "Welcome to the shop\n" }))
        .route("/price/{euros}", get(price))
        .with_state(bank);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    // The customers have their own thread, so that only the service is recorded.
    let (done, customers_left) = tokio::sync::oneshot::channel();
    thread::spawn(move || done.send(visit(address)));
    customers_left.await.expect("visit doesn't panic")?;
    server.abort();
    Ok(())
}

async fn price(
    State(bank): State<SocketAddr>,
    Path(euros): Path<f64>,
) -> Result<String, StatusCode> {
    // The remedy is `tokio::net` in `exchange_rate`, or `spawn_blocking` here.
    let rate = exchange_rate(bank).map_err(|_| StatusCode::BAD_GATEWAY)?;
    Ok(format!("{:.2} dollars\n", euros * rate))
}

/// Blocks until the bank answers. An async function must not call it.
fn exchange_rate(bank: SocketAddr) -> io::Result<f64> {
    let mut rate = String::new();
    TcpStream::connect(bank)?.read_to_string(&mut rate)?;
    rate.trim().parse().map_err(io::Error::other)
}

/// Starts the other service, which takes 40 ms to answer.
fn start_bank() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for connection in listener.incoming() {
            thread::sleep(Duration::from_millis(40));
            // The client may have gone meanwhile.
            let _ = connection.and_then(|mut connection| connection.write_all(b"1.25\n"));
        }
    });
    Ok(address)
}

/// Simulates the customers: two ask for prices, and one visits the front page until they leave.
fn visit(shop: SocketAddr) -> io::Result<()> {
    let ask = move || {
        for euros in 1..=8 {
            let price = request(shop, &format!("/price/{euros}"))?;
            println!("{euros} euros are {}", price.lines().last().unwrap_or("unknown"));
        }
        io::Result::Ok(())
    };
    let asking = [thread::spawn(ask), thread::spawn(ask)];
    while !asking.iter().all(JoinHandle::is_finished) {
        request(shop, "/")?;
        thread::sleep(Duration::from_millis(5));
    }
    asking.into_iter().try_for_each(|customer| customer.join().expect("`ask` doesn't panic"))
}
