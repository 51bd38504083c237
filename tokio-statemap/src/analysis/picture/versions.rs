//! The picture of two versions of a program, one above the other.

use std::sync::Arc;

use super::Picture;
use super::merge::one_below_the_other;
use crate::analysis::compare::Comparison;
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

impl<'a> Picture<'a> {
    /// Makes the picture of runs of two versions of a program, those of the version before above those of the version
    /// after, on one scale of time. Each run begins at the left edge. The verdict and the notes are those of the
    /// comparison.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::Timeline;
    /// use tokio_statemap::compare::compare;
    /// use tokio_statemap::picture::Picture;
    /// use tokio_statemap::statemap::Labels;
    ///
    /// fn draw(before: Timeline, after: Timeline) -> Picture<'static> {
    ///     let comparison = compare(&[&before], &[&after]);
    ///     let labels = Labels { title: "shop".to_owned(), host: None };
    ///     Picture::of_versions(vec![before], vec![after], &comparison, &labels)
    /// }
    /// ```
    pub fn of_versions(
        before: Vec<Timeline>,
        after: Vec<Timeline>,
        comparison: &Comparison,
        labels: &Labels,
    ) -> Self {
        let (mut pictures, mut parts) = (Vec::new(), Vec::new());
        for (when, timelines) in [("before", before), ("after", after)] {
            let is_one = timelines.len() == 1;
            for (index, timeline) in timelines.into_iter().enumerate() {
                // There is little room for titles of sections.
                let (title, part) = match is_one {
                    true => (format!("the run {when}"), when.to_owned()),
                    false => {
                        let run = format!("run {} {when}", index + 1);
                        (run.clone(), format!("of {run}"))
                    }
                };
                parts.push(part);
                let report = timeline.report();
                pictures.push(Self::of_run(
                    Arc::new(timeline),
                    &report,
                    &Labels { title, host: None },
                ));
            }
        }
        let mut picture = one_below_the_other(pictures, &parts);
        picture.title = match &*labels.title {
            "" => "Before and after".to_owned(),
            title => format!("{title}: before and after"),
        };
        picture.host.clone_from(&labels.host);
        // The verdicts on single runs don't matter here.
        picture.verdict = Some(comparison.statement());
        let mut notes = comparison.sentences();
        notes.extend(comparison.remarks());
        notes.append(&mut picture.notes);
        picture.notes = notes;
        picture
    }
}
