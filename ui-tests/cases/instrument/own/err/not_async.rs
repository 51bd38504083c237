#[tokio_statemap::instrument]
fn work() -> u8 {
    1
}
fn main() {
    work();
}
