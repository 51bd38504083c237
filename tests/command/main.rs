//! The command `tokio-statemap`: it draws the data of any program, and reports a problem with a file in one
//! line, without leaving anything half written.

#[cfg(target_os = "linux")]
mod awaits;
mod bad_input;
mod binary;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod boxes;
#[cfg(tokio_unstable)]
mod diff;
#[cfg(tokio_unstable)]
mod export;
#[cfg(tokio_unstable)]
mod extremes;
#[cfg(tokio_unstable)]
mod fleet;
mod from_page;
mod gzip;
mod limits;
mod misuse;
mod others;
#[cfg(unix)]
mod output;
mod page;
#[cfg(tokio_unstable)]
mod parquet;
#[cfg(tokio_unstable)]
mod perfetto;
mod random;
mod round_trip;
mod source;
#[cfg(tokio_unstable)]
mod story;
#[cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod symbolize;
#[cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod symbolize_waits;
#[cfg(unix)]
mod terminal;
mod usage;
mod window;
