#[tokio_statemap::main(hooks = my_hooks)]
async fn main() {}

fn my_hooks() -> u8 {
    7
}
