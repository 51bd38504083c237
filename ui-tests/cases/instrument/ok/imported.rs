//! By its own name, and in a module without a prelude.

mod bare {
    #![no_implicit_prelude]

    #[::tokio_statemap::instrument(fields = "{a} {b}")]
    pub async fn function(a: &str, b: u8, (_, c): (u8, u8)) -> u8 {
        ::tokio::task::yield_now().await;
        let _ = a;
        b + c
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{}", bare::function("a", 1, (2, 3)).await);
}
