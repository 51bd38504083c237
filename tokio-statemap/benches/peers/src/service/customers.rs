//! The web shops' customers, who do as little as they can: HTTP/1.1 over connections kept open, each
//! with one request under way.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::place;

/// How many keep one shop busy.
const CUSTOMERS: u64 = 32;

/// What a customer asks for in one visit: so much that a visit is long beside its beginning and end,
/// and so little that the machine is the same in the next.
const REQUESTS_A_VISIT: u64 = 100;

/// Latencies are told of so many of those at a time: enough for a p99 of all customers, and so few that
/// in most of them the machine interrupts nobody, of which a p99 would tell above all.
const REQUESTS_A_PART: usize = 25;

/// What a browser's request brings along.
const HEADERS: &str = "\
    Host: shop.example\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
    Accept: application/json\r\n\
    Accept-Language: en-GB,en;q=0.5\r\n\
    Accept-Encoding: gzip, deflate\r\n\
    Connection: keep-alive\r\n\
    Referer: http://shop.example/orders\r\n\
    Cookie: session=0f3c2a7e9b5d4186\r\n";

/// Asks each of the shops at `addresses` for `requests` answers, on this thread, by turns; what it says
/// of each visit to each.
pub(crate) fn go(requests: u64, addresses: &[&str]) -> Value {
    place::of_customers();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    let each = requests / CUSTOMERS;
    runtime.block_on(async {
        let mut parties = Vec::new();
        for address in addresses {
            parties.push(Party::new(address).await);
        }
        let mut order: Vec<usize> = (0..parties.len()).collect();
        let mut asked = 0;
        while asked < each {
            let requests = REQUESTS_A_VISIT.min(each - asked);
            for &which in &order {
                parties[which].visit(requests).await;
            }
            asked += requests;
            // Nobody is always the first.
            order.reverse();
        }
        parties.into_iter().map(Party::says).collect()
    })
}

/// The customers of one shop.
struct Party {
    customers: Vec<Customer>,
    requests: usize,
    /// Of each visit.
    requests_per_s: Vec<f64>,
    /// Of each part of each visit.
    p50_ns: Vec<u64>,
    p99_ns: Vec<u64>,
}

impl Party {
    async fn new(address: &str) -> Self {
        let mut customers = Vec::new();
        for number in 0..CUSTOMERS {
            customers.push(Customer::new(address, number).await);
        }
        let (requests_per_s, p50_ns, p99_ns) = (Vec::new(), Vec::new(), Vec::new());
        Self { customers, requests: 0, requests_per_s, p50_ns, p99_ns }
    }

    fn says(self) -> Value {
        let Self { requests, requests_per_s, p50_ns, p99_ns, .. } = self;
        json!({
            "requests": requests,
            "requests_per_s": requests_per_s,
            "p50_ns": p50_ns,
            "p99_ns": p99_ns,
        })
    }

    /// Each of them asks so often.
    async fn visit(&mut self, requests: u64) {
        let began = Instant::now();
        let mut visits = JoinSet::new();
        for mut customer in self.customers.drain(..) {
            visits.spawn(async move {
                let mut latencies_ns = Vec::with_capacity(requests as usize);
                for _ in 0..requests {
                    latencies_ns.push(customer.ask().await.as_nanos() as u64);
                }
                (customer, latencies_ns)
            });
        }
        let visits = visits.join_all().await;
        let took = began.elapsed();
        let (customers, latencies_ns): (Vec<_>, Vec<_>) = visits.into_iter().unzip();
        self.customers = customers;
        let asked = self.customers.len() * requests as usize;
        self.requests += asked;
        self.requests_per_s.push(asked as f64 / took.as_secs_f64());
        for from in (0..requests as usize).step_by(REQUESTS_A_PART) {
            let part =
                latencies_ns.iter().flat_map(|of| of.iter().skip(from).take(REQUESTS_A_PART));
            let mut part: Vec<u64> = part.copied().collect();
            part.sort_unstable();
            let at = |percent: usize| part[(part.len() - 1) * percent / 100];
            self.p50_ns.push(at(50));
            self.p99_ns.push(at(99));
        }
    }
}

struct Customer {
    stream: TcpStream,
    request: String,
    buffer: Vec<u8>,
    /// How long the answers are, once that is known.
    length: Option<usize>,
}

impl Customer {
    async fn new(address: &str, number: u64) -> Self {
        let stream = TcpStream::connect(address).await.expect("the shop is open");
        stream.set_nodelay(true).expect("a socket");
        Self {
            stream,
            request: format!("GET /orders/{number} HTTP/1.1\r\n{HEADERS}\r\n"),
            buffer: vec![0; 4096],
            length: None,
        }
    }

    /// How long the answer took.
    async fn ask(&mut self) -> Duration {
        let asked = Instant::now();
        self.stream.write_all(self.request.as_bytes()).await.expect("the shop is open");
        match self.length {
            Some(length) => {
                let answer = &mut self.buffer[..length];
                self.stream.read_exact(answer).await.expect("an answer");
            }
            None => {
                let read = self.stream.read(&mut self.buffer).await.expect("an answer");
                self.length = Some(read);
            }
        }
        let took = asked.elapsed();
        assert!(self.buffer.starts_with(b"HTTP/1.1 200 OK"), "the shop refuses");
        took
    }
}
