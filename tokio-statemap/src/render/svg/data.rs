//! What the picture's script knows besides what is drawn.

use super::rows::DrawnRows;
use super::survey::{SectionSurvey, Survey};
use super::text::display;
use crate::analysis::headline;
use crate::analysis::picture::{Picture, RowState, Section};
use crate::util::json::{Raw, array, object};

/// How many groups of a section are told one by one; the others in sum.
const GROUPS: usize = 200;

/// How many of its tags are told.
const TAGS: usize = 200;

/// As JSON. Sums of times are strings, as a script's numbers have but 53 bits.
pub(super) fn of(picture: &Picture<'_>, survey: &Survey, rows: &DrawnRows) -> String {
    let sections = picture.sections.iter().zip(&survey.sections);
    let worst = survey.worst.map(|worst| {
        let text = super::body::worst_text(picture, &worst);
        object([("held", &worst.held_ns), ("start", &worst.start_ns), ("text", &text)])
    });
    let verdict = picture.verdict.as_deref().map(|text| {
        let (headline, rest) = headline::split(text);
        (display(headline, 600), display(rest, 600))
    });
    let data = object([
        ("columns", &rows.scale.columns),
        ("detail", &picture.whole_run.as_ref().map(|run| display(&run.detail, 300))),
        ("gaps", &array(picture.gaps.iter().take(super::body::GAPS))),
        ("length", &picture.length_ns),
        ("long", &picture.long_poll_ns),
        ("notes", &array(picture.notes_with_edge().take(12).map(|text| display(&text, 300)))),
        ("sections", &array(sections.map(|(section, survey)| section_of(section, survey)))),
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
        object([("end", &state.role.is_end()), ("name", &display(&state.name, 60))])
    };
    object([
        ("groups", &groups),
        ("noun", &super::layout::noun(section.kind)),
        ("states", &array(section.states.iter().map(state))),
        ("tags", &array(tags_of(section, survey))),
        ("title", &display(&section.title, 80)),
    ])
}

/// The tags that rows bore longest: state, tag, ns.
fn tags_of(
    section: &Section<'_>,
    survey: &SectionSurvey,
) -> impl Iterator<Item = (u32, String, String)> {
    let mut tags: Vec<_> = section.tags.iter().zip(&survey.tags).collect();
    tags.sort_by_key(|&(_, &total)| std::cmp::Reverse(total));
    let told = tags.into_iter().take(TAGS).filter(|&(_, &total)| total > 0);
    told.map(|(tag, total)| (tag.state, display(&tag.tag, 120), total.to_string()))
}

fn entry(label: String, rows: usize, totals: &[u128]) -> (String, usize, Vec<String>) {
    (label, rows, totals.iter().map(u128::to_string).collect())
}
