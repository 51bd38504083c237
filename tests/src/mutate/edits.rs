//! The mutations of a file.

use super::{Random, Seeds};

/// Numbers that may overflow something, or are invalid.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "4",
    "-1",
    "-0",
    "255",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551614",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999",
    "1e3",
    "1e999",
    "0.5",
    "007",
    "null",
];

/// Text that ends, hides, reverses or escapes what surrounds it.
const TEXTS: [&str; 18] = [
    "",
    "é",
    "\u{202e}",
    "\u{2028}",
    "]]>",
    "</script>",
    "<![CDATA[",
    "&",
    "\\\"",
    "\\\\",
    "\\u0000",
    "\\u001b[2J",
    "\\ud800",
    "\\n",
    "\u{7f}",
    "💥",
    "{}",
    "main",
];

/// Keys and values of the format.
const NAMES: [&str; 38] = [
    "time",
    "entity",
    "state",
    "tag",
    "event",
    "target",
    "description",
    "start",
    "title",
    "states",
    "value",
    "color",
    "host",
    "entityKind",
    "file",
    "location",
    "Task",
    "Worker",
    "tokio-statemap",
    "beginNs",
    "gaps",
    "handovers",
    "data",
    "apart",
    "ranOn",
    "polls",
    "parents",
    "wokenBy",
    "causes",
    "functions",
    "samples",
    "stacks",
    "cpuLimit",
    "clock",
    "exhaustedPool",
    "poolWork",
    "version",
    "poolQueue",
];

/// Applies one mutation to `file`.
pub(super) fn edit(random: &mut Random, file: &mut Vec<u8>, seeds: &Seeds) {
    match random.below(21) {
        0 => flip(random, file),
        1 => splice(random, file, &[]),
        2 => {
            let text = random.pick(&TEXTS);
            splice(random, file, text.as_bytes());
        }
        3 => file.truncate(random.below(file.len() + 1)),
        4 => {
            let other = seeds.any(random);
            let from = random.below(other.len());
            let to = (from + random.below(400)).min(other.len());
            splice(random, file, &other[from..to]);
        }
        5 => number(random, file),
        6 => all_numbers(random, file),
        7 => name(random, file),
        8 => text(random, file),
        9 => lines(random, file),
        10 => nest(random, file),
        11 | 15 => many(random, file),
        // These leave a file that is still read to its end, so they are frequent.
        12 | 16..=19 => far(random, file),
        13 => file.extend(seeds.any(random)),
        _ => record(random, file),
    }
}

fn flip(random: &mut Random, file: &mut [u8]) {
    for _ in 0..=random.below(4) {
        let at = random.below(file.len());
        if let Some(byte) = file.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
}

/// Replaces a short range by these bytes.
fn splice(random: &mut Random, file: &mut Vec<u8>, with: &[u8]) {
    let from = random.below(file.len() + 1);
    let longest = if random.is(4) { 200 } else { 3 };
    let to = (from + random.below(longest)).min(file.len());
    file.splice(from..to, with.iter().copied());
}

/// Returns the ranges of digits.
fn numbers(file: &[u8]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, _) in file.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match found.last_mut() {
            Some(last) if last.1 == at => last.1 += 1,
            _ => found.push((at, at + 1)),
        }
    }
    found
}

fn number(random: &mut Random, file: &mut Vec<u8>) {
    let found = numbers(file);
    if found.is_empty() {
        return;
    }
    // The numbers of the metadata are few, but matter most.
    let among = if random.is(3) { found.len().min(12) } else { found.len() };
    let (from, to) = found[random.below(among)];
    file.splice(from..to, random.pick(&NUMBERS).bytes());
}

/// Replaces all occurrences of a number, which may be a state, a time or a task.
fn all_numbers(random: &mut Random, file: &mut Vec<u8>) {
    let found = numbers(file);
    if found.is_empty() {
        return;
    }
    let (from, to) = found[random.below(found.len())];
    let (old, new) = (file[from..to].to_vec(), random.pick(&NUMBERS));
    let same = found.into_iter().filter(|&(from, to)| file[from..to] == old);
    *file = replaced(file, &same.collect::<Vec<_>>(), new);
}

/// Returns the file with the ranges replaced by `with`.
fn replaced(file: &[u8], stretches: &[(usize, usize)], with: &str) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(file.len() + stretches.len() * with.len());
    let mut behind = 0;
    for &(from, to) in stretches {
        // A range that overlaps the one before is left out.
        if from >= behind {
            replaced.extend(&file[behind..from]);
            replaced.extend(with.bytes());
            behind = to;
        }
    }
    replaced.extend(&file[behind..]);
    replaced
}

/// Replaces one or all occurrences of a key or name.
fn name(random: &mut Random, file: &mut Vec<u8>) {
    let (old, new) = (random.pick(&NAMES), random.pick(&NAMES));
    let found: Vec<usize> =
        (0..file.len()).filter(|&at| file[at..].starts_with(old.as_bytes())).collect();
    if found.is_empty() {
        return;
    }
    let chosen = match random.is(2) {
        true => vec![found[random.below(found.len())]],
        false => found,
    };
    let stretches: Vec<_> = chosen.into_iter().map(|at| (at, at + old.len())).collect();
    *file = replaced(file, &stretches, new);
}

/// Inserts text after a quote.
fn text(random: &mut Random, file: &mut Vec<u8>) {
    let quotes: Vec<usize> = (0..file.len()).filter(|&at| file[at] == b'"').collect();
    if quotes.is_empty() {
        return;
    }
    let at = quotes[random.below(quotes.len())] + 1;
    let times = if random.is(20) { 50_000 } else { 1 + random.below(3) };
    file.splice(at..at, random.pick(&TEXTS).repeat(times).into_bytes());
}

/// Removes, repeats or swaps lines.
fn lines(random: &mut Random, file: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = file.split_inclusive(|&b| b == b'\n').map(Vec::from).collect();
    if lines.is_empty() {
        return;
    }
    for _ in 0..=random.below(5) {
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(3) {
            0 => lines.swap(a, b),
            1 => lines.insert(a, lines[b].clone()),
            _ if lines.len() > 1 => drop(lines.remove(a)),
            _ => {}
        }
    }
    *file = lines.concat();
}

/// Inserts deeply nested JSON.
fn nest(random: &mut Random, file: &mut Vec<u8>) {
    let depth = [10, 127, 128, 5_000, 200_000][random.below(5)];
    let (open, close) =
        [("[", "]"), ("{\"a\":", "}"), ("{\"state\":0,\"tag\":\"t\",\"x\":", "}")][random.below(3)];
    let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
    let at = match random.is(2) {
        true => file.len(),
        false => random.below(file.len() + 1),
    };
    file.splice(at..at, text.into_bytes());
}

/// Adds many records of a kind that the file has: entities, tags, descriptions, events.
fn many(random: &mut Random, file: &mut Vec<u8>) {
    let count = [10, 300, 3_000][random.below(3)];
    let step = random.any() >> random.below(64);
    let kind = random.below(5);
    let states = 1 + random.below(5);
    for n in 0..count {
        let time = step.wrapping_mul(n as u64 + 1);
        let state = random.below(states);
        let record = match kind {
            0 => format!("{{\"time\":\"{time}\",\"entity\":\"task-{n}\",\"state\":{state}}}\n"),
            1 => format!("{{\"time\":\"{time}\",\"entity\":\"worker-0\",\"state\":{state}}}\n"),
            2 => format!(
                "{{\"state\":{state},\"tag\":\"t{n}\"}}\n{{\"time\":\"{time}\",\"entity\":\"e{}\",\
                 \"state\":{state},\"tag\":\"t{n}\"}}\n",
                n % 7
            ),
            3 => format!("{{\"entity\":\"e{n}\",\"description\":\"{time}\"}}\n"),
            _ => format!("{{\"time\":\"{time}\",\"entity\":\"e{}\",\"event\":\"{n}\"}}\n", n % 3),
        };
        file.extend(record.into_bytes());
    }
}

/// Moves all times after some point far into the future.
fn far(random: &mut Random, file: &mut Vec<u8>) {
    let begin = b"\"time\":\"";
    let offset = match random.is(2) {
        true => u64::MAX - (random.any() >> random.below(64)),
        false => random.any() >> random.below(64),
    };
    let factor = if random.is(3) { random.any() >> random.below(64) } else { 1 };
    let mut out = Vec::with_capacity(file.len() * 2);
    let from = if random.is(2) { 0 } else { random.below(file.len()) };
    let mut rest = &file[..];
    while let Some(at) = (0..rest.len()).find(|&at| rest[at..].starts_with(begin)) {
        let at = at + begin.len();
        out.extend(&rest[..at]);
        let digits = rest[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = String::from_utf8_lossy(&rest[at..at + digits]).into_owned();
        let time = text.parse::<u64>().ok().filter(|_| file.len() - rest.len() >= from);
        let later = time.and_then(|time| time.checked_mul(factor)?.checked_add(offset));
        let later = later.map_or(text, |later| later.to_string());
        out.extend(later.into_bytes());
        rest = &rest[at + digits..];
    }
    out.extend(rest);
    *file = out;
}

/// Inserts a record of random members.
fn record(random: &mut Random, file: &mut Vec<u8>) {
    let mut fields = Vec::new();
    for _ in 0..=random.below(5) {
        let (key, text, number) = (random.pick(&NAMES), random.pick(&TEXTS), random.pick(&NUMBERS));
        fields.push(match random.below(4) {
            0 => format!("\"{key}\":{number}"),
            1 => format!("\"{key}\":\"{number}\""),
            2 => format!("\"{key}\":[{number},\"{text}\",{{\"{key}\":{number}}}]"),
            _ => format!("\"{key}\":\"{text}\""),
        });
    }
    let record = format!("{{{}}}\n", fields.join(","));
    let ends: Vec<usize> = (0..file.len()).filter(|&at| file[at] == b'\n').collect();
    let at = match ends.is_empty() {
        true => 0,
        false => ends[random.below(ends.len())] + 1,
    };
    file.splice(at..at, record.into_bytes());
}
