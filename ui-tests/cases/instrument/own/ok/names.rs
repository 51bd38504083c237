//! Functions are known by their paths, files, lines and columns, or by the names that they were given.

use std::future::Future;
use std::pin::Pin;

#[tokio_statemap::instrument]
async fn free() {}

#[tokio_statemap::instrument(name = "a given name", fields = "{number} {text:?} {number:>5} {{}}")]
pub(crate) async unsafe fn given<T: Send>(number: u64, text: &str, other: T) {
    let _ = (number, text, other);
}

mod inner {
    pub struct Orders<T>(pub T);

    impl<T> Orders<T> {
        #[tokio_statemap::instrument]
        pub async fn load(&self) -> &T {
            tokio::task::yield_now().await;
            &self.0
        }
    }
}

#[allow(async_fn_in_trait)]
trait Service {
    async fn call(&self);

    #[tokio_statemap::instrument]
    async fn provided(&self) {
        self.call().await;
    }
}

impl Service for u8 {
    #[tokio_statemap::instrument]
    async fn call(&self) {}
}

#[async_trait::async_trait]
trait Boxed {
    async fn boxed(&self, n: u8);
}

#[async_trait::async_trait]
impl Boxed for u8 {
    #[tokio_statemap::instrument(fields = "{n}")]
    async fn boxed(&self, n: u8) {
        let _ = n;
    }
}

#[tokio_statemap::instrument]
fn future() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async {})
}

#[tokio_statemap::instrument]
async fn outer() {
    #[tokio_statemap::instrument]
    async fn nested() {}
    nested().await;
}

#[tokio_statemap::main(report = "report.txt", flavor = "current_thread")]
async fn main() {
    free().await;
    unsafe { given(1, "text", ()) }.await;
    inner::Orders(1).load().await;
    5.provided().await;
    5.boxed(6).await;
    future().await;
    outer().await;

    let mut found: Vec<(String, u32, u32, u64)> = tokio_statemap::current()
        .expect("it records")
        .profile()
        .functions
        .into_iter()
        .inspect(|function| assert!(function.file.ends_with("names.rs"), "{function:?}"))
        .map(|function| (function.name, function.line, function.column, function.calls))
        .collect();
    found.sort_by_key(|function| function.1);
    let path = concat!(module_path!(), "::");
    let found: Vec<(String, u32, u32, u64)> = found
        .into_iter()
        .map(|(name, line, column, calls)| (name.replace(path, ""), line, column, calls))
        .collect();
    let expected = [
        ("free", 7, 10),
        ("a given name", 10, 28),
        ("inner::Orders<_>::load", 19, 22),
        ("Service::provided", 31, 14),
        ("<u8 as Service>::call", 38, 14),
        ("<u8 as Boxed>::boxed", 49, 14),
        ("future", 55, 4),
        ("outer", 60, 10),
        ("outer::{{closure}}::{{closure}}::nested", 62, 14),
    ];
    let expected = expected.map(|(name, line, column)| (name.to_owned(), line, column, 1));
    assert_eq!(found, expected);
}
