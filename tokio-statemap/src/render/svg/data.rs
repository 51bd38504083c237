//! The data of the script, beyond the drawing.

use super::rows::DrawnRows;
use super::survey::{SectionSurvey, Survey};
use super::text::display;
use crate::analysis::picture::{Picture, RowState, Section};
use crate::util::json::{Raw, array, object};

/// The largest number of groups of a section that are listed; the others are summed.
const GROUPS: usize = 200;

/// The largest number of tags of a section that are listed.
const TAGS: usize = 200;

/// Returns the data as JSON. Sums of times are strings, because numbers in a script have only 53 bits.
pub(super) fn script_data(picture: &Picture<'_>, survey: &Survey, rows: &DrawnRows) -> String {
    let sections = picture.sections.iter().zip(&survey.sections);
    let sections: Vec<_> = sections.map(|(section, survey)| section_of(section, survey)).collect();
    let notes = picture.notes_with_edge().take(12).map(|text| display(&text, 300));
    let gaps = &picture.gaps[..picture.gaps.len().min(super::plan::GAPS)];
    let worst = survey.worst.map(|worst| {
        let text = super::body::worst_text(picture, &worst);
        object(&[("held", &worst.held_ns), ("start", &worst.start_ns), ("text", &text)])
    });
    let verdict = picture.verdict.as_ref();
    let verdict = verdict.map(|said| (display(&said.headline, 600), display(&said.details, 600)));
    let data = object(&[
        ("columns", &rows.scale.columns),
        ("detail", &picture.whole_run.as_ref().map(|run| display(&run.detail.join(" "), 300))),
        ("gaps", &gaps),
        ("length", &picture.length_ns),
        ("long", &picture.long_poll_ns),
        ("notes", &notes.collect::<Vec<_>>()),
        ("sections", &sections),
        ("verdict", &verdict),
        ("worst", &worst),
    ]);
    data.into_string()
}

fn section_of(section: &Section<'_>, survey: &SectionSurvey) -> Raw {
    let mut groups = Vec::new();
    for (group, totals) in section.groups.iter().zip(&survey.totals).take(GROUPS) {
        groups.push(entry(display(&group.label, 120), section.group(group).len(), totals));
    }
    if section.groups.len() > GROUPS {
        let others = &section.groups[GROUPS..];
        let rows = others.iter().map(|group| section.group(group).len()).sum();
        let mut totals = vec![0; section.states.len()];
        for group in &survey.totals[GROUPS..] {
            for (sum, total) in totals.iter_mut().zip(group) {
                *sum += total;
            }
        }
        groups.push(entry(format!("{} others", others.len()), rows, &totals));
    }
    let state = |state: &RowState| {
        object(&[("end", &state.role.is_end()), ("name", &display(&state.name, 60))])
    };
    object(&[
        ("groups", &groups),
        ("noun", &super::layout::noun(section.kind)),
        ("states", &array(&section.states, state)),
        ("tags", &longest_tags(section, survey)),
        ("title", &display(&section.title, 80)),
    ])
}

/// Returns the tags with the longest times: state, tag, time in ns.
fn longest_tags(section: &Section<'_>, survey: &SectionSurvey) -> Vec<(u32, String, String)> {
    let mut tags: Vec<_> =
        section.tags.iter().zip(&survey.tags).filter(|&(_, &total)| total > 0).collect();
    tags.sort_by_key(|&(_, &total)| std::cmp::Reverse(total));
    let longest = tags.into_iter().take(TAGS);
    longest.map(|(tag, total)| (tag.state, display(&tag.tag, 120), total.to_string())).collect()
}

fn entry(label: String, rows: usize, totals: &[u128]) -> (String, usize, Vec<String>) {
    (label, rows, totals.iter().map(u128::to_string).collect())
}
