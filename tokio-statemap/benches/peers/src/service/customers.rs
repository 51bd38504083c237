//! The customers of the web shops, which do as little work as possible: HTTP/1.1 over persistent
//! connections, each with one request in flight.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::place;

/// The number of customers that keep one shop busy.
const CUSTOMERS: u64 = 32;

/// The number of requests per customer and visit: enough for a visit to be long compared to its
/// start and end, and few enough for the machine to be in the same state in the next one.
const REQUESTS_A_VISIT: u64 = 100;

/// The number of requests per customer for which latencies are computed: enough for a p99 of all
/// customers, and few enough for most parts to be free of interruptions, which would dominate the
/// p99.
const REQUESTS_A_PART: usize = 25;

/// The headers that a browser sends.
const HEADERS: &str = "\
    Host: shop.example\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\
    Accept: application/json\r\n\
    Accept-Language: en-GB,en;q=0.5\r\n\
    Accept-Encoding: gzip, deflate\r\n\
    Connection: keep-alive\r\n\
    Referer: http://shop.example/orders\r\n\
    Cookie: session=0f3c2a7e9b5d4186\r\n";

/// Sends `requests` requests to each of the shops at `addresses`, on this thread, in turns. Returns
/// the measurements of each visit.
pub(crate) fn go(requests: u64, addresses: &[&str]) -> Value {
    place::pin_customers();
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
            // No shop is always the first.
            order.reverse();
        }
        parties.into_iter().map(Party::says).collect()
    })
}

/// The customers of one shop.
struct Party {
    customers: Vec<Customer>,
    requests: usize,
    /// The throughput of each visit.
    requests_per_s: Vec<f64>,
    /// The median latency of each part of each visit.
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

    /// Has each customer send `requests` requests.
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
    /// The length of the answers, once it is known.
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

    /// Sends a request and returns the latency of the answer.
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
