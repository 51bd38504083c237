//! The page is written as a stream: in addition to the timeline it takes a few MB and some bytes per task, whatever the
//! number of polls.

use std::io;

use tests::allocations::{peak_bytes, reset_peak};
use tests::alone::alone;
use tests::planted;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{Timeline, html, svg};

/// Returns the most memory that `write` takes in addition to what is already allocated, in bytes.
fn peak(timeline: &Timeline, write: fn(&Picture<'_>, &mut io::Sink) -> io::Result<()>) -> usize {
    let labels = Labels { title: "program".to_owned(), host: None };
    let before = reset_peak();
    write(&Picture::of_timeline(timeline, &labels), &mut io::sink()).unwrap();
    peak_bytes() - before
}

#[test]
#[ignore = "slow: 60 000 tasks"]
fn the_writers_stream() {
    alone(writers);
}

fn writers() {
    const MB: usize = 1 << 20;
    for tasks in [1_000, 60_000] {
        let timeline = planted::random(tasks, 5);
        let polls: usize = timeline.tasks.iter().map(|task| task.polls.len()).sum();
        assert!(polls as u64 > tasks * 4);
        let page = peak(&timeline, |picture, w| html::write(picture, w));
        assert!(page < 8 * MB + 100 * tasks as usize, "{page} bytes for {tasks} tasks");
        let image = peak(&timeline, |picture, w| svg::write(picture, w));
        assert!(image < 24 * MB + 200 * tasks as usize, "{image} bytes for {tasks} tasks");
        println!("{tasks} tasks, {polls} polls: page {page} bytes, SVG {image} bytes");
    }
}
