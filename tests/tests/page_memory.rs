//! The page is written as a stream: in addition to the timeline it takes a few MB and some bytes
//! per task, however many polls there are.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tests::planted;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{Timeline, html, svg};

/// Counts allocated bytes, and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: `System` does all of it; what is counted changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: as our caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as our caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The maximum that `write` takes in addition to what is allocated.
fn peak(timeline: &Timeline, write: fn(&Picture<'_>, &mut io::Sink) -> io::Result<()>) -> usize {
    let labels = Labels { title: "program".to_owned(), host: None };
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    write(&Picture::of_timeline(timeline, &labels), &mut io::sink()).unwrap();
    PEAK.load(Ordering::Relaxed) - before
}

#[test]
fn the_writers_stream() {
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
