#[tokio::main(flavor)]
async fn one() {}

#[tokio::main(worker_threads)]
async fn two() {}

#[tokio::main(crate)]
async fn three() {}

fn main() {
    one();
    two();
    three();
}
