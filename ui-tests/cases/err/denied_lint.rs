#![deny(unused_variables)]

#[tokio::main]
async fn main() {
    let unused = 1;
}
