#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unused_qualifications, unused_results, unreachable_pub)]
#![deny(let_underscore_drop, single_use_lifetimes, trivial_casts, unused_lifetimes)]
#![deny(clippy::all, clippy::pedantic, clippy::absolute_paths, clippy::unwrap_used)]
//! A program that takes lints seriously.

#[tokio::main]
async fn main() -> Result<(), String> {
    tokio::task::yield_now().await;
    Ok(())
}
