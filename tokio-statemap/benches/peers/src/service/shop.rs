//! A web shop with a database in memory.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{RwLock, oneshot};

use super::place;
use crate::usage::{self, Since};
use crate::variants::{Limits, Spawner, Traced, Variant};
use crate::workloads::storm;

/// The default of our `max_events`.
const MAX_EVENTS: usize = 1_000_000;

type Orders = Arc<RwLock<HashMap<u64, Order>>>;

#[derive(Clone, Serialize)]
struct Order {
    number: u64,
    customer: String,
    address: String,
    placed_at: String,
    lines: Vec<Line>,
    total_cents: u64,
}

#[derive(Clone, Serialize)]
struct Line {
    article: String,
    pieces: u64,
    cents_a_piece: u64,
}

impl Order {
    fn new(number: u64) -> Self {
        let articles =
            [("teapot", 1, 2400), ("cup", 4, 550), ("saucer", 4, 320), ("sugar bowl", 1, 990)];
        let lines = articles.map(|(article, pieces, cents_a_piece)| Line {
            article: article.to_owned(),
            pieces,
            cents_a_piece,
        });
        Self {
            number,
            customer: "Ada Lovelace".to_owned(),
            address: "12 St James's Square, London".to_owned(),
            placed_at: "1843-07-10T09:30:00Z".to_owned(),
            total_cents: lines.iter().map(|line| line.pieces * line.cents_a_piece).sum(),
            lines: lines.into(),
        }
    }
}

/// Serves on one worker until stdin is closed. Prints its address. A line on stdin is answered by
/// one, and starts the measurement whose results are printed at the end.
pub(crate) fn open(variant: Variant, account: bool) -> Value {
    place::pin_shops();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).enable_all();
    let limits = Limits { first: MAX_EVENTS, last: MAX_EVENTS };
    let traced = Traced::new(variant, builder, limits, account);
    // This simulates a shop that has been open for long: the memory for events was used before.
    let (spawner, polls) = (traced.spawner(), MAX_EVENTS as u64 / variant.slowness());
    traced.block_on(async move { storm(&spawner, 16, polls).await });

    let (close, closed) = oneshot::channel();
    let listens = thread::spawn(move || {
        let mut since = Since::now();
        for line in io::stdin().lines() {
            line.expect("a line");
            since = Since::now();
            println!("it does");
        }
        let cpu = since.cpu();
        // Closing the listener ends the service.
        let _ = close.send(());
        cpu
    });
    traced.block_on(serve(traced.spawner(), closed));
    let cpu = listens.join().expect("it only listens");
    let mut said = json!({ "cpu_ns": cpu.as_nanos() as u64, "peak_bytes": usage::peak_bytes() });
    if account && let Some(account) = traced.account() {
        said["account"] = account.to_json();
    }
    said
}

async fn serve(spawner: Spawner, closed: oneshot::Receiver<()>) {
    let orders = (0..1000).map(|number| (number, Order::new(number))).collect();
    let app = Router::new()
        .route("/orders/{number}", get(show_order))
        .with_state(Orders::new(RwLock::new(orders)));

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("{}", listener.local_addr().expect("an address"));

    let connections = spawner.clone();
    let server = spawner.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = TowerToHyperService::new(app.clone());
            connections
                .spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
        #[allow(unreachable_code, reason = "says what the errors are")]
        Ok::<(), io::Error>(())
    });
    closed.await.expect("somebody closes it");
    server.abort();
}

async fn show_order(
    State(orders): State<Orders>,
    Path(number): Path<u64>,
) -> Result<Json<Order>, StatusCode> {
    let orders = orders.read().await;
    let order = orders.get(&number).ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(order.clone()))
}
