//! The command `tokio-statemap`: what it draws is what is in the data, whoever's they are; and what
//! is wrong with a file it says in one line, and leaves nothing half done.

mod command {
    mod bad_input;
    mod binary;
    #[cfg(tokio_unstable)]
    mod extremes;
    mod others;
    #[cfg(unix)]
    mod output;
    mod page;
    mod random;
    mod round_trip;
    #[cfg(tokio_unstable)]
    mod story;
    mod usage;
    mod window;
}
