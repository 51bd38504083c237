#[tokio_statemap::instrument]
async fn without_box(n: u8) -> u8 {
    if n == 0 { 0 } else { without_box(n - 1).await }
}

fn main() {}
