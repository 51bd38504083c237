use std::future::Future;

fn spawn<F: Future + Send + 'static>(_: F) {}

#[tokio_statemap::instrument]
async fn returns_a_local() -> &'static str {
    let text = String::new();
    &text
}

#[tokio_statemap::instrument]
async fn returns_an_argument(mut text: String) -> &'static str {
    text.push('a');
    text.as_str()
}

#[tokio_statemap::instrument]
async fn moved_twice(text: String) {
    drop(text);
    drop(text);
}

#[tokio_statemap::instrument]
async fn moved_partly(pair: (String, String)) {
    drop(pair.0);
    drop(pair);
}

#[tokio_statemap::instrument]
async fn moved_while_borrowed(text: String) {
    let borrowed = &text;
    drop(text);
    println!("{borrowed}");
}

#[tokio_statemap::instrument]
async fn not_mutable(list: Vec<u8>) {
    list.push(1);
}

#[tokio_statemap::instrument]
async fn too_short(a: &str, b: &str) {
    let long: &'static str = a;
    let _ = (long, b);
}

#[tokio_statemap::instrument]
async fn wrong_lifetime<'a>(a: &'a str, b: &str) -> &'a str {
    let _ = a;
    b
}

#[tokio_statemap::instrument]
async fn escapes(a: &str, list: &mut Vec<&'static str>) {
    list.push(a);
}

#[tokio_statemap::instrument]
async fn spawns(a: &str) {
    spawn(async move { drop(a) });
}

#[tokio_statemap::instrument]
async fn spawns_a_borrow(a: String) {
    spawn(async { drop(&a) });
}

struct Thing(String);

impl Thing {
    #[tokio_statemap::instrument]
    async fn moved_out(&self) -> String {
        self.0
    }

    #[tokio_statemap::instrument]
    async fn not_mutable(&self) {
        self.0.push('a');
    }

    #[tokio_statemap::instrument]
    async fn taken_twice(self) -> String {
        drop(self);
        self.0
    }

    #[tokio_statemap::instrument]
    async fn wrong_lifetime<'a>(&self, other: &'a str) -> &'a str {
        let _ = other;
        &self.0
    }
}

fn main() {}
