//! The tiny program with fastant linked, for which a constructor calibrates the TSC.

#[tokio::main]
async fn main() {
    startup::print();
    std::hint::black_box(fastant::Instant::now());
}
