//! Reads boxes that somebody has forged, in the ways of `ps` and `recover`: `forged BOX SEED COUNT`.
//!
//! Each is the box with some bytes changed, cut off, or moved, and with the right hashes. It says how many were refused,
//! and in how many the reader gave up by a panic, which the command catches. It fails if one took longer than 10 s.
//!
//! Most of the time is spent on the names of functions. If the program's file is gone, so are the names, and a box takes
//! some milliseconds.

use std::fs;
use std::ops::Range;
use std::panic::{catch_unwind, set_hook};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_statemap::__private::{lately, recover, workers_now};
use tokio_statemap::trees::Folded;

/// No box of this size takes that long.
const MOST: Duration = Duration::from_secs(10);

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().expect("usage: forged BOX SEED COUNT");
    let first = PathBuf::from(next());
    let (seed, count) = (number(&next()), number(&next()));
    let name = first.to_str().expect("a path in UTF-8");
    let stem = name.strip_suffix(".0.box").expect("the first file of a box");
    let paths = [first.clone(), format!("{stem}.1.box").into()];
    let originals = paths.map(|path| fs::read(path).expect("both files of the box"));
    let folder = std::env::temp_dir().join(format!("forged.{}", std::process::id()));
    fs::create_dir(&folder).expect("a folder");
    let copies = ["a.0.box", "a.1.box"].map(|name| folder.join(name));

    static PANICS: AtomicU64 = AtomicU64::new(0);
    set_hook(Box::new(|info| {
        if PANICS.fetch_add(1, Ordering::Relaxed) < 20 {
            eprintln!("{info}");
        }
    }));
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut read, mut refused, mut slowest) = (0, 0, Duration::ZERO);
    for _ in 0..count {
        let mut both = originals.clone();
        let which = random.below(2);
        // An empty file has nothing to change.
        let which = if both[which].is_empty() { 1 - which } else { which };
        forge(&mut both[which], &mut random);
        for (copy, bytes) in copies.iter().zip(&both) {
            fs::write(copy, bytes).expect("a copy");
        }
        let began = Instant::now();
        let has_page = random.below(64) == 0;
        match catch_unwind(|| shows(&copies[0], has_page)) {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(_) => {}
        }
        slowest = slowest.max(began.elapsed());
        if began.elapsed() > MOST {
            fs::write("slow.0.box", &both[0]).expect("a copy");
            fs::write("slow.1.box", &both[1]).expect("a copy");
            panic!("one took {:?}: see slow.0.box", began.elapsed());
        }
    }
    fs::remove_dir_all(folder).expect("the folder");
    let panics = PANICS.load(Ordering::Relaxed);
    println!(
        "seed {seed}: {read} read, {refused} refused, {panics} panics; the slowest took {slowest:?}"
    );
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// Does what `ps` and `recover` do. The page takes most of the time. Returns whether the box could be read.
fn shows(path: &Path, has_page: bool) -> bool {
    let Ok(recovered) = recover(path) else { return false };
    let timeline = &recovered.timeline;
    let lines = workers_now(timeline).len() + lately(timeline).len();
    let text =
        format!("{lines} {}{}{}", recovered.at(), Folded(&timeline.trees()), timeline.report());
    if has_page {
        timeline.write_html(std::io::sink()).expect("a sink takes all");
    }
    !text.is_empty()
}

/// Changes something in a file of a box.
fn forge(bytes: &mut Vec<u8>, random: &mut Random) {
    let frames = frames(bytes);
    let Some(frame) = frames.get(random.below(frames.len().max(1))).cloned() else { return };
    match random.below(12) {
        0 => bytes.truncate(random.below(bytes.len())),
        // Without the right hash.
        1 => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        // A frame is there twice, or is left out.
        2 => {
            let twice = bytes[frame.start - 16..frame.end].to_vec();
            bytes.splice(frame.start - 16..frame.start - 16, twice);
        }
        3 => drop(bytes.drain(frame.start - 16..frame.end)),
        _ => {
            for _ in 0..1 + random.below(4) {
                let at = frame.start + random.below(frame.len().max(1));
                let Some(byte) = bytes.get_mut(at) else { return };
                *byte = match random.below(4) {
                    0 => 0xff,
                    1 => 0,
                    2 => byte.wrapping_add(1),
                    _ => *byte ^ 1 << random.below(8),
                };
                // A number of eight bytes is as large as it can be.
                if random.below(8) == 0 && at + 8 <= frame.end {
                    bytes[at..at + 8].fill(0xff);
                }
            }
            let hash = hash(&bytes[frame.clone()]);
            bytes[frame.start - 8..frame.start].copy_from_slice(&hash.to_le_bytes());
        }
    }
}

/// Returns the contents of all frames, without their lengths and hashes.
fn frames(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut frames, mut at) = (Vec::new(), 16);
    while let Some(len) = bytes.get(at..at + 8) {
        let len = u64::from_le_bytes(len.try_into().unwrap()) as usize;
        if bytes.len() < at + 16 + len {
            break;
        }
        frames.push(at + 16..at + 16 + len);
        at += 16 + len;
    }
    frames
}

/// The hash of a frame: a forger can read how it is computed.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(FACTOR).rotate_left(29);
    for word in &mut words {
        add(u64::from_le_bytes(word.try_into().unwrap()));
    }
    for &byte in words.remainder() {
        add(u64::from(byte));
    }
    hash
}

/// Pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
