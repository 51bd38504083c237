//! What a picture of data lacks, said in it.

use crate::report::{human, moment};
use crate::state::TaskState;
use crate::statemap::read::Statemap;
use crate::statemap::{Alignment, Ours};

/// What the titles of our own data say in brackets, behind what the entities are.
fn remarks(file: &Statemap) -> Vec<&str> {
    let Some((_, rest)) = file.metadata.title.rsplit_once(": Tokio ") else {
        return Vec::new();
    };
    match file.metadata.ours() {
        Some(_) => rest
            .split(" (")
            .skip(1)
            .map(|remark| remark.strip_suffix(')').unwrap_or(remark))
            .collect(),
        None => Vec::new(),
    }
}

/// Whether a file of tasks has them.
pub(super) fn are_tasks_known(file: &Statemap) -> bool {
    !remarks(file).iter().any(|&remark| matches!(remark, "workers only" | "not recorded"))
}

/// What the picture lacks: a short sentence each.
pub(super) fn of(files: &[Statemap], alignment: &Alignment) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut say = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    if alignment.is_forced {
        say("The files are from different times: each begins at the left edge.".to_owned());
    }
    for file in files {
        if let Some((begin_ns, length_ns)) = file.window {
            let (from, length) = (moment(begin_ns), human(length_ns));
            say(format!("A part of the data: {length}, from {from} on."));
        }
        let ours = file.metadata.ours();
        for remark in remarks(file) {
            say(match (remark, ours) {
                ("workers only", _) => {
                    "Workers only: task hooks need --cfg tokio_unstable.".to_owned()
                }
                ("not recorded", Some(Ours::Tasks { .. })) => {
                    "Workers only: tasks were not recorded.".to_owned()
                }
                ("not recorded", _) => {
                    "Workers were not recorded: their shares aren't known.".to_owned()
                }
                ("1 gap", _) => "One gap in the recording.".to_owned(),
                (remark, _) if remark.ends_with(" gaps") => format!("{remark} in the recording."),
                (remark, _) => format!("{remark}."),
            });
        }
        if let Some(Ours::Tasks { is_ready_known }) = ours {
            tasks(file, is_ready_known, &mut say);
        }
    }
    for (file, shift_ns) in files.iter().zip(&alignment.shifts_ns) {
        let end_ns = shift_ns + file.end_ns;
        let is_over = super::section::is_over_early(file, *shift_ns, alignment.length_ns);
        if is_over && file.has_data() {
            say(format!("{} ends at {}.", super::stem(file), moment(end_ns)));
        }
    }
    let undefined = files.iter().flat_map(|file| &file.tags).filter(|tag| !tag.is_defined).count();
    match undefined {
        0 => {}
        1 => say("One tag is used but not defined.".to_owned()),
        n => say(format!("{n} tags are used but not defined.")),
    }
    let has_data = |file: &Statemap, entity: usize| !file.entities[entity].data.is_empty();
    let hidden = |file: &Statemap, is_of_row: bool| {
        let events = file.events.iter().filter(|event| !super::section::is_shown(file, event));
        events.filter(|event| has_data(file, event.entity) == is_of_row).count()
    };
    match files.iter().map(|file| hidden(file, true)).sum() {
        0_usize => {}
        1 => say("One event is after the last change of state, and isn't shown.".to_owned()),
        n => say(format!("{n} events are after the last change of state, and aren't shown.")),
    }
    match files.iter().map(|file| hidden(file, false)).sum::<usize>() {
        0 => {}
        1 => say("One event is of an entity without any state, and isn't shown.".to_owned()),
        n => say(format!("{n} events are of entities without any state, and aren't shown.")),
    }
    notes
}

fn tasks(file: &Statemap, is_ready_known: bool, say: &mut impl FnMut(String)) {
    let states = file.entities.iter().filter_map(|entity| entity.data.last());
    let states: Vec<u32> = states.map(|datum| datum.state).collect();
    if states.is_empty() {
        return;
    }
    say("Drawn from data: which worker ran a poll isn't known.".to_owned());
    if !is_ready_known {
        say("Ready times were not recorded (schedule_latency is off).".to_owned());
    }
    let is = |state: TaskState| u32::from(state.value());
    match states.iter().filter(|&&state| state == is(TaskState::Running)).count() {
        0 => {}
        1 => say("One poll still ran at the end.".to_owned()),
        n => say(format!("{n} polls still ran at the end.")),
    }
    match states.iter().filter(|&&state| state != is(TaskState::Completed)).count() {
        0 => {}
        1 => say("One task still lived at the end.".to_owned()),
        n => say(format!("{n} tasks still lived at the end.")),
    }
}
