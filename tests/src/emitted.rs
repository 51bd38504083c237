//! What hooks emitted, in memory that survives the process: a file for each thread, which the program maps and another
//! process reads.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio_statemap::Hooks;

/// The kinds of events, as they are in a log.
pub const KINDS: [Kind; 8] = [
    Kind::ThreadStart,
    Kind::ThreadStop,
    Kind::Park,
    Kind::Unpark,
    Kind::Spawn,
    Kind::PollStart,
    Kind::PollEnd,
    Kind::Terminate,
];

/// The kind of an event, which is the hook that was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are Tokio's")]
pub enum Kind {
    ThreadStart,
    ThreadStop,
    Park,
    Unpark,
    Spawn,
    PollStart,
    PollEnd,
    Terminate,
}

/// The most events of a thread.
const MOST: usize = 16 << 20;

/// The log of one thread: the number of its worker and one, and then its events, each with its time in ns and its kind.
/// An event that is 0 is the end.
type Log = NonNull<AtomicU64>;

thread_local! {
    static LOG: Cell<Option<(Log, usize)>> = const { Cell::new(None) };
}

/// Returns hooks that log all events in `folder`, which must be in memory.
pub fn logging_hooks(folder: &Path) -> Hooks {
    let folder: Arc<Path> = folder.into();
    macro_rules! log {
        ($($hook:ident($($meta:ident)?) $kind:ident),+) => {
            Hooks::new()$(.$hook({
                let folder = Arc::clone(&folder);
                move |$($meta)?| log(&folder, Kind::$kind)
            }))+
        };
    }
    log!(
        on_thread_start() ThreadStart,
        on_thread_stop() ThreadStop,
        on_thread_park() Park,
        on_thread_unpark() Unpark,
        on_task_spawn(_meta) Spawn,
        on_before_task_poll(_meta) PollStart,
        on_after_task_poll(_meta) PollEnd,
        on_task_terminate(_meta) Terminate
    )
}

fn log(folder: &Path, kind: Kind) {
    let (log, len) = LOG.get().unwrap_or_else(|| (map(folder), 1));
    assert!(len < MOST, "too many events");
    // SAFETY: the file has `MOST` words, which stay mapped.
    let (worker, event) = unsafe { (log.as_ref(), log.add(len).as_ref()) };
    if let Some(index) = tokio::runtime::worker_index() {
        worker.store(index as u64 + 1, Ordering::Relaxed);
    }
    event.store(now_ns() << 3 | kind as u64, Ordering::Relaxed);
    LOG.set(Some((log, len + 1)));
}

/// Returns UTC, since the Unix epoch.
///
/// # Panics
///
/// If there is none.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is where the time goes.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    assert_eq!(result, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Maps the log of this thread.
fn map(folder: &Path) -> Log {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    let number = THREADS.fetch_add(1, Ordering::Relaxed);
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).open(path(folder, number)).unwrap();
    let len = 8 * MOST;
    file.set_len(len as u64).unwrap();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let file = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: new memory is mapped, which nobody else has.
    let mapped =
        unsafe { libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, file, 0) };
    assert_ne!(mapped, libc::MAP_FAILED);
    NonNull::new(mapped).unwrap().cast()
}

fn path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("emitted.{number}"))
}

/// The events of one thread.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The index of its worker, if it was one.
    pub worker: Option<u32>,
    /// Each event: its time in ns, and its kind.
    pub events: Vec<(u64, Kind)>,
}

impl Emitted {
    /// Returns the logs of all threads in a folder.
    pub fn all(folder: &Path) -> Vec<Self> {
        let logs = (0..).map(|number| fs::read(path(folder, number)).ok());
        logs.map_while(|log| log.map(|bytes| Self::read(&bytes))).collect()
    }

    fn read(bytes: &[u8]) -> Self {
        let mut words =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap()));
        let worker = words.next().unwrap_or_default().checked_sub(1).map(|index| index as u32);
        let events = words.take_while(|word| *word != 0);
        let events = events.map(|word| (word >> 3, KINDS[(word & 7) as usize])).collect();
        Self { worker, events }
    }

    /// Returns the number of events up to that one of this kind, which counts from 1; `None` if there are fewer.
    pub fn up_to(&self, kind: Kind, nth: u64) -> Option<usize> {
        let Some(before) = nth.checked_sub(1) else { return Some(0) };
        let mut all = self.events.iter().enumerate().filter(|(_, (_, of))| *of == kind);
        all.nth(before as usize).map(|(place, _)| place + 1)
    }
}
