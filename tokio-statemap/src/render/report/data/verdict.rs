//! Who ran longest, in a few sentences.

use std::cmp::Reverse;

use super::scan::{is_cut, is_open};
use super::source_order;
use super::text::since_start;
use super::{DataReport, GroupTime, LONG_POLL_NS};
use crate::render::report::Verdict;
use crate::statemap::read::Statemap;
use crate::statemap::{Ours, is_root};
use crate::trace::state::TaskState;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_setting, human_sum, percent, share};

/// The verdict, and the label of the location that it names.
pub(super) fn of(file: &Statemap, report: &DataReport) -> (Option<String>, Option<String>) {
    match file.metadata.ours() {
        Some(Ours::Tasks { is_ready_known }) => {
            let (text, culprit) = tasks(file, report, is_ready_known);
            (Some(text), culprit)
        }
        Some(Ours::Workers) => (Some(workers(file, report)), None),
        None => (None, None),
    }
}

fn tasks(file: &Statemap, report: &DataReport, is_ready_known: bool) -> (String, Option<String>) {
    let over = human_setting(LONG_POLL_NS);
    let task_hooks = file.metadata.has_task_hooks();
    if !task_hooks || !file.metadata.is_recorded() {
        return (Verdict::TasksUnknown { busy_share: None, task_hooks }.to_string(), None);
    }
    if report.entities == 0 {
        return ("No task was recorded.".to_owned(), None);
    }
    let long = || report.groups.iter().filter(|group| group.long_spans > 0);
    // Of equals the first in the source.
    let worst = long()
        .filter(|group| !group.is_root)
        .max_by_key(|group| (group.long_spans_ns, Reverse(source_order(&group.label))));
    let root = long().find(|group| group.is_root);
    let part = if file.metadata.is_partial() { " in what was recorded" } else { "" };
    let mut text = match worst {
        None => format!("No poll of a spawned task took over {over}{part}."),
        Some(group) => {
            let others = long().filter(|group| !group.is_root).count() - 1;
            let is_known = group.label != "location unknown";
            let (subject, its) = match is_known {
                true => (&*group.label, "its"),
                false => ("Tasks of unknown spawn location", "their"),
            };
            let mut text = format!(
                "{subject}: {}{}",
                long_polls(group, its, &over),
                longest(file, group, is_ready_known)
            );
            match others {
                0 => {}
                1 => text.push_str(" Another location had such polls, too."),
                n => text.push_str(&format!(" {n} other locations had such polls, too.")),
            }
            text
        }
    };
    if let Some(root) = root {
        text.push_str(&format!(
            " Of {}, which holds a worker up on a current-thread runtime only, the longest poll took \
             {}.",
            root.label,
            human(root.longest_ns)
        ));
    }
    (text, worst.map(|group| group.label.clone()))
}

/// `14 of its 900 polls took over 1 ms, 358 ms in all.`
fn long_polls(group: &GroupTime, its: &str, over: &str) -> String {
    let sum = human_sum(group.long_spans_ns);
    match (group.long_spans, group.spans) {
        (1, 1) => format!("{its} only poll took over {over}."),
        (1, polls) => format!("one of {its} {polls} polls took over {over}."),
        (long, polls) if long == polls => {
            format!("all of {its} {polls} polls took over {over}, {sum} in all.")
        }
        (long, polls) => format!("{long} of {its} {polls} polls took over {over}, {sum} in all."),
    }
}

/// ` The longest took 25.6 ms, of task-7 at 0.731 s; 37 other tasks were ready meanwhile.`
fn longest(file: &Statemap, group: &GroupTime, is_ready_known: bool) -> String {
    let Some((start_ns, entity, at)) = group.longest_at else {
        return String::new();
    };
    let which = if group.long_spans == 1 { "It" } else { "The longest" };
    let end_ns = start_ns.saturating_add(group.longest_ns);
    let is_open = is_open(&file.entities[entity], at);
    let took = match (is_open, is_cut(at, file.entities[entity].data[at])) {
        (true, _) => "still ran at the end, after",
        (false, true) => "took at least",
        (false, false) => "took",
    };
    let name = clean(&file.entities[entity].name);
    let ready = match is_ready_known.then(|| peak_ready(file, entity, start_ns, end_ns)) {
        None => " (ready times were not recorded).".to_owned(),
        Some(0) => "; no other task was ready meanwhile.".to_owned(),
        Some(1) => "; one other task was ready meanwhile.".to_owned(),
        Some(n) => format!("; {n} other tasks were ready meanwhile."),
    };
    format!(
        " {which} {took} {}, of {name} at {}{ready}",
        human(group.longest_ns),
        since_start(start_ns, file.end_ns)
    )
}

/// How many tasks, `except` not among them, were ready at the same moment from `start_ns` to
/// `end_ns`, at most.
fn peak_ready(file: &Statemap, except: usize, start_ns: u64, end_ns: u64) -> u64 {
    let is = |state: u32, task: TaskState| state == u32::from(task.value());
    // When one more task was ready, and when one less.
    let mut steps: Vec<(u64, i64)> = Vec::new();
    for (_, entity) in file.entities.iter().enumerate().filter(|&(index, _)| index != except) {
        let first = entity.data.partition_point(|datum| datum.time_ns <= start_ns).max(1) - 1;
        for (at, datum) in entity.data.iter().enumerate().skip(first) {
            if datum.time_ns >= end_ns {
                break;
            }
            let next = entity.data.get(at + 1).map_or(file.end_ns, |next| next.time_ns);
            let is_waiting_for_worker = is(datum.state, TaskState::Ready)
                || is(datum.state, TaskState::Spawned) && !is_root(&entity.name);
            let (from, to) = (datum.time_ns.max(start_ns), next.min(end_ns));
            if is_waiting_for_worker && from < to {
                steps.extend([(from, 1), (to, -1)]);
            }
        }
    }
    // At the same time those that are served go first: they don't meet those that come.
    steps.sort_unstable();
    let mut ready = 0_i64;
    let counts = steps.iter().map(|(_, step)| {
        ready += step;
        ready
    });
    counts.max().unwrap_or_default().unsigned_abs()
}

fn workers(file: &Statemap, report: &DataReport) -> String {
    let live = report.states.iter().filter(|state| !state.is_end);
    let time: u128 = live.map(|state| state.total_ns).sum();
    let running = report.states.first().map_or(0, |state| state.total_ns);
    let (who, were) = match report.entities {
        1 => ("worker".to_owned(), "was"),
        n => (count(n, "worker"), "were"),
    };
    match share(running, time) {
        None => "No worker was recorded.".to_owned(),
        Some(_) if file.metadata.has_gaps() => {
            format!("How busy the {who} {were} isn't known: recording was stopped in between.")
        }
        Some(busy) => format!("The {who} {were} busy {} of the time.", percent(busy)),
    }
}

#[cfg(test)]
mod tests {
    use crate::statemap::read::read;

    const STATES: &str = r##""states":{"spawned":{"value":0},"running":{"value":1},"waiting":{"value":2},"completed":{"value":3},"ready":{"value":4}},"entityKind":"Task"}"##;

    fn verdict(remarks: &str, records: &[(u64, &str, u32)]) -> String {
        let mut data =
            format!("{{\"start\":[0,0],\"title\":\"api: Tokio tasks{remarks}\",{STATES}\n");
        for (time, entity, state) in records {
            data += &format!("{{\"time\":\"{time}\",\"entity\":\"{entity}\",\"state\":{state}}}\n");
        }
        read(data.as_bytes()).unwrap().report().verdict.unwrap()
    }

    #[test]
    fn what_was_not_recorded_is_not_said_to_be_well() {
        let short = [(0, "task-1", 0), (5, "task-1", 1), (9, "task-1", 2)];
        let none = "No poll of a spawned task took over 1 ms";
        assert_eq!(verdict("", &short), format!("{none}."));
        assert_eq!(
            verdict(" (7 events lost: max_events, oldest dropped)", &short),
            format!("{none}.")
        );
        for lost in ["max_events", "max_events, oldest dropped; emitted from within a hook"] {
            let said = verdict(&format!(" (7 events lost: {lost})"), &short);
            assert_eq!(said, format!("{none} in what was recorded."));
        }
        assert_eq!(
            verdict(" (workers only)", &[(0, "main", 1), (9, "main", 1)]),
            "Which task held the runtime isn't known: Tokio's task hooks need --cfg tokio_unstable."
        );
        assert_eq!(
            verdict(" (not recorded)", &[]),
            "Which task held the runtime isn't known: tasks were not recorded."
        );
        assert_eq!(verdict("", &[]), "No task was recorded.");
    }

    #[test]
    fn a_poll_that_was_there_before_may_have_been_longer() {
        let cut =
            verdict("", &[(0, "task-1", 1), (2_000_000, "task-1", 2), (9_000_000, "task-1", 2)]);
        assert!(cut.contains(" It took at least 2.00 ms, of task-1 at 0 ns;"), "{cut}");
        let open = verdict("", &[(5, "task-1", 0), (10, "task-1", 1), (9_000_000, "task-1", 1)]);
        assert!(open.contains(" It still ran at the end, after 9.00 ms, of task-1"), "{open}");
    }

    #[test]
    fn who_was_spawned_is_ready() {
        let records = [
            (0, "task-1", 0),
            (10, "task-1", 1),
            (20, "main", 0),
            (500_000, "task-2", 0),
            (1_000_000, "task-3", 0),
            (3_000_000, "task-1", 2),
            (4_000_000, "task-2", 1),
            (5_000_000, "task-2", 3),
            (9_000_000, "task-1", 2),
        ];
        assert!(verdict("", &records).ends_with("; 2 other tasks were ready meanwhile."));
    }
}
