//! What the html page and the SVG draw: sections of groups of lanes of rows.
//!
//! A [`Picture`] is a view of a [`Timeline`], or of statemap data that was read. It holds the
//! arrangement only (a few bytes a row); what happens in a row is asked of its source when it is
//! drawn, so that a picture of ten million polls needs hardly any memory of its own.

mod awaits;
#[cfg(test)]
mod awaits_tests;
mod bins;
#[cfg(feature = "read")]
mod data;
#[cfg(all(test, feature = "read"))]
mod data_tests;
mod excerpts;
mod issues;
#[cfg(feature = "read")]
mod merge;
mod notes;
mod once;
mod origin;
mod pack;
mod seen;
mod source;
mod state;
mod tasks;
#[cfg(test)]
pub(crate) mod tests;
mod threads;
#[cfg(all(feature = "read", feature = "html"))]
mod versions;
mod whole_run;
#[cfg(test)]
mod whole_run_tests;
mod why;
#[cfg(test)]
pub(crate) mod why_tests;

use std::fmt;
use std::ops::{Deref, Range};
use std::time::Duration;

use crate::analysis::Report;
use crate::statemap::Labels;
use crate::trace::event::SpawnLocation;
use crate::trace::profile::Profile;
use crate::trace::timeline::Timeline;
use crate::util::quantity::moment;

pub(crate) use awaits::Awaits;
#[cfg(feature = "html")]
pub(crate) use awaits::{AwaitLine, AwaitPlace, StillHere};
#[cfg(feature = "html")]
pub(crate) use bins::Bins;
#[cfg(all(feature = "html", feature = "read"))]
pub(crate) use data::is_shown;
pub(crate) use excerpts::Excerpts;
pub use excerpts::SourceFiles;
pub(crate) use issues::Told;
pub(crate) use origin::{Origin, OriginOf};
pub(crate) use pack::pack;
pub(crate) use seen::{PointsAt, Seen};
pub(crate) use source::{Source, Transition};
pub(crate) use state::{Role, RowState};
#[cfg(feature = "html")]
pub(crate) use whole_run::PlaceSums;
pub(crate) use whole_run::WholeRun;
pub(crate) use why::Why;
#[cfg(feature = "html")]
pub(crate) use why::WhyCulprit;

/// What the html page and the SVG draw.
///
/// # Examples
///
/// ```
/// use tokio_statemap::picture::Picture;
/// use tokio_statemap::statemap::Labels;
/// use tokio_statemap::{Timeline, svg};
///
/// fn draw(timeline: &Timeline) -> std::io::Result<()> {
///     let labels = Labels { title: "http".to_owned(), host: None };
///     svg::write(&Picture::of_timeline(timeline, &labels), std::io::stdout().lock())
/// }
/// ```
pub struct Picture<'a> {
    /// What it is called.
    pub(crate) title: String,
    /// The host that it is from.
    pub(crate) host: Option<String>,
    /// The name of the runtime.
    pub(crate) runtime: Option<String>,
    /// UTC at its left edge, since the Unix epoch.
    pub(crate) start: Duration,
    /// How long it is, in ns: all times of a picture count from its left edge.
    pub(crate) length_ns: u64,
    /// When the left edge is, as the report has its times, in ns: not 0 where nothing is known of what was before.
    pub(crate) origin_ns: u64,
    /// From when on a poll is called long, in ns; of several runs the least, see [`Self::long_poll_ns_of`].
    pub(crate) long_poll_ns: u64,
    /// Whether it is known when tasks became ready.
    pub(crate) is_ready_known: bool,
    /// Whether tasks are known at all.
    pub(crate) are_tasks_known: bool,
    /// The verdict of the report.
    pub(crate) verdict: Option<String>,
    /// What it lacks: a short sentence each.
    pub(crate) notes: Vec<String>,
    /// Whether it is of a part of the run, without sums of the rest: the first note says of which.
    pub(crate) is_cut: bool,
    /// The periods of which no event is kept: recording was stopped, or they were dropped. From, to, in ns.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// The sums of the whole run; `None` if all of it is kept in detail, or they aren't known.
    pub(crate) whole_run: Option<WholeRun>,
    /// The source of what it names; `None` if none was read.
    pub(crate) excerpts: Option<Excerpts>,
    /// What is drawn, from top to bottom.
    pub(crate) sections: Vec<Section<'a>>,
    /// What they were made from.
    pub(crate) origins: Vec<Origin<'a>>,
}

/// Rows that share a set of states.
pub(crate) struct Section<'a> {
    pub(crate) title: String,
    pub(crate) kind: SectionKind,
    pub(crate) states: Vec<RowState>,
    pub(crate) groups: Vec<Group>,
    /// The rows as they are drawn: indices into the source, group by group, lane by lane and by
    /// time.
    pub(crate) rows: Vec<u32>,
    /// Where in `rows` each lane begins, and behind the last one where it ends.
    pub(crate) lanes: Vec<u32>,
    /// The tags that transitions bear.
    pub(crate) tags: Vec<Tag>,
    /// What happened without changing a state.
    pub(crate) events: Vec<RowEvent>,
    /// Why its polls took long; `None` where there are none, or nobody looked.
    pub(crate) why: Option<Why>,
    /// The issues of its run, the worst first; `None` where nobody looked for any.
    pub(crate) issues: Option<Vec<Told>>,
    /// Where its tasks waited; `None` where there are none, or that isn't known.
    pub(crate) awaits: Option<Awaits>,
    /// What the calls of instrumented functions took in its run.
    pub(crate) profile: Option<Profile>,
    /// What it was made from, as an index into those of the picture.
    pub(crate) origin: usize,
    pub(crate) source: Box<dyn Source + 'a>,
}

/// What the rows of a section are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionKind {
    Workers,
    Blocking,
    Tasks,
    Other,
}

/// Rows that belong together: tasks of one spawn location.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) label: String,
    /// Where they were spawned.
    pub(crate) location: Option<SpawnLocation>,
    /// Its lanes, as indices into those of the section.
    pub(crate) lanes: Range<usize>,
}

/// What a tag of a state means.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) state: u32,
    pub(crate) tag: String,
    /// Whatever else is said of it: key, and value in JSON.
    pub(crate) fields: Vec<(String, String)>,
}

/// Something that happened to a row and changed no state.
#[derive(Clone, Debug)]
pub(crate) struct RowEvent {
    pub(crate) time_ns: u64,
    /// The row, as an index into the source.
    pub(crate) row: u32,
    pub(crate) event: String,
    pub(crate) target: Option<String>,
}

impl<'a> Picture<'a> {
    /// The picture of `timeline`, under `labels`.
    pub fn of_timeline(timeline: &'a Timeline, labels: &Labels) -> Self {
        Self::of_report(timeline, &timeline.report(), labels)
    }

    /// The same, for who has the report of it already.
    pub(crate) fn of_report(timeline: &'a Timeline, report: &Report, labels: &Labels) -> Self {
        Self::of(timeline, report, labels)
    }

    fn of<T>(timeline: T, report: &Report, labels: &Labels) -> Self
    where
        T: Deref<Target = Timeline> + Clone + Sync + 'a,
    {
        let mut tasks = tasks::section(timeline.clone(), report);
        let why = Why::of(&timeline, report);
        let whole_run = WholeRun::of(&timeline, report);
        let left_ns = whole_run::left_ns(&timeline);
        let cut = notes::cut(report, whole_run.is_some());
        let is_cut = cut.is_some();
        let mut notes: Vec<_> = cut.into_iter().collect();
        notes.extend(notes::of(report, whole_run.is_some()));
        notes.extend(why.note());
        tasks.issues = Some(Told::all(&timeline, report, &why));
        tasks.why = Some(why);
        tasks.awaits = Awaits::of(&timeline, report);
        if tasks.awaits.is_some() {
            tasks.tags = awaits::tags(&timeline);
        }
        tasks.profile = Some(&report.profile).filter(|of| !of.functions.is_empty()).cloned();
        // Where no task is kept, they are told beside what is.
        let apart = tasks.issues.take_if(|_| tasks.rows.is_empty());
        let sections =
            [threads::workers(timeline.clone()), threads::blocking(timeline.clone()), tasks];
        let origin = Origin {
            from_ns: timeline.begin_ns - left_ns,
            name: String::new(),
            of: OriginOf::Run { timeline: Box::new(timeline.clone()), labels: labels.clone() },
        };
        let sections = sections.into_iter().filter(|section| !section.rows.is_empty());
        let mut sections: Vec<_> = sections.collect();
        if let (Some(first), Some(issues)) = (sections.first_mut(), apart) {
            first.issues = Some(issues);
        }
        let from_left = |ns: u64| ns.saturating_sub(left_ns);
        let before = Some((left_ns, timeline.begin_ns)).filter(|(from, to)| from < to);
        let gaps = before.into_iter().chain(timeline.gaps.iter().copied());
        let gaps = gaps.map(|(from, to)| (from_left(from), from_left(to)));
        let gaps = match &whole_run {
            Some(run) => run.parted(gaps),
            None => gaps.collect(),
        };
        Self {
            title: labels.title.clone(),
            host: labels.host.clone(),
            runtime: timeline.runtime.clone(),
            start: timeline.utc_at_zero + Duration::from_nanos(left_ns),
            length_ns: timeline.end_ns - left_ns,
            origin_ns: left_ns,
            long_poll_ns: long_poll_ns(&timeline),
            is_ready_known: timeline.schedule_latency,
            are_tasks_known: timeline.task_hooks
                && timeline.trace_target.tracks_tasks()
                && !timeline.lacking.tasks,
            verdict: Some(report.verdict.to_string()),
            notes,
            is_cut,
            gaps,
            whole_run,
            excerpts: None,
            sections,
            origins: vec![origin],
        }
    }

    /// From when on a poll of this section is called long, in ns, as the report of its run has it.
    pub(crate) fn long_poll_ns_of(&self, section: &Section<'_>) -> u64 {
        let run = self.origins.get(section.origin).and_then(Origin::run);
        run.map_or(self.long_poll_ns, long_poll_ns)
    }

    /// What is to be said where times are shown as they count from the left edge, though the report has others.
    pub(crate) fn edge_note(&self) -> Option<String> {
        let begin = moment(self.origin_ns);
        (self.origin_ns >= 1_000_000)
            .then(|| format!("Times count from the left edge, which is at {begin} of the report."))
    }

    /// What it lacks, and that.
    pub(crate) fn notes_with_edge(&self) -> impl Iterator<Item = String> {
        self.edge_note().into_iter().chain(self.notes.iter().cloned())
    }

    /// The same under another title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        if let [only] = &mut self.origins[..] {
            only.rename(&self.title);
        }
        self
    }
}

/// From when on a poll of a run is long, in ns.
pub(crate) fn long_poll_ns(timeline: &Timeline) -> u64 {
    u64::try_from(timeline.long_poll.as_nanos()).unwrap_or(u64::MAX)
}

/// How much of a stretch of time lies outside of gaps: what a row did in a gap isn't known, though its
/// spans reach across. `gaps` are by time.
pub(crate) fn recorded_ns(gaps: &[(u64, u64)], from_ns: u64, to_ns: u64) -> u64 {
    let first = gaps.partition_point(|&(_, gap_end_ns)| gap_end_ns <= from_ns);
    let gaps = gaps[first..].iter().take_while(|&&(gap_ns, _)| gap_ns < to_ns);
    let in_gaps: u64 = gaps.map(|&(gap_ns, end_ns)| end_ns.min(to_ns) - gap_ns.max(from_ns)).sum();
    (to_ns - from_ns).saturating_sub(in_gaps)
}

impl Section<'_> {
    /// The rows of a lane, in the order of time, as indices into the source.
    pub(crate) fn lane(&self, lane: usize) -> &[u32] {
        &self.rows[self.lanes[lane] as usize..self.lanes[lane + 1] as usize]
    }

    /// The rows of a group, as indices into the source.
    pub(crate) fn group(&self, group: &Group) -> &[u32] {
        let (from, to) = (self.lanes[group.lanes.start], self.lanes[group.lanes.end]);
        &self.rows[from as usize..to as usize]
    }
}

impl Section<'_> {
    /// Where each row is drawn: its place in `rows`, by its index in the source.
    #[cfg(feature = "html")]
    pub(crate) fn places(&self) -> Vec<u32> {
        let rows = self.rows.iter().map(|&row| row as usize + 1).max().unwrap_or_default();
        let mut places = vec![0; rows];
        for (place, &row) in self.rows.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        places
    }

    /// What a state means, by its index.
    pub(crate) fn role_of(&self, state: u32) -> Role {
        self.states.get(state as usize).map_or(Role::Other, |state| state.role)
    }
}

impl fmt::Debug for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture")
            .field("title", &self.title)
            .field("start", &self.start)
            .field("length_ns", &self.length_ns)
            .field("notes", &self.notes)
            .field("sections", &self.sections)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Section<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section")
            .field("title", &self.title)
            .field("kind", &self.kind)
            .field("groups", &self.groups)
            .field("rows", &self.rows.len())
            .finish_non_exhaustive()
    }
}
