//! console-subscriber, which is in a build of its own only.

#[cfg(feature = "console")]
pub(super) fn listen() {
    // Port 0: several may run at a time. Nobody connects.
    console_subscriber::ConsoleLayer::builder().server_addr(([127, 0, 0, 1], 0)).init();
}

#[cfg(not(feature = "console"))]
pub(super) fn listen() {
    panic!("this is the build without the feature `console`");
}
