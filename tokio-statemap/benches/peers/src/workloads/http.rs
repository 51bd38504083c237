//! A web shop with a database in memory, and its customers in another process.

use std::collections::HashMap;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{RwLock, oneshot};

use crate::variants::Spawner;

type Orders = Arc<RwLock<HashMap<u64, Vec<String>>>>;

/// Serves `requests` requests; what the customers say about it.
pub(super) async fn serve(spawner: Spawner, requests: u64) -> Value {
    let lines = ["1 teapot", "2 cups", "1 sugar bowl"].map(str::to_owned);
    let orders = (0..1000).map(|number| (number, lines.to_vec())).collect();
    let app = Router::new()
        .route("/orders/{number}", get(show_order))
        .with_state(Orders::new(RwLock::new(orders)));

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let customers = customers(address.to_string(), requests);

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
    let said = customers.await.expect("the customers come back");
    server.abort();
    said
}

async fn show_order(
    State(orders): State<Orders>,
    Path(number): Path<u64>,
) -> Result<String, StatusCode> {
    let orders = orders.read().await;
    let lines = orders.get(&number).ok_or(StatusCode::NOT_FOUND)?;
    Ok(lines.join("\n"))
}

/// Sends them off; a thread waits for them, as a thread of the runtime would be looked at.
fn customers(address: String, requests: u64) -> oneshot::Receiver<Value> {
    let (send, receive) = oneshot::channel();
    thread::spawn(move || {
        let program = std::env::current_exe().expect("a program knows its path");
        let load = Command::new(program)
            .args(["run", "load", &address, &requests.to_string()])
            .output()
            .expect("the customers");
        assert!(load.status.success(), "{}", String::from_utf8_lossy(&load.stderr));
        let said = serde_json::from_slice(&load.stdout).expect("figures");
        // Only a runtime that ended doesn't listen.
        let _ = send.send(said);
    });
    receive
}
