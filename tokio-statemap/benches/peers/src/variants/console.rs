//! The observer console-subscriber, which has its own build.

#[cfg(feature = "console")]
pub(super) fn listen() {
    // Port 0 allows several at a time. Nothing connects to it.
    console_subscriber::ConsoleLayer::builder().server_addr(([127, 0, 0, 1], 0)).init();
}

#[cfg(not(feature = "console"))]
pub(super) fn listen() {
    panic!("this is the build without the feature `console`");
}
