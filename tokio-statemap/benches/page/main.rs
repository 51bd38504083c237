//! The picture at scale: how long the page and the SVG take to be written and to be ready in a
//! browser, how large they are, what the browser needs for them, and how long a frame takes.
//!
//! `cargo bench -p tokio-statemap --bench page`
//!
//! It draws four programs of 8 to 100 000 tasks, the last with ten million changes of state, and
//! leaves their pages in `target/tmp/page`. The browser's figures need Node and Chromium; the tests
//! of the page (`cargo test -p tests --test page`) install what they need of that, and
//! this uses the same.

mod service;
mod table;

fn main() {
    table::print();
}
