#[tokio_statemap::main(configure = my_settings)]
async fn main() {}

fn my_settings(_number: u8) {}
