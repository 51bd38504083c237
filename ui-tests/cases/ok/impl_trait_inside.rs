#[tokio::main(flavor = "current_thread")]
async fn numbers() -> Result<impl Iterator<Item = u8>, ()> {
    Ok(1..4)
}

fn main() {
    println!("{:?}", numbers().unwrap().collect::<Vec<_>>());
}
