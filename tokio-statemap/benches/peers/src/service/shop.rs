//! A web shop with a database in memory.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::thread;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{RwLock, oneshot};

use super::slowness;
use crate::usage::{self, Since};
use crate::variants::{Limits, Spawner, Traced, Variant};
use crate::workloads::storm;

/// What ours keeps by default.
const MAX_EVENTS: usize = 1_000_000;

type Orders = Arc<RwLock<HashMap<u64, Vec<String>>>>;

/// Serves, on one worker, until stdin is closed. It prints its address; a line on stdin is answered by
/// one, and from then on it measures itself: what it says at last.
pub(crate) fn open(variant: Variant, account: bool) -> Value {
    let mut builder = Builder::new_multi_thread();
    // The customers need a processor, too.
    builder.worker_threads(1).enable_all();
    let limits = Limits { first: MAX_EVENTS, last: MAX_EVENTS };
    let traced = Traced::new(variant, builder, limits, account);
    // As if it had been open for long: the memory for events was used before.
    let (spawner, polls) = (traced.spawner(), MAX_EVENTS as u64 / slowness(variant));
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
        // Nobody is served any more if nobody is listening.
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
    let lines = ["1 teapot", "2 cups", "1 sugar bowl"].map(str::to_owned);
    let orders = (0..1000).map(|number| (number, lines.to_vec())).collect();
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
) -> Result<String, StatusCode> {
    let orders = orders.read().await;
    let lines = orders.get(&number).ok_or(StatusCode::NOT_FOUND)?;
    Ok(lines.join("\n"))
}
