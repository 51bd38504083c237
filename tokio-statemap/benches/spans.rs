//! What the layer for spans of `tracing` costs: the time of a span's opening and close, and of an enter and exit, beside
//! that of a registry without it.
//!
//! ```text
//! cargo bench -p tokio-statemap --features tracing --bench spans
//! ```

use std::hint::black_box;
use std::time::Instant;

use tokio_statemap::{CollectorConfig, layer, register_hooks};
use tracing::{Dispatch, dispatcher, info_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

/// Short rounds, of which the fastest counts: other programs take no time from some of them.
const ROUNDS: usize = 400;
const SPANS: u32 = 500;
/// How often each span is entered.
const ENTERS: u32 = 8;

fn main() {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).expect("it is valid");
    collector.start();
    let runtime = builder.build().expect("a runtime");
    runtime.block_on(async {
        tokio::spawn(async { compare() }).await.expect("it doesn't panic");
    });
    collector.stop();
    let requests = collector.snapshot().requests().clone();
    println!("{} spans counted, {} cut, {} lost", requests.count(), requests.cut, requests.lost);
}

fn compare() {
    let plain = Dispatch::new(registry());
    let ours = Dispatch::new(registry().with(layer()));
    let fields = Dispatch::new(registry().with(layer().fields("route")));
    let names = ["registry", "with the layer", "with a field"];
    let mut fastest = [(f64::MAX, f64::MAX); 3];
    for _ in 0..ROUNDS {
        for (dispatch, fastest) in [&plain, &ours, &fields].into_iter().zip(&mut fastest) {
            let (span, enter) = dispatcher::with_default(dispatch, round);
            *fastest = (fastest.0.min(span), fastest.1.min(enter));
        }
    }
    for (name, (span, enter)) in names.iter().zip(fastest) {
        println!("{name:<16} open and close {span:6.1} ns, enter and exit {enter:6.1} ns");
    }
}

/// Returns what a span's opening and close took, and what an enter and exit took, in ns.
fn round() -> (f64, f64) {
    let (mut entering, begin) = (0.0, Instant::now());
    for nth in 0..SPANS {
        let span = info_span!("request", route = "/orders", nth);
        let entered = Instant::now();
        for _ in 0..ENTERS {
            black_box(&span).in_scope(|| black_box(nth));
        }
        entering += entered.elapsed().as_secs_f64();
    }
    let all = begin.elapsed().as_secs_f64();
    let each = |seconds: f64, n: u32| seconds * 1e9 / f64::from(n);
    (each(all - entering, SPANS), each(entering, SPANS * ENTERS))
}
