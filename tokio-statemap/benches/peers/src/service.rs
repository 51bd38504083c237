//! Measures the cost for a real service: a web shop, and customers who keep it busy.
//!
//! The bounds are a percent or two, which is less than the variation of the machine's speed from
//! one second to the next. So an observed shop and a plain one are open at the same time, and the
//! same customers visit them in turns of some milliseconds. The waiting shop takes no CPU except
//! for its tracer's threads, which is part of its CPU per request.

mod customers;
mod place;
mod shop;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::accounts::Account;
use crate::plan::Plan;
use crate::programs::{self, Programs};
use crate::samples::Spread;
use crate::variants::Variant;
pub(crate) use customers::go;
pub(crate) use shop::open;

pub(crate) const TITLE: &str = "HTTP service: axum with one worker, 32 keep-alive connections";

/// The number of requests of a turn to each of two shops.
const REQUESTS: u64 = 96_000;

/// The variants that are measured with it. It takes long, and the others would add nothing.
pub(crate) const VARIANTS: [Variant; 9] = [
    Variant::None,
    Variant::Empty,
    Variant::LeanLast,
    Variant::DefaultLast,
    Variant::Dial9,
    Variant::Dial9Spawn,
    Variant::TaskMonitor,
    Variant::TokioDtrace,
    Variant::Console,
];

/// The variants with [`MORE`] times as many pairs, as they have a bound of a percent or two, or
/// show the error of those. One pair determines the throughput to about 1 %, and the p99 to 2 %.
const BOUND: [Variant; 3] = [Variant::None, Variant::LeanLast, Variant::DefaultLast];
/// An even number, so that each of two variants is equally often the first one.
pub(crate) const MORE: usize = 4;

/// The measurements of a shop.
pub(crate) struct Figures {
    /// The throughput of each visit.
    pub(crate) requests_per_s: Vec<f64>,
    /// The median latency of each part of each visit.
    pub(crate) p50_ns: Vec<f64>,
    /// The p99 latency of each part of each visit.
    pub(crate) p99_ns: Vec<f64>,
    /// The CPU time per request.
    pub(crate) cpu_ns: f64,
    pub(crate) peak_bytes: f64,
}

/// An observed and a plain shop that were open at the same time, visited in turns.
pub(crate) struct Pair {
    pub(crate) this: Figures,
    pub(crate) none: Figures,
}

/// Selects one of a shop's measurements.
pub(crate) type Of = fn(&Figures) -> &[f64];

impl Pair {
    /// Returns by how many percent these measurements exceed those without hooks: the median of the
    /// pairs.
    pub(crate) fn percent_over(&self, of: Of) -> f64 {
        let both = of(&self.this).iter().zip(of(&self.none));
        median(both.map(|(this, none)| 100.0 * (this / none - 1.0)))
    }
}

/// Returns the median, as a visit interrupted by the machine says nothing about a shop.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    Spread::from_figures(figures).expect("there are figures").median
}

/// The pairs of each variant. With [`Variant::None`] both shops are alike, which shows the error of
/// the others.
#[derive(Default)]
pub(crate) struct Service {
    pub(crate) pairs: BTreeMap<Variant, Vec<Pair>>,
    pub(crate) accounts: BTreeMap<Variant, Account>,
}

impl Service {
    /// Returns the spread of a value over the pairs of a variant, if it was measured.
    pub(crate) fn spread(&self, variant: Variant, of: impl Fn(&Pair) -> f64) -> Option<Spread> {
        Spread::from_figures(self.pairs.get(&variant)?.iter().map(of))
    }
}

/// Measures all variants in turns; nothing if the plan has no pairs.
pub(crate) fn measure(plan: &Plan, programs: &Programs) -> Service {
    let mut service = Service::default();
    if plan.pairs == 0 {
        return service;
    }
    let mut variants = programs.built(&VARIANTS);
    let turns = MORE * plan.pairs;
    for turn in 0..turns {
        eprint!("\rhttp: turn {} of {turns}  ", turn + 1);
        let is_for_all = turn % MORE == 0;
        // No variant always follows the same other one, or is always the first of two.
        if is_for_all {
            variants.rotate_left(1);
        }
        let is_reversed = (turn + turn / MORE) % 2 == 1;
        let mut order = variants.clone();
        if is_reversed {
            order.reverse();
        }
        for variant in order.into_iter().filter(|of| is_for_all || BOUND.contains(of)) {
            let requests = requests(variant) / plan.part;
            let pair = pair(programs, variant, requests, is_reversed);
            service.pairs.entry(variant).or_default().push(pair);
        }
    }
    eprintln!();
    for variant in variants.into_iter().filter(|variant| variant.keeps_account()) {
        let mut shop = Shop::open(programs, variant, &["account"]);
        visit(requests(variant) / plan.part, &[&shop.address]);
        service.accounts.insert(variant, Account::read(&shop.close()["account"], None));
    }
    service
}

fn requests(variant: Variant) -> u64 {
    REQUESTS / variant.slowness()
}

/// Runs two shops and returns the measurements of the customers and the shops.
fn pair(programs: &Programs, variant: Variant, requests: u64, is_reversed: bool) -> Pair {
    let mut shops = [variant, Variant::None];
    if is_reversed {
        shops.reverse();
    }
    let mut shops = shops.map(|variant| Shop::open(programs, variant, &[]));
    let addresses = shops.each_ref().map(|shop| shop.address.clone());
    let addresses = addresses.each_ref().map(String::as_str);
    visit(requests / 4, &addresses);
    shops.iter_mut().for_each(Shop::begin);
    let said = visit(requests, &addresses);
    let mut figures = [0, 1].map(|which| {
        let (said, shop) = (&said[which], shops[which].close());
        let of = |said: &Value, key: &str| said[key].as_f64().expect("a figure");
        let all = |key: &str| {
            let figures = said[key].as_array().expect("figures").iter();
            figures.filter_map(Value::as_f64).collect()
        };
        Figures {
            requests_per_s: all("requests_per_s"),
            p50_ns: all("p50_ns"),
            p99_ns: all("p99_ns"),
            cpu_ns: of(&shop, "cpu_ns") / of(said, "requests"),
            peak_bytes: of(&shop, "peak_bytes"),
        }
    });
    if is_reversed {
        figures.reverse();
    }
    let [this, none] = figures;
    Pair { this, none }
}

/// Runs the customers until they are done.
fn visit(requests: u64, addresses: &[&str]) -> Value {
    let mut command = programs::this();
    programs::json_of(command.args(["run", "customers", &requests.to_string()]).args(addresses))
}

/// A shop in its own process.
struct Shop {
    process: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    address: String,
}

impl Shop {
    fn open(programs: &Programs, variant: Variant, more: &[&str]) -> Self {
        let mut command = Command::new(programs.path(variant).expect("it was built"));
        command.args(["run", "shop", variant.id()]).args(more);
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stdin = process.stdin.take();
        let stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut shop = Self { process, stdin, stdout, address: String::new() };
        shop.address = shop.line();
        shop
    }

    /// Starts the shop's measurement.
    fn begin(&mut self) {
        let stdin = self.stdin.as_mut().expect("it is open");
        writeln!(stdin, "begin").expect("it listens");
        self.line();
    }

    fn close(&mut self) -> Value {
        self.stdin = None;
        let said = self.line();
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "the shop: {status}");
        serde_json::from_str(&said).expect("figures")
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it speaks");
        line.truncate(line.trim_end().len());
        line
    }
}
