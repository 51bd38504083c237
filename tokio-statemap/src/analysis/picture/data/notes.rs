//! What a picture of data lacks, said in it.

use crate::render::report::DataReport;
use crate::statemap::read::Statemap;
use crate::statemap::{Alignment, Ours};
use crate::util::quantity::moment;

/// What the picture lacks: a short sentence each.
pub(super) fn of(
    files: &[Statemap],
    reports: &[Option<DataReport>],
    alignment: &Alignment,
) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut say = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    if alignment.is_forced {
        say("The files are from different times: each begins at the left edge.".to_owned());
    }
    for (file, report) in files.iter().zip(reports) {
        file.part().into_iter().for_each(&mut say);
        let ours = file.metadata.ours();
        for remark in file.metadata.remarks() {
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
        if let (Some(Ours::Tasks { is_ready_known }), Some(report)) = (ours, report) {
            tasks(report, is_ready_known, &mut say);
        }
    }
    for (file, shift_ns) in files.iter().zip(&alignment.shifts_ns) {
        let end_ns = shift_ns.saturating_add(file.end_ns);
        let is_over = super::section::is_over_early(file, *shift_ns, alignment.length_ns);
        if is_over && file.has_data() {
            say(format!("{} ends at {}.", file.metadata.stem(), moment(end_ns)));
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

fn tasks(report: &DataReport, is_ready_known: bool, say: &mut impl FnMut(String)) {
    if report.entities == 0 {
        return;
    }
    say("Drawn from data: which worker ran a poll isn't known.".to_owned());
    if !is_ready_known {
        say("Ready times were not recorded (schedule_latency is off).".to_owned());
    }
    match report.running_polls {
        0 => {}
        1 => say("One poll still ran at the end.".to_owned()),
        n => say(format!("{n} polls still ran at the end.")),
    }
    match report.live_tasks {
        0 => {}
        1 => say("One task still lived at the end.".to_owned()),
        n => say(format!("{n} tasks still lived at the end.")),
    }
}
