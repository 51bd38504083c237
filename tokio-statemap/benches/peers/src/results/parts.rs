//! The parts of the text that aren't tables of programs.

use std::fmt::Write as _;

use crate::samples::Spread;
use crate::scale::hook_times::{HookTimes, SHARES, SLOW_US};
use crate::scale::{self, AllHookTimes, Exits, Flights};
use crate::startup::Start;

pub(super) const HOW: &str = "
Figures are medians, with the quartiles in brackets; “over none” is over the program without hooks in the
same turn, in which all variants run one after the other, each in a process of its own. ns are of CPU
time, of all threads of the process. Instructions are callgrind's, of the program on one thread: the
difference between a longer and a shorter run; the kernel's aren't seen, and
under valgrind a clock that is read by `clock_gettime`, as Tokio's is, is a system call.

The HTTP service is a web shop that answers with an order, in JSON, to requests with the headers of a
browser. Two shops are open at a time, one that is looked at and one without hooks, and the same customers
go to them by turns: 3200 requests here, 3200 there, some 30 ms each. These visits are compared one by one,
and the median is what is said of a pair. Latencies are those of 800 requests at a time, compared in the same
way: so the machine's own interruptions are left out, of which a p99 would tell above all. Each pair of shops
has processes of its own; shops and customers have a processor each. Without hooks both shops are alike: that
row says how well the others are known. Before it opens, each has had a million polls, so that the default
`max_events` is full.

- *Lean* is `schedule_latency = false` and `wakes = false`. `keep = \"last\"` is the recorder in its steady state: memory that was
  used before (`max_events` at most 1 000 000). `keep = \"first\"` is all in fresh memory, and keeps all.
- What a read of the clock takes differs most from one processor to another: *hooks that only read the clock*
  are empty ones with a read of the time stamp counter at each event that ours would record of a task.
- Tokio has its feature `schedule-latency` in all variants, switched on where it says so.
- dial9 writes into its `MemoryBuffer`, of 16 MiB as in its own benchmark; it says nothing of what it
  loses: what is counted are the polls that Tokio saw and that aren't in its trace, in a run with a
  buffer that holds all.
- console-subscriber is in a build of its own, as Tokio's feature `tracing` costs something by itself.
- tokio-dtrace's probes are made by the crate `usdt`, which has none for Linux: what is measured is its hooks
  without them.
- What it costs to look into async functions, to know where a task waits and what they take, is in
  [FUNCTIONS.md](FUNCTIONS.md).
";

pub(super) fn exits(exits: &Exits) -> String {
    let mut text = String::new();
    for (files, runs) in exits {
        let of = |key: &str| Spread::from_figures(runs.iter().filter_map(|run| run[key].as_f64()));
        let [Some(wall), Some(cpu), Some(snapshot), Some(extra), Some(kept), Some(written)] =
            ["wall_s", "cpu_s", "snapshot_s", "extra_bytes", "kept_events", "written_bytes"]
                .map(of)
        else {
            continue;
        };
        if text.is_empty() {
            text = format!(
                "\n## The way out: {:.0} events kept, of 1000 tasks\n\n\
                 The files are written side by side, as a run of the attribute does.\n\n\
                 | files | time | of it the snapshot | CPU | memory beyond the records | written |\n\
                 | --- | ---: | ---: | ---: | ---: | ---: |\n",
                kept.median
            );
        }
        let _ = writeln!(
            text,
            "| {files} | {:.2} s ({:.2}…{:.2}) | {:.2} s | {:.2} s | {:.0} MB, {:.2} × the records | {:.0} MB |",
            wall.median,
            wall.low,
            wall.high,
            snapshot.median,
            cpu.median,
            extra.median / 1e6,
            extra.median / (16.0 * kept.median),
            written.median / 1e6,
        );
    }
    text
}

pub(super) fn flights(flights: &Flights) -> String {
    if flights.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## The flight recorder under load: lean, `keep = \"last\"`, 2 workers, a yield storm\n\n\
         | `max_events` | for | events/s | RSS over the start's: least, median, most | of the budget | of it filled by the program | of the budget | kept | dropped as told | lost | emitted − kept − dropped − lost | last events whole |\n\
         | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for flight in flights {
        let [resident, filled] = [flight.resident_bytes, flight.filled_bytes].map(|bytes| {
            let [least, median, most] = bytes.map(|bytes| bytes / 1e6);
            let share = 100.0 * flight.of_budget(bytes);
            format!("{least:.1}, {median:.1}, {most:.1} MB | {share:.1} %")
        });
        let _ = writeln!(
            text,
            "| {} | {} s | {:.2} M | {resident} | {filled} | {} | {} | {} | {} | {} |",
            flight.max_events,
            flight.seconds,
            flight.events_per_s / 1e6,
            flight.kept_events,
            flight.dropped_events,
            flight.lost_events,
            flight.unaccounted_events(),
            if flight.are_whole { "yes" } else { "**no**" },
        );
    }
    // All flights have the same length.
    let extra_mb = flights[0].extra_mb();
    let budget = format!(
        "\nThe budget is `max_events` × 16 bytes, 1.5 times as much for what waits, and {extra_mb} MB: see the guide's page of costs. What the program didn't fill itself are pages of \
            files, its code above all: the system reads them in, some with their neighbours, when they are \
            first used.\n"
    );
    text + &budget
}

pub(super) fn starts(starts: &Result<Vec<Start>, String>) -> String {
    let starts = match starts {
        Ok(starts) if starts.is_empty() => return String::new(),
        Ok(starts) => starts,
        Err(why) => return format!("\n## Until the first line of `main`\n\nNot measured: {why}\n"),
    };
    let mut text = String::from(
        "\n## Until the first line of `main`\n\n| program | CPU | time |\n| --- | ---: | ---: |\n",
    );
    for start in starts {
        let [cpu, wall] = [&start.cpu_ms, &start.wall_ms].map(|ms| {
            let ms = Spread::from_figures(ms.iter().copied()).expect("it was started");
            format!("{:.2} ms ({:.2}…{:.2})", ms.median, ms.low, ms.high)
        });
        let _ = writeln!(text, "| {} | {cpu} | {wall} |", start.title);
    }
    text
}

pub(super) fn hook_times(all: &AllHookTimes) -> String {
    let turns = scale::turns(all).map(|(_, times)| times.len()).max().unwrap_or_default();
    if turns == 0 {
        return String::new();
    }
    let mut text = format!(
        "\n## How long one hook takes: the same load, at the end of a poll\n\n\
         From a task's last line in a poll to a hook of the program's own behind ours, on the wall, each poll, in \
         {turns} turns of 3 s. Two reads of the clock and what Tokio does are in it, and what interrupts the thread: \
         of an empty hook as well, and a thread wakes up beside that as often as ours does. So how many hooks are slow \
         is told beyond that, turn by turn. The last columns are of the hooks over 20 µs in which the thread waited.\n\n\
         | `max_events` | | p50 | p99 | p99.9 | p99.99 | p99.999 | over {SLOW_US} µs, of a million | beyond an empty hook | done meanwhile, a turn | waits, a turn | longest wait |\n\
         | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let us = |ns: f64| format!("{:.2} µs", ns / 1e3);
    for ((max_events, beside), times) in scale::turns(all) {
        let of = |what: &dyn Fn(&HookTimes) -> f64| {
            Spread::from_figures(times.iter().map(|times| what(times))).expect("there are turns")
        };
        let ns: Vec<_> = (0..SHARES.len()).map(|i| us(of(&|times| times.ns[i]).median)).collect();
        let beyond = scale::slow_beyond(all, max_events, beside);
        let longest = times.iter().map(|times| times.longest_wait_ns).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "| {max_events} | {} | {} | {:.1} | {} | {:.0} | {:.0} | {} |",
            beside.title(),
            ns.join(" | "),
            of(&|times| times.slow).median,
            beyond.map_or_else(
                || "–".to_owned(),
                |beyond| format!("{:+.1} ({:.1}…{:.1})", beyond.median, beyond.low, beyond.high)
            ),
            of(&|times| times.done as f64).median,
            of(&|times| times.waits as f64).median,
            if longest > 0.0 { us(longest) } else { "–".to_owned() },
        );
    }
    text
}
