#[tokio::main]
async fn main() {
    let unused = 1;
    let mut never_changed = 2;
    println!("{never_changed}");
    return;
    println!("unreachable");
}
