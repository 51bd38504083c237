#[tokio_statemap::main(long_poll = "1")]
async fn work(number: u8) -> String {
    let text: u8 = number;
    text
}

fn main() {
    println!("{}", work("not a number"));
}
