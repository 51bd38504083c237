//! What the picture's script knows besides what is drawn.

use serde_json::{Value, json};

use super::rows::Rows;
use super::survey::{SectionSurvey, Survey};
use super::text::display;
use crate::picture::{Picture, Section};

/// How many groups of a section are told one by one; the others in sum.
const GROUPS: usize = 200;

/// How many of its tags are told.
const TAGS: usize = 200;

/// As JSON. Sums of times are strings, as a script's numbers have but 53 bits.
pub(super) fn of(picture: &Picture<'_>, survey: &Survey, rows: &Rows) -> String {
    let sections = picture.sections.iter().zip(&survey.sections);
    json!({
        "length": picture.length_ns,
        "long": picture.long_poll_ns,
        "columns": rows.scale.columns,
        "verdict": picture.verdict.as_deref().map(|text| display(text, 600)),
        "notes": picture.notes.iter().take(12).map(|text| display(text, 300)).collect::<Vec<_>>(),
        "worst": survey.worst.map(|worst| {
            json!({ "start": worst.start_ns, "held": worst.held_ns, "text": super::body::worst_text(picture, &worst) })
        }),
        "sections": sections.map(|(section, survey)| section_of(section, survey)).collect::<Vec<_>>(),
    })
    .to_string()
}

fn section_of(section: &Section<'_>, survey: &SectionSurvey) -> Value {
    let mut groups: Vec<Value> = Vec::new();
    for (group, totals) in section.groups.iter().zip(&survey.totals).take(GROUPS) {
        groups.push(entry(&display(&group.label, 120), section.group(group).len(), totals));
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
        groups.push(entry(&format!("{} others", others.len()), rows, &totals));
    }
    json!({
        "title": display(&section.title, 80),
        "noun": super::layout::noun(section.kind),
        "states": section.states.iter().map(|state| {
            json!({ "name": display(&state.name, 60), "end": state.role.is_end() })
        }).collect::<Vec<_>>(),
        "groups": groups,
        "tags": tags_of(section, survey),
    })
}

/// The tags that rows bore longest: state, tag, ns.
fn tags_of(section: &Section<'_>, survey: &SectionSurvey) -> Vec<Value> {
    let mut tags: Vec<_> = section.tags.iter().zip(&survey.tags).collect();
    tags.sort_by_key(|&(_, &total)| std::cmp::Reverse(total));
    let told = tags.into_iter().take(TAGS).filter(|&(_, &total)| total > 0);
    told.map(|(tag, total)| json!([tag.state, display(&tag.tag, 120), total.to_string()])).collect()
}

fn entry(label: &str, rows: usize, totals: &[u128]) -> Value {
    let totals: Vec<String> = totals.iter().map(u128::to_string).collect();
    json!([label, rows, totals])
}
