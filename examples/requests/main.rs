//! An axum service whose requests are spans of `tracing`: which route is slow, and why.
//!
//! ```text
//! cargo run --package example-requests
//! ```
//!
//! tower-http opens a span for each request, and [`tokio_statemap::layer`] makes a table of them: the first lines of
//! the report name what held the runtime up, and the table *requests* has the times of each route. One of 20 requests for
//! an invoice blocks its worker for 15 ms in [`render`]. Requests for other routes wait meanwhile, so their 99th
//! percentiles suffer, too. The lines below the table say what the slowest requests did.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::routing::get;
use tokio::sync::{Mutex, oneshot};
use tower_http::trace::TraceLayer;
use tracing::{Instrument, Span, info_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The number of requests that each of the four customers sends.
const REQUESTS: u32 = 300;

#[tokio_statemap::main(worker_threads = 2, html = "requests.statemap.html")]
async fn main() -> io::Result<()> {
    let layer = tokio_statemap::layer().fields("method, http.route");
    tracing_subscriber::registry().with(layer).init();

    let app = Router::new()
        .route("/orders", get(orders))
        .route("/orders/{id}", get(order))
        .route("/invoice", get(invoice))
        .layer(TraceLayer::new_for_http().make_span_with(span_of_request));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    // The customers have threads of their own, so that only the service is recorded.
    let (done, customers_left) = oneshot::channel();
    thread::spawn(move || done.send(visit(address)));
    customers_left.await.expect("visit doesn't panic")?;
    server.abort();
    Ok(())
}

/// Returns the span of a request, with the route as axum knows it: the path has a number in it.
fn span_of_request(request: &Request) -> Span {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    info_span!("request", method = %request.method(), http.route = route)
}

async fn orders() -> String {
    let ids = read_orders().instrument(info_span!("read_orders")).await;
    format!("{ids:?}\n")
}

/// Stands for a query to a database that takes 2 ms.
async fn read_orders() -> Vec<u32> {
    tokio::time::sleep(Duration::from_millis(2)).await;
    vec![1, 2, 3]
}

/// The only connection to the database.
static CONNECTION: Mutex<()> = Mutex::const_new(());

#[tracing::instrument]
async fn order() -> &'static str {
    let _connection = CONNECTION.lock().await;
    tokio::time::sleep(Duration::from_micros(500)).await;
    "An order\n"
}

async fn invoice() -> String {
    static INVOICES: AtomicU32 = AtomicU32::new(0);
    render(INVOICES.fetch_add(1, Ordering::Relaxed))
}

/// Renders an invoice. Every 20th has a picture, for which it blocks. The remedy is `spawn_blocking`.
fn render(number: u32) -> String {
    if number % 20 == 19 {
        thread::sleep(Duration::from_millis(15));
    }
    format!("Invoice {number}\n")
}

/// Simulates the customers.
fn visit(shop: SocketAddr) -> io::Result<()> {
    let customers = [0, 1, 2, 3].map(|first| {
        thread::spawn(move || {
            for nth in 0..REQUESTS {
                let path = match (first + nth) % 3 {
                    0 => "/orders",
                    1 => &format!("/orders/{nth}"),
                    _ => "/invoice",
                };
                examples::request(shop, path)?;
            }
            io::Result::Ok(())
        })
    });
    customers.into_iter().try_for_each(|customer| customer.join().expect("it doesn't panic"))
}
