//! A web service that shows itself while it runs: its page, its report, where its tasks wait, and metrics.
//!
//! ```text
//! cargo run --example service
//! ```
//!
//! The routes of [`internal`] are all that a service needs for that. They show paths of source files, names of
//! functions, and arguments of calls, and a page takes seconds of a processor where many events are kept. So they are on
//! a port of their own, which must not be reachable from outside: let it listen on an internal address, or put a proxy
//! in front of it that asks for a password.
//!
//! Here customers visit the shop for some two seconds. Then the program asks its own routes once, prints the first lines
//! of each answer, and ends.

use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use examples::request;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tokio_statemap::{Collector, trees};

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[tokio_statemap::main(worker_threads = 2, html = "service.statemap.html")]
async fn main() -> io::Result<()> {
    let shop = Router::new()
        .route("/", get(|| async { "Welcome to the shop\n" }))
        .route("/invoice", get(|| async { sign("Invoice") }));
    let (shop, internal) = (serve(shop).await?, serve(internal()).await?);

    // The clients have their own thread, so that only the service is recorded.
    let (done, clients_left) = tokio::sync::oneshot::channel();
    thread::spawn(move || done.send(visit(shop).and_then(|()| look_at(internal))));
    clients_left.await.expect("no client panics")
}

/// Returns the routes that show the service.
fn internal() -> Router {
    Router::new()
        .route("/statemap", get(|| show(HTML, page)))
        .route(
            "/report",
            get(|| show(TEXT, |collector| Ok(collector.snapshot().report().to_string()))),
        )
        .route(
            "/tasks",
            get(|| show(TEXT, |collector| Ok(trees::Folded(&collector.trees()).to_string()))),
        )
        .route("/metrics", get(|| show(METRICS, |collector| Ok(collector.prometheus()))))
}

/// Answers with what `render` makes of the recording up to now.
async fn show(
    content_type: &'static str,
    render: fn(&Collector) -> io::Result<String>,
) -> Result<impl IntoResponse, StatusCode> {
    // Nothing is recorded with TOKIO_STATEMAP=0.
    let collector = tokio_statemap::current().ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    // On a worker this would be a long poll itself.
    match spawn_blocking(move || render(&collector)).await {
        Ok(Ok(text)) => Ok(([(CONTENT_TYPE, content_type)], text)),
        _ => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn page(collector: &Collector) -> io::Result<String> {
    let mut page = Vec::new();
    collector.snapshot().write_html(&mut page)?;
    String::from_utf8(page).map_err(io::Error::other)
}

/// Simulates a library that isn't async. An async function must not call it, as it blocks the worker.
fn sign(text: &str) -> String {
    thread::sleep(Duration::from_millis(120));
    format!("{text}, signed\n")
}

/// Serves on a free port, which it returns. A service would have two fixed addresses.
async fn serve(router: Router) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// Simulates the customers.
fn visit(shop: SocketAddr) -> io::Result<()> {
    for _ in 0..8 {
        for _ in 0..20 {
            request(shop, "/")?;
            thread::sleep(Duration::from_millis(4));
        }
        request(shop, "/invoice")?;
    }
    Ok(())
}

/// Asks each route once, as a browser and Prometheus would.
fn look_at(internal: SocketAddr) -> io::Result<()> {
    for path in ["/statemap", "/report", "/tasks", "/metrics"] {
        let answer = request(internal, path)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.lines().next().unwrap_or_default();
        println!("GET {path}: {status}, {} bytes", body.len());
        for line in body.lines().take(6) {
            println!("    {}", line.chars().take(100).collect::<String>());
        }
    }
    Ok(())
}
