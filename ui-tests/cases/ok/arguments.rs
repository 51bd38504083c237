#[tokio::main]
async fn work(text: &str, mut body: String, __run: u8, __builder: u8, __settings: u8) -> usize {
    body.push_str(text);
    body.len() + usize::from(__run + __builder + __settings)
}

fn main() {
    println!("{}", work("abc", "de".to_owned(), 10, 20, 30));
}
