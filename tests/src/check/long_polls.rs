//! Checks the causes and stack samples of long polls.
//!
//! Each cause must belong to a whole poll and add up to its length; each sample must name functions of the file.

use std::collections::BTreeSet;

use serde_json::Value;

/// The state of the check.
#[derive(Debug, Default)]
pub(super) struct LongPolls {
    begin_ns: u64,
    /// The data that no part has described yet.
    data: Vec<Datum>,
    /// The entity of the last datum, its time in the file, and its real time.
    last: Option<(String, u64, u64)>,
    /// The threads on which polls ran.
    threads: Vec<u64>,
    /// The current poll: its thread, its start, and whether a window cut it.
    open: Option<(u64, u64, bool)>,
    /// The thread, start and length of each whole poll.
    polls: BTreeSet<(u64, u64, u64)>,
    causes: Vec<[u64; 8]>,
    functions: usize,
    samples: Vec<[u64; 3]>,
}

#[derive(Debug)]
struct Datum {
    entity: String,
    time_ns: u64,
    is_running: bool,
}

/// Reads a number, which is a string above 2^53.
pub(super) fn number(value: &Value) -> Result<u64, String> {
    let number = match value.as_str() {
        Some(digits) => digits.parse().ok().filter(|&number: &u64| number > 1 << 53),
        None => value.as_u64().filter(|&number| number <= 1 << 53),
    };
    number.ok_or_else(|| format!("{value} is no number"))
}

/// Returns the entries of a list, or none if the list is missing.
pub(super) fn list<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    record[name].as_array().map_or(&[], Vec::as_slice)
}

fn numbers<const N: usize>(value: &Value) -> Result<[u64; N], String> {
    let numbers = value.as_array().ok_or("no list")?.iter().map(number);
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    numbers.try_into().map_err(|_| format!("{value} must have {N} numbers"))
}

impl LongPolls {
    /// Checks the facts of the run.
    pub(super) fn run(&mut self, record: &Value) -> Result<(), String> {
        self.begin_ns = number(&record["beginNs"])?;
        for name in ["runDelayNs", "stolenNs", "droppedSamples"] {
            if record.get(name).is_some_and(|value| number(value).is_err() || value == 0) {
                return Err(format!("`{name}` must be a number, or not there if it is 0"));
            }
        }
        if let Some(reasons) = record.get("noStacks") {
            const ALL: [&str; 11] = [
                "noProc",
                "noCall",
                "memoryDenied",
                "filtered",
                "signalTaken",
                "signalBlocked",
                "noTimer",
                "noMemory",
                "noSymbols",
                "emulated",
                "rareLooks",
            ];
            let reasons = reasons.as_object().filter(|reasons| !reasons.is_empty());
            for (reason, times) in reasons.ok_or("`noStacks` is empty, or no object")? {
                if !ALL.contains(&&**reason) || number(times)? == 0 {
                    return Err(format!("`noStacks` has {reason}: {times}"));
                }
            }
        }
        if record.get("version").is_some_and(|version| !version.is_string()) {
            return Err("`version` must be a text".to_owned());
        }
        if let Some(limit) = record.get("cpuLimit") {
            numbers::<3>(limit)?;
        }
        if let Some(clock) = record.get("clock") {
            let parts = clock.as_array().filter(|parts| parts.len() == 4).ok_or("no clock")?;
            parts[..2].iter().try_for_each(|n| number(n).map(drop))?;
            if !parts[2..].iter().all(Value::is_boolean)
                || parts[2..] == [false, false] && parts[0] == 0
            {
                return Err(format!("`clock` is {clock}"));
            }
        }
        if let Some(pool) = record.get("exhaustedPool") {
            let parts = pool.as_array().filter(|parts| parts.len() == 8);
            let (location, counts) = parts.and_then(|parts| parts.split_last()).ok_or("no pool")?;
            counts.iter().try_for_each(|count| number(count).map(drop))?;
            let is_place = location[0].is_string() && location[2].is_u64();
            if !(location.is_null() || is_place) {
                return Err(format!("`exhaustedPool` is at {location}"));
            }
        }
        if let Some(work) = record.get("poolWork") {
            let [ended, ended_on, _, of_pool, of_workers] = numbers::<5>(work)?;
            let run_delay = record.get("runDelayNs").map_or(Ok(0), number)?;
            if ended < ended_on || of_pool + of_workers > run_delay {
                return Err(format!("`poolWork` is {work}"));
            }
        }
        if let Some(queue) = record.get("poolQueue") {
            let changes = queue.as_array().filter(|changes| !changes.is_empty());
            let changes = changes.ok_or("`poolQueue` is no list, or empty")?;
            let times = changes.iter().map(|change| Ok::<_, String>(numbers::<2>(change)?[0]));
            let times = times.collect::<Result<Vec<_>, _>>()?;
            if !times.is_sorted_by(|before, next| before < next) {
                return Err("`poolQueue` doesn't go by time".to_owned());
            }
        }
        match record.get("stacks").map(|stacks| stacks.as_str()) {
            None | Some(Some("on" | "off" | "notSupported")) => Ok(()),
            other => Err(format!("`stacks` is {other:?}")),
        }
    }

    pub(super) fn datum(&mut self, entity: &str, time_ns: u64, state: &str) {
        let (entity, is_running) = (entity.to_owned(), state == "running");
        self.data.push(Datum { entity, time_ns, is_running });
    }

    /// Checks a part, which describes the data since the part before.
    pub(super) fn part(&mut self, record: &Value) -> Result<(), String> {
        for pair in list(record, "ranOn") {
            self.threads.push(number(&pair[0])?);
        }
        let flat =
            list(record, "polls").chunks(2).map(|run| Ok((number(&run[0])?, number(&run[1])?)));
        let flat = flat.collect::<Result<Vec<_>, String>>()?;
        let mut threads =
            flat.iter().flat_map(|&(index, count)| (0..count).map(move |_| index as usize));
        let pairs =
            |name| list(record, name).iter().map(numbers::<2>).collect::<Result<Vec<_>, _>>();
        let (apart, cut) = (pairs("apart")?, pairs("cut")?);
        let find =
            |pairs: &[[u64; 2]], n: u64| pairs.iter().find(|pair| pair[0] == n).map(|p| p[1]);
        let mut polls = 0;
        for (n, datum) in (0..).zip(std::mem::take(&mut self.data)) {
            let before = self.last.take().filter(|(entity, ..)| *entity == datum.entity);
            let real_ns = match &before {
                Some((_, written_ns, real_ns)) if datum.time_ns == written_ns + 1 => {
                    real_ns + find(&apart, n).unwrap_or(0)
                }
                _ => datum.time_ns,
            };
            if let (Some((thread, start_ns, false)), Some(_)) = (self.open.take(), before) {
                self.polls.insert((thread, self.begin_ns + start_ns, real_ns - start_ns));
            }
            if datum.is_running && record.get("polls").is_some() {
                let thread = threads.next().and_then(|index| self.threads.get(index));
                let is_cut = find(&cut, polls).is_some();
                self.open = Some((*thread.ok_or("a poll without a thread")?, real_ns, is_cut));
                polls += 1;
            }
            self.last = Some((datum.entity, datum.time_ns, real_ns));
        }
        self.functions += list(record, "functions").len();
        for cause in list(record, "causes") {
            self.causes.push(numbers(cause)?);
        }
        for function in list(record, "functions") {
            let [name, file, line, origin] = function.as_array().map_or(&[][..], |f| f) else {
                return Err(format!("{function} is no function"));
            };
            let origins = ["program", "dependency", "std", "runtime", "system"];
            if !name.is_string()
                || !(file.is_null() || file.is_string())
                || !(line.is_null() || line.as_u64().is_some_and(|line| line > 0))
                || !origin.as_str().is_some_and(|origin| origins.contains(&origin))
            {
                return Err(format!("{function} is no function"));
            }
        }
        list(record, "samples").iter().try_for_each(|sample| self.sample(sample))
    }

    fn sample(&mut self, sample: &Value) -> Result<(), String> {
        let [thread, start, at, blocked_in, is_complete, functions] =
            sample.as_array().map_or(&[][..], |sample| sample)
        else {
            return Err(format!("{sample} is no sample"));
        };
        let place = [number(thread)?, number(start)?, number(at)?];
        let mut functions = functions.as_array().ok_or("no functions")?.iter();
        let is_there = |index: &Value| index.as_u64().is_some_and(|n| n < self.functions as u64);
        if !(blocked_in.is_null() || blocked_in.is_string())
            || !is_complete.is_boolean()
            || !functions.all(is_there)
            || place[2] < place[1]
        {
            return Err(format!("{sample} is no sample"));
        }
        self.samples.push(place);
        Ok(())
    }

    /// Checks what depends on the whole file, and returns the numbers of causes and samples.
    pub(super) fn finish(self) -> Result<(usize, usize), String> {
        if !self.samples.is_sorted() || !self.causes.is_sorted_by_key(|cause| &cause[..2]) {
            return Err("causes and samples must be by thread and time".to_owned());
        }
        for [thread, start_ns, on_cpu, blocked, run_delay, stolen, _, unknown] in &self.causes {
            let parts = [on_cpu, blocked, run_delay, stolen, unknown];
            let length_ns = parts.into_iter().sum();
            if !self.polls.contains(&(*thread, *start_ns, length_ns)) {
                return Err(format!(
                    "there is no whole poll of {length_ns} ns on thread {thread} at {start_ns}"
                ));
            }
        }
        Ok((self.causes.len(), self.samples.len()))
    }
}
