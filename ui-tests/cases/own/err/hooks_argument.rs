#[tokio_statemap::main(hooks = my_hooks)]
async fn main() {}

fn my_hooks(_number: u8) -> tokio_statemap::Hooks {
    tokio_statemap::Hooks::new()
}
