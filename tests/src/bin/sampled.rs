//! Programs whose long polls are sampled: `sampled WHAT ARGUMENTS`.

#[cfg(all(tokio_unstable, target_os = "linux"))]
fn main() {
    use tests::programs::sampled::{filtered, forks, handler, idle, listener, overflow, waits};

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["waits", seconds] => waits::wait(seconds.parse().unwrap()),
        ["alternates", seconds] => waits::alternate(seconds.parse().unwrap()),
        ["filtered", when, call] => filtered::run(when, call.parse().unwrap()),
        ["handler", when] => handler::run(when),
        ["forks", n] => forks::run(n.parse().unwrap()),
        ["idle", seconds] => idle::run(seconds.parse().unwrap()),
        ["overflow", "observed"] => overflow::observed(),
        ["overflow", "plain"] => overflow::plain(),
        ["listener"] => listener::panics(),
        _ => panic!("no such program: {arguments:?}"),
    }
    println!("the last line");
}

#[cfg(not(all(tokio_unstable, target_os = "linux")))]
fn main() {}
