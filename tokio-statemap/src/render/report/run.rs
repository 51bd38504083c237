//! The text of a report.

use std::fmt;

use super::layout::{COLUMNS, keep_right, pad_right, table, width, wrap};
use crate::analysis::{Delay, Issue, LocationRow, Report, WorkerShare, busy_share, function_name};
use crate::recorder::lost::Lost;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_setting, moment, percent};

/// The number of lines that a report does not exceed if possible.
const LINES: usize = 40;
/// The least number of locations that are listed, and the most if there is room.
const LOCATIONS: std::ops::RangeInclusive<usize> = 5..=10;
/// The lines around these: a blank one, the title, the head of the table, "more", the footnote.
const LOCATIONS_REST: usize = 5;
/// The most workers that are listed.
const WORKERS: usize = 8;
/// Stands for values that aren't known because detail was dropped.
pub(super) const NOT_KEPT: &str = "not kept";

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl Report {
    fn lines(&self) -> Vec<String> {
        let mut verdict = wrap(&self.verdict.to_string());
        let is_harmless =
            |issue: &Issue| matches!(issue, Issue::LongPolls(polls) if !polls.did_harm);
        if let Some(issue) = self.issues().first().filter(|issue| !is_harmless(issue)) {
            verdict.extend(wrap(&format!("What usually helps: {}", issue.explanation().advice)));
        }
        let mut before = vec![String::new()];
        before.extend(wrap(&self.summary()));
        for sentence in &self.machine_sentences() {
            before.extend(wrap(sentence));
        }
        before.extend(self.pool_line());
        for line in &self.limitations() {
            before.extend(wrap(line));
        }
        let workers = self.workers_lines();
        if !workers.is_empty() {
            before.push(String::new());
            before.extend(workers);
        }
        let computed = self.computed_lines();
        let mut after = self.longest_lines();
        after.extend(self.critical_path_lines());
        let lengths = verdict.len() + before.len() + computed.len() + after.len();
        let room = LINES.saturating_sub(lengths + LOCATIONS.start() + LOCATIONS_REST);
        // The other issues follow the verdict, so that all that is wrong is on the first screen.
        let mut lines = verdict;
        lines.extend(self.issue_lines(room));
        lines.extend(before);
        let room = LINES.saturating_sub(lines.len() + computed.len() + after.len());
        let of_functions = self.profile.lines(
            room.saturating_sub(LOCATIONS.start() + LOCATIONS_REST),
            !self.recording.lacking.time,
        );
        lines.extend(self.location_lines(room.saturating_sub(of_functions.len())));
        lines.extend(of_functions);
        #[cfg(has_requests)]
        lines.extend(self.requests.lines(!self.recording.lacking.time));
        lines.extend(computed);
        lines.extend(after);
        lines.extend(self.waits_lines());
        lines.extend(self.still_waiting_lines());
        lines
    }

    /// Describes how the blocking pool was exhausted, unless the verdict does.
    fn pool_line(&self) -> Vec<String> {
        let is_said = matches!(self.issues().first(), Some(Issue::ExhaustedPool(_)));
        let Some(said) = self.pool_statement().filter(|_| !is_said) else { return Vec::new() };
        let run = if self.recording.lacking.time { "In the whole run: " } else { "" };
        wrap(&format!("{run}{said}"))
    }

    /// Describes what the report is based on.
    fn summary(&self) -> String {
        let mut parts = Vec::new();
        let name = self.recording.runtime.as_deref().map_or_else(String::new, |name| {
            format!("Runtime {}, ", keep_right(&clean(name), COLUMNS / 2))
        });
        match self.recording.detail_ns {
            Some(detail_ns) => self.whole_and_detail(&name, detail_ns, &mut parts),
            None => self.what_is_kept(&name, &mut parts),
        }
        if self.counts.live_tasks > 0 {
            parts
                .push(format!("{} still lived at the end.", count(self.counts.live_tasks, "task")));
        }
        if self.counts.running_polls > 0 {
            parts.push(format!(
                "{} still ran at the end.",
                count(self.counts.running_polls, "poll")
            ));
        }
        if self.counts.cut_polls > 0 {
            let cut = count(self.counts.cut_polls, "poll");
            parts.push(format!("{cut} began before or ended after what was recorded."));
        }
        let there =
            if self.recording.detail_ns.is_some() { "In the part kept in detail, " } else { "" };
        if self.counts.handovers > 0 {
            let times = count(self.counts.handovers as u64, "time");
            parts.push(format!(
                "{there}block_in_place handed a worker to another thread {times}; the poll that called it is counted up to then."
            ));
        }
        if self.counts.blocking_threads > 0 {
            let threads = count(self.counts.blocking_threads as u64, "thread");
            let the = if there.is_empty() { "The" } else { "the" };
            parts.push(format!("{there}{the} blocking pool had {threads}."));
        }
        parts.join(" ")
    }

    /// Describes the whole run, and which part of it is kept in detail.
    fn whole_and_detail(&self, name: &str, detail_ns: u64, parts: &mut Vec<String>) {
        let the = if name.is_empty() { "The" } else { "the" };
        parts.push(format!(
            "{name}{the} whole run, {}: {}, {}.",
            human(self.recording.recorded_ns),
            count(self.counts.tasks, "task"),
            count(self.counts.polls, "poll"),
        ));
        let mut kept = human(detail_ns.saturating_sub(self.recording.before_ns));
        if self.recording.stretches_before > 0 {
            let moments = count(self.recording.stretches_before as u64, "moment");
            kept = format!(
                "{kept}, and {moments} before, around the longest polls ({} in all),",
                human(self.recording.before_ns)
            );
        }
        let others = Lost { dropped_events: 0, ..self.recording.lost };
        parts.push(format!(
            "The last {kept} are kept in detail: {}, {others}. {} dropped by design.",
            count(self.recording.events, "event"),
            self.dropped("An"),
        ));
        let sum = |of: fn(&LocationRow) -> u64| {
            self.locations.iter().map(of).fold(0, u64::saturating_add)
        };
        let (long, kept) = (sum(|row| row.long_polls), sum(|row| row.kept_long_polls));
        if long > kept {
            let polls = if long == 1 { "One poll" } else { &format!("{long} polls") };
            parts.push(format!(
                "{polls} held a worker over {}, {} of wall time in all; {}.",
                human_setting(
                    u64::try_from(self.recording.long_poll.as_nanos()).unwrap_or(u64::MAX)
                ),
                human(sum(|row| row.long_polls_ns)),
                match kept {
                    0 => "none is kept in detail".to_owned(),
                    1 => "one is kept in detail".to_owned(),
                    n => format!("{n} are kept in detail"),
                },
            ));
        }
        let stopped_ns = self.recording.end_ns.saturating_sub(self.recording.recorded_ns);
        if stopped_ns > 0 {
            parts.push(format!("Recording was stopped for {}.", human(stopped_ns)));
        }
    }

    /// Describes what is kept, if nothing else is known.
    fn what_is_kept(&self, name: &str, parts: &mut Vec<String>) {
        let window = if self.recording.begin_ns > 0 {
            format!(
                " (from {} to {})",
                moment(self.recording.begin_ns),
                moment(self.recording.end_ns)
            )
        } else {
            String::new()
        };
        // A part of a file can't count them: several events can be one change of state, or none.
        let of_all = if self.recording.lacking.time { " of the whole run" } else { "" };
        let others = Lost { dropped_events: 0, ..self.recording.lost };
        let is_of_moments =
            self.recording.recent_ns > self.recording.begin_ns && !self.recording.lacking.time;
        let what = if is_of_moments {
            let before = self.recording.recorded_ns.saturating_sub(self.recording.before_ns);
            format!(
                "{} of {} kept: the last {}, and {} before, around the longest polls",
                human(self.recording.recorded_ns),
                human(self.recording.end_ns),
                human(before),
                count(self.recording.stretches_before as u64, "moment"),
            )
        } else {
            format!("{} recorded{window}", human(self.recording.recorded_ns))
        };
        parts.push(format!(
            "{name}{what}: {}, {}; {} kept{of_all}, {others}.",
            count(self.counts.tasks, "task"),
            count(self.counts.polls, "poll"),
            count(self.recording.events, "event"),
        ));
        if self.recording.lost.dropped_events > 0 && is_of_moments {
            parts.push(format!("{} dropped by design.", self.dropped("An")));
        } else if self.recording.lost.dropped_events > 0 {
            let kept = match self.recording.events {
                1 => "The last event is kept".to_owned(),
                n => format!("The last {n} events are kept"),
            };
            parts.push(format!("{kept}; {} dropped by design.", self.dropped("an")));
        }
        if self.recording.gaps > 0 {
            parts.push(format!(
                "Recording was stopped for {} in {}.",
                human((self.recording.end_ns - self.recording.recent_ns).saturating_sub(
                    self.recording.recorded_ns.saturating_sub(self.recording.before_ns)
                ),),
                count(self.recording.gaps as u64, "gap"),
            ));
        }
    }

    /// Describes the number of dropped events; a single one gets this article.
    fn dropped(&self, article: &str) -> String {
        match self.recording.lost.dropped_events {
            1 => format!("{article} older event was"),
            n => format!("{n} older events were"),
        }
    }

    /// Lists each worker's shares: one per line for up to four workers, otherwise two.
    fn workers_lines(&self) -> Vec<String> {
        let (listed, more) = self.workers.split_at(self.workers.len().min(WORKERS));
        let (mut cells, mut widest) = (Vec::new(), 0);
        for worker in listed {
            let cell = worker_cell(worker);
            widest = width(&cell).max(widest);
            cells.push(cell);
        }
        let fits = widest * 2 + 2 <= COLUMNS;
        let columns = if cells.len() > 4 && fits { 2 } else { 1 };
        let mut lines = Vec::new();
        for cells in cells.chunks(columns) {
            let mut line = String::new();
            for cell in cells {
                line += &pad_right(cell, widest + 2);
            }
            lines.push(line.trim_end().to_owned());
        }
        let mut range: Option<(f64, f64)> = None;
        for worker in more {
            if let Some(share) = worker.running_share() {
                let (least, most) = range.unwrap_or((share, share));
                range = Some((least.min(share), most.max(share)));
            }
        }
        if let (Some(all), Some((least, most))) = (busy_share(more), range) {
            lines.push(format!(
                "… and {} more: running {} ({} to {})",
                more.len(),
                percent(all),
                percent(least),
                percent(most),
            ));
        }
        lines
    }

    fn location_lines(&self, room: usize) -> Vec<String> {
        if self.locations.is_empty() {
            return Vec::new();
        }
        let room = room.saturating_sub(LOCATIONS_REST).clamp(*LOCATIONS.start(), *LOCATIONS.end());
        let mut rows: Vec<_> = self.locations.iter().take(room).collect();
        // Polls off the workers are ranked last, but must not be missing.
        let off_worker = |row: &&LocationRow| row.off_worker_ns > 0;
        let hidden = self.locations.iter().skip(room).find(off_worker);
        if let (Some(row), Some(last)) = (hidden, rows.last_mut()) {
            *last = row;
        }
        let heads = ["spawned at", "tasks", "polls", "total", "longest", "p50", "p99", "latency"];
        let mut cells = Vec::new();
        for row in &rows {
            add_location(row, &mut cells);
        }
        // It isn't known what the machine took of polls that aren't kept.
        let title = match self.recording.detail_ns {
            Some(_) => {
                "Spawn locations, by wall time (latency: the longest time from wake to poll):"
            }
            None => {
                "Spawn locations (total: wall time; latency: the longest time from wake to poll):"
            }
        };
        let mut lines = vec![String::new(), title.to_owned()];
        let kept = if self.recording.detail_ns.is_some() { " of those kept in detail" } else { "" };
        let mut table = table(&heads, &cells, true).into_iter();
        lines.extend(table.next());
        for (row, line) in rows.iter().zip(table) {
            lines.push(line);
            if let Some(runs) = self.runs.iter().find(|runs| runs.place == row.place) {
                let text = format!("  ran {runs}{kept}");
                match width(&text) <= COLUMNS {
                    true => lines.push(text),
                    false => lines.extend(wrap(text.trim_start())),
                }
            }
        }
        let more = self.locations.len() - rows.len();
        if more > 0 {
            lines.push(format!("… and {} more", count(more as u64, "location")));
        }
        if rows.iter().any(off_worker) {
            lines.push(
                "* includes polls on threads that aren't workers: these held no worker".to_owned(),
            );
        }
        lines
    }

    fn longest_lines(&self) -> Vec<String> {
        if self.longest_polls.is_empty() {
            return Vec::new();
        }
        let heads = ["where, or spawned at", "at", "length", "wall time", "worker", "delayed"];
        let mut cells = Vec::new();
        for poll in &self.longest_polls {
            let least = if poll.is_running || poll.is_cut { ">" } else { "" };
            cells.push(poll.frame.as_ref().map_or_else(|| poll.place.to_string(), function_name));
            cells.push(moment(poll.start_ns));
            cells.push(format!("{least}{}", human(poll.own_ns)));
            cells.push(format!("{least}{}", human(poll.length_ns)));
            cells.push(poll.worker.map_or_else(|| "-".to_owned(), |w| format!("worker-{w}")));
            cells.push(if poll.is_kept { delayed(poll.delay) } else { NOT_KEPT.to_owned() });
        }
        // The wall time is only shown if it differs from the length.
        let table = if cells.chunks(heads.len()).any(|cells| cells[2] != cells[3]) {
            table(&heads, &cells, false)
        } else {
            let [name, at, length, _, worker, delayed] = heads;
            let mut without = Vec::new();
            for (nth, cell) in cells.into_iter().enumerate() {
                if nth % heads.len() != 3 {
                    without.push(cell);
                }
            }
            table(&[name, at, length, worker, delayed], &without, false)
        };
        let mut lines = vec![
            String::new(),
            "The longest polls (delayed: how long others waited meanwhile, in sum):".to_owned(),
        ];
        lines.extend(table);
        if self.longest_polls.iter().any(|poll| !poll.is_kept) {
            lines.push(format!("{NOT_KEPT}: what the poll did, and who waited, was dropped"));
        }
        lines
    }
}

/// Formats how long others were delayed in sum; `?` if that isn't known.
pub(super) fn delayed(delay: Delay) -> String {
    match (delay.waited_ns, delay.total_ns()) {
        (None, 0) => "?".to_owned(),
        (_, total_ns) => human(total_ns),
    }
}

fn worker_cell(worker: &WorkerShare) -> String {
    let name = format!("worker-{}", worker.index);
    match worker.running_share() {
        Some(running) => format!(
            "{name:<9} running {:>6}, parked {:>6}",
            percent(running),
            percent(1.0 - running),
        ),
        None => format!("{name:<9} no time recorded"),
    }
}

fn add_location(row: &LocationRow, cells: &mut Vec<String>) {
    let off_worker = if row.off_worker_ns > 0 { "*" } else { "" };
    let time = |ns| {
        if row.polls == 0 { "-".to_owned() } else { human(ns) }
    };
    cells.push(row.place.to_string());
    cells.push(row.tasks.to_string());
    cells.push(row.polls.to_string());
    let held_ns = row.held_ns.saturating_add(row.off_worker_ns);
    cells.push(format!("{off_worker}{}", human(held_ns)));
    cells.push(time(row.longest_ns));
    cells.push(time(row.p50_ns));
    cells.push(time(row.p99_ns));
    cells.push(row.longest_ready_ns.map_or_else(|| "-".to_owned(), human));
}
