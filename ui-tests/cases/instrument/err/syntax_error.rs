#[tokio_statemap::instrument]
async fn half_written(a: u8) {
    let b = ;
}

fn main() {}
