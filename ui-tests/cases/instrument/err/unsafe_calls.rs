#![deny(unsafe_op_in_unsafe_fn)]

unsafe fn dangerous() {}

#[tokio_statemap::instrument]
async fn safe() {
    dangerous();
}

#[tokio_statemap::instrument]
async unsafe fn needs_a_block() {
    dangerous();
}

fn main() {}
