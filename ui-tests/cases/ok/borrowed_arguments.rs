//@ edition: 2021
#[tokio::main(flavor = "current_thread")]
async fn longest<'a>(one: &'a str, other: &'a str) -> &'a str {
    tokio::task::yield_now().await;
    if one.len() > other.len() { one } else { other }
}

fn main() {
    println!("{}", longest("abc", "de"));
}
