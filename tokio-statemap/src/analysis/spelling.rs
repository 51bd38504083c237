//! Tells spawn locations of a run apart whose paths would look the same, such as those of two revisions of a
//! repository, or of a package in two registries.

use super::place::Place;
use crate::trace::timeline::{Task, Timeline};
use crate::util::map::Map;
use crate::util::source_path::levels;

/// The number of parts that a run's outputs show of each path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// The [levels] of files. The map is nearly always empty.
    levels: Map<&'static str, u8>,
}

impl Spelling {
    /// Returns the spelling of a run with these spawn locations.
    pub(crate) fn from_places(places: &mut dyn Iterator<Item = Place>) -> Self {
        Self { levels: levels(places.filter_map(|place| Some(place.location?.file))) }
    }

    /// Returns the spelling of a run whose report isn't at hand.
    pub(super) fn from_timeline(timeline: &Timeline) -> Self {
        let mut tasks = timeline.tasks.seen().iter();
        let mut sums = timeline.whole_run().map_or(&[][..], |sums| &sums.locations).iter();
        Self::from_places(&mut std::iter::from_fn(|| {
            if let Some(task) = tasks.next() {
                return Some(Place::of_task(task));
            }
            let location = sums.next()?;
            Some(Place::new(location.location, location.is_root))
        }))
    }

    /// Returns the place as the run's outputs show it.
    #[inline(never)]
    pub(crate) fn spell(&self, mut place: Place) -> Place {
        if let Some(location) = place.location {
            place.level = *self.levels.get(location.file).unwrap_or(&0);
        }
        place
    }

    /// Returns the origin of a task as the run's outputs show it.
    #[inline(never)]
    pub(crate) fn place(&self, task: &Task) -> Place {
        self.spell(Place::of_task(task))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::analysis::picture::Picture;
    use crate::analysis::picture::tests::{below, timeline};
    use crate::statemap::Labels;
    use crate::trace::event::SpawnLocation;

    const ROOTS: [&str; 6] = [
        "/root/.cargo/registry/src/index.crates.io-1/axum-0.8.9/",
        "/root/.cargo/registry/src/mirror-2/axum-0.8.9/",
        "/root/.cargo/git/checkouts/axum-0c9c/ab12/",
        "/root/.cargo/git/checkouts/axum-0c9c/cd34/",
        "axum/",
        "",
    ];

    #[test]
    fn no_two_locations_of_a_run_look_alike() {
        for seed in 1..60 {
            let mut seed = seed;
            let mut timeline = timeline(60, seed);
            for task in &mut timeline.tasks {
                let root = ROOTS[below(&mut seed, ROOTS.len() as u64) as usize];
                let name = ["src/lib.rs", "src/serve/mod.rs"][below(&mut seed, 2) as usize];
                let file: &'static str = Box::leak(format!("{root}{name}").into_boxed_str());
                let (line, column) =
                    (1 + below(&mut seed, 2) as u32, 1 + below(&mut seed, 2) as u32);
                task.location = Some(SpawnLocation { file, line, column });
            }
            let report = timeline.report();
            let places: HashSet<_> = report.locations.iter().map(|row| row.place).collect();
            let told: HashSet<_> = places.iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), places.len(), "{told:?}");
            for place in &places {
                let SpawnLocation { file, line, column } = place.location.unwrap();
                let name = file.rsplit('/').next().unwrap();
                let end = format!("{name}:{line}:{column}");
                let said = place.to_string();
                assert!(said.trim_end_matches(" (main)").ends_with(&end), "{said}");
                assert!(!said.contains("/registry/src/") && !said.starts_with('/'), "{said}");
            }
            // All outputs show the same paths.
            let of_culprits = report.blame.culprits.iter().map(|culprit| culprit.place);
            let of_polls = report.longest_polls.iter().map(|poll| poll.place);
            for place in of_culprits.chain(of_polls) {
                assert_eq!(place.to_string(), places.get(&place).unwrap().to_string());
            }
            // Outputs that start from tasks do so, too: exports, limits, comparisons.
            let of_run = super::Spelling::from_timeline(&timeline);
            for task in timeline.tasks.iter() {
                let place = report.place_of(task);
                assert_eq!(place.to_string(), places.get(&place).unwrap().to_string());
                assert_eq!(of_run.place(task).to_string(), place.to_string());
            }
            let labels = Labels { title: "x".to_owned(), host: None };
            let picture = Picture::of_timeline(&timeline, &labels);
            let groups = picture.sections.iter().flat_map(|section| &section.groups);
            for group in groups.filter(|group| group.location.is_some()) {
                assert!(told.contains(&group.label), "{}", group.label);
            }
        }
    }

    #[test]
    fn the_verdict_says_which_of_two() {
        let (mut timeline, _) = crate::analysis::picture::why_tests::explained("f");
        timeline.long_polls.samples.clear();
        timeline.long_polls.sampling = Default::default();
        let files = ["/root/.cargo/git/checkouts/axum-0c9c/ab12/src/a.rs", "axum/src/a.rs"];
        for (task, file) in timeline.tasks.iter_mut().zip(files.iter().cycle()) {
            task.location = Some(SpawnLocation { file, line: 1, column: 1 });
        }
        let report = timeline.report();
        let said = report.verdict.to_string();
        let named = report.blame.culprits[0].place.to_string();
        assert!(said.starts_with(&named) || said.contains(&format!(" {named}")), "{said}");
        assert!(
            report.locations.iter().any(|row| row.place.to_string().starts_with("axum-0c9c/ab12/"))
        );
    }
}
