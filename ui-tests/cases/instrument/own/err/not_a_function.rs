#[tokio_statemap::instrument]
struct Thing;
fn main() {
    let _ = Thing;
}
