#[tokio::main(flavor = "current_thread", start_paused = true, start_paused = true)]
async fn one() {}

#[tokio::main(flavor = "current_thread", unhandled_panic = "ignore", unhandled_panic = "ignore")]
async fn two() {}

#[tokio::main(name = "a", name = "b")]
async fn three() {}

#[tokio::main(crate = "tokio", crate = "tokio")]
async fn four() {}

fn main() {
    one();
    two();
    three();
    four();
}
