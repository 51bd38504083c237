mod service {
    /// Runs it.
    #[tokio::main(flavor = "current_thread")]
    #[must_use]
    pub async fn serve<T, const N: usize>(values: [T; N]) -> usize
    where
        T: std::fmt::Display + Send,
    {
        for value in &values {
            println!("{value}");
        }
        N
    }
}

fn main() {
    service::serve(["a", "b"]);
    println!("{}", service::serve([1, 2, 3]));
}
