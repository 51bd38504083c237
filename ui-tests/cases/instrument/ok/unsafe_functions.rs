//! Unsafe functions: what is allowed in them, and what is to be in a block.

#![deny(unsafe_op_in_unsafe_fn)]

#[tokio_statemap::instrument]
async unsafe fn read(at: *const u8) -> u8 {
    unsafe { *at }
}

#[allow(unsafe_op_in_unsafe_fn)]
#[tokio_statemap::instrument(fields = "{n}")]
async unsafe fn without_block(at: &[u8], n: usize) -> u8 {
    *at.get_unchecked(n)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{} {}", unsafe { read(&5) }.await, unsafe { without_block(&[1, 2], 1) }.await);
}
