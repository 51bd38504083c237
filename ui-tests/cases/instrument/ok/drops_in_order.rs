//! Arguments are dropped when and in the order in which a plain function drops them.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

impl std::fmt::Display for Loud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

struct Loud(&'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        print!(" {}", self.0);
    }
}

struct Both {
    one: Loud,
    other: Loud,
}

fn both(one: &'static str, other: &'static str) -> Both {
    Both { one: Loud(one), other: Loud(other) }
}

struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

#[tokio_statemap::instrument]
async fn all_used(a: Loud, b: Loud, c: Loud) {
    let _local = Loud("local");
    let _ = (&b, &c, &a);
}

#[tokio_statemap::instrument]
async fn none_used(_: Loud, _b: Loud, _: Loud) {}

#[tokio_statemap::instrument]
async fn some_used(a: Loud, _b: Loud, mut c: Loud, d: Loud) {
    c.0 = "changed";
    drop(d);
    let _ = &a;
}

#[tokio_statemap::instrument]
async fn moved(a: Loud, b: Loud, c: Loud) -> Loud {
    drop(b);
    let _c = c;
    a
}

#[tokio_statemap::instrument]
async fn patterns((a, b): (Loud, Loud), Both { one, .. }: Both, [_, d]: [Loud; 2], e: Loud) {
    let _ = (&a, &b, &one, &d, &e);
}

#[tokio_statemap::instrument]
async fn patterns_last(e: Loud, f: Loud, (_, b): (Loud, Loud), ref c: Loud, d @ Loud(_): Loud) {
    let _ = (&b, &c, &d, &e);
    let _ = format!("{f}");
}

#[tokio_statemap::instrument]
async fn partly_moved(a: Both, b: Both) -> Loud {
    let _other = b.other;
    a.one
}

#[tokio_statemap::instrument]
async fn partly_used(a: Both, b: Both) {
    let _ = (&b.one, &a.other);
}

#[tokio_statemap::instrument]
async fn waits(a: Loud, b: Both, mut c: Loud, _: Loud) {
    let _local = Loud("local");
    c.0 = "changed";
    Never.await;
    let _ = (a, b.one);
}

#[tokio_statemap::instrument]
async fn panics(a: Loud, b: Loud, _: Loud) {
    let _local = Loud("local");
    drop((a, b));
    panic!("on purpose")
}

impl Both {
    #[tokio_statemap::instrument]
    async fn taken(self, a: Loud, _: Loud) -> Loud {
        let _ = a;
        self.other
    }

    #[tokio_statemap::instrument]
    async fn unused(self, a: Loud, _: Loud) {
        let _a = a;
    }

    #[tokio_statemap::instrument]
    async fn mutable(mut self, a: Loud) {
        self.one = Loud("new");
        let _ = (&a, &self.one);
    }

    #[tokio_statemap::instrument]
    async fn a_field(self, a: Loud) {
        let _ = &self.other;
        let _ = &a;
    }
}

fn run<F: Future>(name: &str, future: F) {
    print!("\n{name}:");
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(_) => print!(" (returned)"),
        Poll::Pending => print!(" (waits)"),
    }
}

fn unpolled<F: Future>(name: &str, future: F) {
    print!("\n{name}, unpolled:");
    drop(future);
}

macro_rules! run {
    ($($call:expr;)*) => {$(
        run(stringify!($call), $call);
        unpolled(stringify!($call), $call);
    )*};
}

fn main() {
    let l = Loud;
    run! {
        all_used(l("a"), l("b"), l("c"));
        none_used(l("a"), l("b"), l("c"));
        some_used(l("a"), l("b"), l("c"), l("d"));
        moved(l("a"), l("b"), l("c"));
        patterns((l("a"), l("b")), both("one", "other"), [l("c"), l("d")], l("e"));
        patterns_last(l("e"), l("f"), (l("a"), l("b")), l("c"), l("d"));
        partly_moved(both("a.one", "a.other"), both("b.one", "b.other"));
        partly_used(both("a.one", "a.other"), both("b.one", "b.other"));
        waits(l("a"), both("b.one", "b.other"), l("c"), l("d"));
        both("one", "other").taken(l("a"), l("b"));
        both("one", "other").unused(l("a"), l("b"));
        both("one", "other").mutable(l("a"));
        both("one", "other").a_field(l("a"));
    }
    let panicked = std::panic::catch_unwind(|| run("panics", panics(l("a"), l("b"), l("c"))));
    println!(" {}", panicked.is_err());
}
