//! Passes mutated statemap data to everything that reads it: `check`, `check_ours`, `read`, the report, a window, the
//! page and the SVG.
//!
//! `mutate [--from NUMBER] [--count FILES] [--seconds SECONDS] [FILE…]`
//!
//! No file may cause a panic, take over 5 s of CPU time, or over 1 GB of memory. A file that fails is kept and its path is
//! printed; it can be tried again by path or by number. `--seconds` sets how long to run.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{ExitCode, exit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tests::allocations::{Counting, peak_bytes, reset_peak};
use tests::mutate::{Random, Seeds};
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::check::{check, check_ours};
use tokio_statemap::statemap::read::{Statemap, read};
use tokio_statemap::statemap::{Recording, cut, recordings};
use tokio_statemap::{html, svg};

/// The limit of CPU time per file.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The limit of memory per file, in bytes.
const MAX_MEMORY: usize = 1_000_000_000;

#[global_allocator]
static COUNTING: Counting = Counting;

/// The number of files that reached each stage.
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
            // The number determines both.
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

/// Applies all operations to a file, alone or together with another one.
fn put_through(file: &[u8], other: Option<&[u8]>, random: &mut Random, counts: &mut Counts) {
    counts.files += 1;
    counts.checked += u64::from(check(file).is_ok());
    counts.ours += u64::from(check_ours(file).is_ok());
    let statemap = match read(file) {
        Ok(statemap) => statemap,
        Err(error) => {
            let problem = error.to_string();
            assert!(problem.len() < 4_000 && !problem.contains('\n'), "{problem}");
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
        // Only whole words count: a name may hold anything, say a state `runninf`.
        let is_number = |word: &str| !["NaN", "inf", "-inf"].contains(&word);
        assert!(text.split_whitespace().all(is_number), "{text}");
    }
    let picture = Picture::of_data(files);
    html::write(&picture, io::sink()).expect("nothing fails to take it");
    let mut options = svg::Options::default();
    // Large pictures take by far the most time.
    options.max_bytes = [0, 41, 1_000, 60_000, 60_000, 60_000, 60_000, 4_000_000][random.below(8)];
    let mut drawn = Vec::new();
    match svg::write_with(&picture, &options, &mut drawn) {
        Ok(()) => assert!(drawn.len() as u64 <= options.max_bytes, "{} bytes", drawn.len()),
        Err(error) => assert!(options.max_bytes < 41, "{error}"),
    }
}

/// Enforces the limits of an operation.
struct Watched {
    /// The CPU time at which the operation began, in ns, plus 1; 0 if none runs.
    began_ns: Arc<AtomicU64>,
    /// The path of the current file, which stays if the file kills the process.
    path: PathBuf,
    longest_ns: AtomicU64,
    largest: AtomicUsize,
}

impl Watched {
    fn begin() -> Self {
        let path = std::env::temp_dir().join(format!("mutated-{}.json", std::process::id()));
        let began_ns = Arc::new(AtomicU64::new(0));
        let (began, at) = (Arc::clone(&began_ns), path.clone());
        // Ends a process whose operation doesn't end.
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(200));
                let began_ns = began.load(Ordering::Relaxed);
                let took_ns = time_ns().saturating_sub(began_ns.saturating_sub(1));
                let is_too_long = began_ns > 0 && took_ns > MAX_TIME.as_nanos() as u64;
                if is_too_long || peak_bytes() > MAX_MEMORY {
                    eprintln!("FAILED: {}: it takes too long, or too much", at.display());
                    exit(1);
                }
            }
        });
        Self { began_ns, path, longest_ns: AtomicU64::new(0), largest: AtomicUsize::new(0) }
    }

    fn run<T>(&self, number: u64, file: &[u8], what: impl FnOnce() -> T) -> T {
        std::fs::write(&self.path, file).expect("a file can be written");
        let (began_ns, began) = (time_ns(), reset_peak());
        self.began_ns.store(began_ns + 1, Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(what));
        self.began_ns.store(0, Ordering::Relaxed);
        let took_ns = time_ns() - began_ns;
        let memory = peak_bytes().saturating_sub(began);
        self.longest_ns.fetch_max(took_ns, Ordering::Relaxed);
        self.largest.fetch_max(memory, Ordering::Relaxed);
        match done {
            Ok(done) if took_ns <= MAX_TIME.as_nanos() as u64 && memory <= MAX_MEMORY => {
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

/// Returns the CPU time of this process, in ns, so that other processes don't count.
fn time_ns() -> u64 {
    static STARTED: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let started = STARTED.get_or_init(Instant::now);
    let kernel = std::fs::read_to_string("/proc/self/schedstat").ok();
    let time = kernel.and_then(|text| text.split(' ').next()?.parse().ok());
    time.unwrap_or_else(|| started.elapsed().as_nanos() as u64)
}
