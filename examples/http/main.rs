//! A web shop's HTTP server under load, with one handler that now and then blocks its worker.
//!
//! ```text
//! cargo run --example http
//! ```
//!
//! 32 clients (`load.rs`) make 300 requests each, which takes two seconds. Then it writes
//! `statemap.html`, the same as data in `tasks.json` and `workers.json`, and the report to stderr. The
//! page and the report name [`sign`] below and the line at which it blocks, although the server spawns
//! all tasks at one line of its code. The clients see it in the 99th percentile, which doesn't show
//! the reason.

mod load;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::RwLock;

/// The orders, by number.
type Orders = Arc<RwLock<HashMap<u64, Vec<String>>>>;

#[tokio_statemap::main(tasks = "tasks.json", workers = "workers.json", html = "statemap.html")]
async fn main() -> io::Result<()> {
    let orders = Orders::default();
    let app = Router::new()
        .route("/", get(|| async { "Welcome to the shop\n" }))
        .route("/orders/{number}", post(place_order).get(show_order))
        .route("/orders/{number}/invoice", get(invoice))
        .with_state(orders);

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}");
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    // The clients have their own thread and runtime, so that only the server is recorded and
    // reported.
    let clients = tokio::task::spawn_blocking(move || load::run(address, 32, 300));
    println!("{}", clients.await??);
    server.abort();
    Ok(())
}

async fn place_order(
    State(orders): State<Orders>,
    Path(number): Path<u64>,
    body: String,
) -> StatusCode {
    query_database().await;
    let lines = body.lines().map(str::to_owned).collect();
    orders.write().await.insert(number, lines);
    StatusCode::CREATED
}

async fn show_order(
    State(orders): State<Orders>,
    Path(number): Path<u64>,
) -> Result<String, StatusCode> {
    query_database().await;
    let orders = orders.read().await;
    let lines = orders.get(&number).ok_or(StatusCode::NOT_FOUND)?;
    Ok(lines.join("\n"))
}

async fn invoice(
    State(orders): State<Orders>,
    Path(number): Path<u64>,
) -> Result<String, StatusCode> {
    let lines = orders.read().await.get(&number).cloned();
    let lines = lines.ok_or(StatusCode::NOT_FOUND)?;
    Ok(render_invoice(number, &lines))
}

fn render_invoice(number: u64, lines: &[String]) -> String {
    let mut text = format!("Invoice {number}\n");
    for line in lines {
        // Writing to a String can't fail.
        let _ = writeln!(text, "  {line}");
    }
    sign(&text);
    text
}

/// Simulates a library that isn't async, which for example talks to a smart card and waits for the
/// answer. An async function must not call it, as its worker can't poll other tasks for 25 ms. The
/// fix is `tokio::task::spawn_blocking(move || sign(&text)).await`.
fn sign(_text: &str) {
    std::thread::sleep(Duration::from_millis(25));
}

/// Simulates a query of an async database driver. The worker polls other tasks meanwhile.
async fn query_database() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}
