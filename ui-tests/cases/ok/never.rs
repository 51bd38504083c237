#[tokio::main]
async fn main() -> ! {
    println!("before");
    std::process::exit(9)
}
