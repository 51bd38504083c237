//! Puts mutated statemap data through all that reads it: `check`, `check_ours`, `read`, the report, a
//! window, the page and the SVG.
//!
//! `mutate [--from NUMBER] [--count FILES] [--seconds SECONDS] [FILE…]`
//!
//! None may panic, take over 5 s of processor time or over 1 GB. What does is left in a file that is
//! named; as an argument it is tried again, and so it is by its number. With `--seconds` it goes on until then.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tests::mutate::{Random, Seeds};
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::check::{check, check_ours};
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Recording, cut, recordings};
use tokio_statemap::{html, svg};

/// What one file may take, of processor time.
const MOST_TIME: Duration = Duration::from_secs(5);
/// What one file may take, in bytes.
const MOST_MEMORY: usize = 1_000_000_000;

/// Counts what is allocated.
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

/// How far each file came.
#[derive(Debug, Default)]
struct Counts {
    files: u64,
    read: u64,
    checked: u64,
    ours: u64,
    pairs: u64,
}

fn main() -> ExitCode {
    let mut from = 0;
    let mut most: Option<u64> = None;
    let mut seconds: Option<u64> = None;
    let mut files: Vec<PathBuf> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().unwrap_or_default();
            value.parse().unwrap_or_else(|_| panic!("{argument} {value}: it must be a number"))
        };
        match argument.as_str() {
            "--from" => from = number(),
            "--count" => most = Some(number()),
            "--seconds" => seconds = Some(number()),
            file => files.push(file.into()),
        }
    }
    let watched = Watched::begin();
    let mut counts = Counts::default();
    for path in &files {
        let file = std::fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        watched.run(0, &file, || put_through(&file, None, &mut Random::new(0), &mut counts));
    }
    if files.is_empty() {
        let seeds = Seeds::new();
        let started = Instant::now();
        let is_over = |files: u64| match (most, seconds) {
            (Some(most), _) if files >= most => true,
            (_, Some(seconds)) => started.elapsed() >= Duration::from_secs(seconds),
            (most, None) => files >= most.unwrap_or(1_000),
        };
        for number in from.. {
            if is_over(counts.files) {
                break;
            }
            let (file, mut random) = seeds.file(number);
            // A number says what becomes of both.
            let other = random.is(2).then(|| seeds.whole(!number));
            watched.run(number, &file, || {
                put_through(&file, other.as_deref(), &mut random, &mut counts);
            });
            if counts.files % 1_000 == 0 {
                eprintln!("{} files after {:.0?}", counts.files, started.elapsed());
            }
        }
        println!("files {from} to {}", from + counts.files);
    }
    println!("{counts:?}; at most {watched}");
    ExitCode::SUCCESS
}

/// All that may become of a file, alone or beside another one.
fn put_through(file: &[u8], other: Option<&[u8]>, random: &mut Random, counts: &mut Counts) {
    counts.files += 1;
    counts.checked += u64::from(check(file).is_ok());
    counts.ours += u64::from(check_ours(file).is_ok());
    let statemap = match read(file) {
        Ok(statemap) => statemap,
        Err(error) => {
            let told = error.to_string();
            assert!(told.len() < 4_000 && !told.contains('\n'), "{told}");
            return;
        }
    };
    counts.read += 1;
    let mut files = vec![statemap];
    if let Some(other) = other.and_then(|other| read(other).ok()) {
        counts.pairs += 1;
        files.push(other);
    }
    if random.is(2) {
        let [begin, length] = [random.any(), random.any()];
        let (begin, length) = (begin >> random.below(64), length >> random.below(64));
        cut(&mut files, begin, (!random.is(3)).then_some(length));
    }
    draw(&files, random);
}

fn draw(files: &[Statemap], random: &mut Random) {
    for recording in recordings(files) {
        if let Recording::Run { timeline, .. } = recording {
            assert!(!timeline.report().to_string().contains("NaN"));
        }
    }
    for file in files {
        let report = file.report();
        let text = report.to_string();
        assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    }
    let picture = Picture::of_data(files);
    html::write(&picture, io::sink()).expect("nothing fails to take it");
    let mut options = svg::Options::default();
    // What is drawn large takes the most time by far.
    options.max_bytes = [0, 41, 1_000, 60_000, 60_000, 60_000, 60_000, 4_000_000][random.below(8)];
    let mut drawn = Vec::new();
    match svg::write_with(&picture, &options, &mut drawn) {
        Ok(()) => assert!(drawn.len() as u64 <= options.max_bytes, "{} bytes", drawn.len()),
        Err(error) => assert!(options.max_bytes < 41, "{error}"),
    }
}

/// What is tried, and what it took.
struct Watched {
    /// The process's time at which the file began, in ns, + 1; 0: there is none.
    began_ns: Arc<AtomicU64>,
    /// Where the file is while it is tried: it is still there if the process is ended by it.
    path: PathBuf,
    longest_ns: AtomicU64,
    largest: AtomicUsize,
}

impl Watched {
    fn begin() -> Self {
        let path = std::env::temp_dir().join(format!("mutated-{}.json", std::process::id()));
        let began_ns = Arc::new(AtomicU64::new(0));
        let (began, at) = (Arc::clone(&began_ns), path.clone());
        // What never ends is ended here.
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let began_ns = began.load(Ordering::Relaxed);
                let took_ns = time_ns().saturating_sub(began_ns.saturating_sub(1));
                let is_too_long = began_ns > 0 && took_ns > MOST_TIME.as_nanos() as u64;
                if is_too_long || PEAK.load(Ordering::Relaxed) > MOST_MEMORY {
                    eprintln!("FAILED: {}: it takes too long, or too much", at.display());
                    exit(1);
                }
            }
        });
        Self { began_ns, path, longest_ns: AtomicU64::new(0), largest: AtomicUsize::new(0) }
    }

    fn run<T>(&self, number: u64, file: &[u8], what: impl FnOnce() -> T) -> T {
        std::fs::write(&self.path, file).expect("a file can be written");
        PEAK.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
        let (began_ns, began) = (time_ns(), NOW.load(Ordering::Relaxed));
        self.began_ns.store(began_ns + 1, Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(what));
        self.began_ns.store(0, Ordering::Relaxed);
        let took_ns = time_ns() - began_ns;
        let memory = PEAK.load(Ordering::Relaxed).saturating_sub(began);
        self.longest_ns.fetch_max(took_ns, Ordering::Relaxed);
        self.largest.fetch_max(memory, Ordering::Relaxed);
        match done {
            Ok(done) if took_ns <= MOST_TIME.as_nanos() as u64 && memory <= MOST_MEMORY => {
                let _ = std::fs::remove_file(&self.path);
                done
            }
            done => {
                eprintln!(
                    "FAILED: file {number}, left in {}: {}; {took_ns} ns, {memory} bytes",
                    self.path.display(),
                    if done.is_err() { "it panicked" } else { "it took too much" }
                );
                exit(1);
            }
        }
    }
}

impl std::fmt::Display for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let longest = Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed));
        write!(f, "{longest:.1?} and {} bytes a file", self.largest.load(Ordering::Relaxed))
    }
}

/// The processor time of this process, in ns: what others take isn't the file's.
fn time_ns() -> u64 {
    static STARTED: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let started = STARTED.get_or_init(Instant::now);
    let kernel = std::fs::read_to_string("/proc/self/schedstat").ok();
    let time = kernel.and_then(|text| text.split(' ').next()?.parse().ok());
    time.unwrap_or_else(|| started.elapsed().as_nanos() as u64)
}
