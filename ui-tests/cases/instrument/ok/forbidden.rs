//! No lint has to be allowed for the expansion.

#![forbid(warnings, unsafe_code, unused, nonstandard_style, missing_docs, unreachable_pub, unused_qualifications)]
#![forbid(unused_results, single_use_lifetimes, elided_lifetimes_in_paths, trivial_casts, unreachable_code, dead_code)]

#[tokio_statemap::instrument(fields = "{a} {list:?}")]
async fn function(mut a: u8, (b, _): (u8, u8), list: &[u8]) -> Result<u8, Box<dyn std::error::Error>> {
    a += 1;
    Ok(a + b + u8::try_from(list.len())?)
}

#[tokio_statemap::instrument]
async fn never() -> ! {
    std::process::exit(0)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:?}", function(1, (2, 3), &[]).await.ok());
    never().await
}
