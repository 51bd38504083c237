//! The picture that the html page and the SVG draw. It has sections, which have groups of lanes, which have rows.
//!
//! A [`Picture`] is a view of a [`Timeline`], or of statemap data that was read. It only holds the arrangement, which
//! takes a few bytes a row. The content of a row is read from its source when the row is drawn, so even a picture of
//! ten million polls needs hardly any memory of its own.

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
mod merge;
mod notes;
mod once;
mod origin;
mod pack;
#[cfg(any(feature = "svg", test))]
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

use crate::analysis::severity::severity;
use crate::analysis::{Report, Statement};
use crate::statemap::Labels;
use crate::trace::event::SpawnLocation;
use crate::trace::profile::Profile;
#[cfg(has_requests)]
use crate::trace::requests::Requests;
use crate::trace::timeline::Timeline;
use crate::util::quantity::moment;

pub(crate) use awaits::Awaits;
#[cfg(feature = "html")]
pub(crate) use awaits::{AwaitLine, AwaitPlace, LocalHere, StillHere};
#[cfg(feature = "html")]
pub(crate) use bins::Bins;
#[cfg(all(feature = "html", feature = "read"))]
pub(crate) use data::is_shown;
pub(crate) use excerpts::Excerpts;
pub use excerpts::SourceFiles;
pub(crate) use issues::ListedIssue;
pub(crate) use origin::{Origin, OriginOf};
pub(crate) use pack::pack;
#[cfg(any(feature = "svg", test))]
pub(crate) use seen::{PointsAt, Seen};
pub(crate) use source::{Source, Transition, Waker};
pub(crate) use state::{Role, RowState};
#[cfg(feature = "html")]
pub(crate) use whole_run::PlaceSums;
pub(crate) use whole_run::WholeRun;
pub(crate) use why::Why;
#[cfg(feature = "html")]
pub(crate) use why::WhyCulprit;

/// The picture that the html page and the SVG draw.
///
/// # Examples
///
/// ```
/// use tokio_statemap::picture::Picture;
/// use tokio_statemap::statemap::Labels;
/// use tokio_statemap::Timeline;
///
/// # #[cfg(feature = "html")]
/// fn draw(timeline: &Timeline) -> std::io::Result<()> {
///     let labels = Labels { title: "http".to_owned(), host: None };
///     tokio_statemap::html::write(&Picture::of_timeline(timeline, &labels), std::io::stdout().lock())
/// }
/// ```
pub struct Picture<'a> {
    /// The title.
    pub(crate) title: String,
    /// The host on which it was recorded.
    pub(crate) host: Option<String>,
    /// The name of the runtime.
    pub(crate) runtime: Option<String>,
    /// UTC at its left edge, since the Unix epoch.
    pub(crate) start: Duration,
    /// The length, in ns: all times of a picture count from its left edge.
    pub(crate) length_ns: u64,
    /// The time at the left edge, as the report counts times, in ns. It isn't 0 if nothing is known of the time before.
    pub(crate) origin_ns: u64,
    /// The length from which on a poll is called long, in ns; of several runs, the smallest: see
    /// [`Self::long_poll_ns_of`].
    pub(crate) long_poll_ns: u64,
    /// `true` if it is known when tasks became ready.
    pub(crate) is_ready_known: bool,
    /// `true` if tasks are known at all.
    pub(crate) are_tasks_known: bool,
    /// The verdict of the report.
    pub(crate) verdict: Option<Statement>,
    /// Short sentences on what it lacks.
    pub(crate) notes: Vec<String>,
    /// `true` if it shows a part of the run, without sums of the rest. The first note says which part.
    pub(crate) is_cut: bool,
    /// The periods of which no event is kept, as recording was stopped or events were dropped: from and to, in ns.
    pub(crate) gaps: Vec<(u64, u64)>,
    /// The sums of the whole run; `None` if all of it is kept in detail, or there are no sums.
    pub(crate) whole_run: Option<WholeRun>,
    /// The source around the lines that it names; `None` if none was read.
    pub(crate) excerpts: Option<Excerpts>,
    /// The sections, from top to bottom.
    pub(crate) sections: Vec<Section<'a>>,
    /// The data that the sections were made from.
    pub(crate) origins: Vec<Origin<'a>>,
}

/// Rows that share a set of states.
pub(crate) struct Section<'a> {
    pub(crate) title: String,
    pub(crate) kind: SectionKind,
    pub(crate) states: Vec<RowState>,
    pub(crate) groups: Vec<Group>,
    /// The rows in the order of drawing: indices into the source, group by group, lane by lane, and by time.
    pub(crate) rows: Vec<u32>,
    /// The begin of each lane in `rows`, and at the end, the end of the last lane.
    pub(crate) lanes: Vec<u32>,
    /// The tags that transitions have.
    pub(crate) tags: Vec<Tag>,
    /// Events that changed no state.
    pub(crate) events: Vec<RowEvent>,
    /// Why its polls took long; `None` if there are none, or that wasn't worked out.
    pub(crate) why: Option<Why>,
    /// The issues of its run, the worst first; `None` if they weren't worked out.
    pub(crate) issues: Option<Vec<ListedIssue>>,
    /// The places at which its tasks waited; `None` if there are none, or they aren't known.
    pub(crate) awaits: Option<Awaits>,
    /// The time that the calls of instrumented functions took in its run.
    pub(crate) profile: Option<Profile>,
    /// The times that spans of `tracing` took in its run.
    #[cfg(has_requests)]
    pub(crate) requests: Option<Requests>,
    /// The data that it was made from: an index into the origins of the picture.
    pub(crate) origin: usize,
    pub(crate) source: Box<dyn Source + 'a>,
}

/// The things that the rows of a section stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionKind {
    Workers,
    Blocking,
    Tasks,
    Other,
}

/// Rows that belong together, such as the tasks of one spawn location.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) label: String,
    /// The function of the program that most of its tasks run, and all of them in words, if a dependency spawned them.
    pub(crate) runs: Option<(String, String)>,
    /// The place where they were spawned.
    pub(crate) location: Option<SpawnLocation>,
    /// Its lanes: indices into those of the section.
    pub(crate) lanes: Range<usize>,
}

/// A tag of a state.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) state: u32,
    pub(crate) tag: String,
    /// Its other fields: keys, and values in JSON.
    pub(crate) fields: Vec<(String, String)>,
}

/// An event of a row that changed no state.
#[derive(Clone, Debug)]
pub(crate) struct RowEvent {
    pub(crate) time_ns: u64,
    /// The row, as an index into the source.
    pub(crate) row: u32,
    pub(crate) event: String,
    pub(crate) target: Option<String>,
}

impl<'a> Picture<'a> {
    /// Makes a picture of nothing.
    fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            host: None,
            runtime: None,
            start: Duration::ZERO,
            length_ns: 0,
            origin_ns: 0,
            long_poll_ns: 0,
            is_ready_known: false,
            are_tasks_known: false,
            verdict: None,
            notes: Vec::new(),
            is_cut: false,
            gaps: Vec::new(),
            whole_run: None,
            excerpts: None,
            sections: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Makes the picture of `timeline`.
    pub fn of_timeline(timeline: &'a Timeline, labels: &Labels) -> Self {
        Self::of_report(timeline, &timeline.report(), labels)
    }

    /// Makes the picture of `timeline`, whose report is at hand.
    pub(crate) fn of_report(timeline: &'a Timeline, report: &Report, labels: &Labels) -> Self {
        Self::of_run(timeline, report, labels)
    }

    /// Makes the picture of the runtimes of one program, of which there may be any number.
    pub(crate) fn of_runtimes(ranked: &[(&'a Timeline, &Report)], labels: &Labels) -> Self {
        let of_each =
            ranked.iter().map(|(timeline, report)| Self::of_report(timeline, report, labels));
        let mut pictures: Vec<_> = of_each.collect();
        match pictures.len() {
            1 => pictures.remove(0),
            _ => merge::of_one_program(pictures),
        }
    }

    fn of_run<T>(timeline: T, report: &Report, labels: &Labels) -> Self
    where
        T: Deref<Target = Timeline> + Clone + Sync + 'a,
    {
        let mut tasks = tasks::section(timeline.clone(), report);
        let why = Why::from_report(&timeline, report);
        let whole_run = WholeRun::from_report(&timeline, report);
        let left_ns = whole_run::left_ns(&timeline);
        let mut notes = notes::notes(report, whole_run.is_some());
        let cut = notes::cut(report, whole_run.is_some());
        let is_cut = cut.is_some();
        if let Some(cut) = cut {
            notes.insert(0, cut);
        }
        notes.extend(why.note());
        tasks.issues = Some(ListedIssue::all(&timeline, report, &why));
        tasks.why = Some(why);
        tasks.awaits = Awaits::from_report(&timeline, report);
        if tasks.awaits.is_some() {
            tasks.tags = awaits::tags(&timeline);
        }
        if !report.profile.functions.is_empty() {
            tasks.profile = Some(report.profile.clone());
        }
        #[cfg(has_requests)]
        if !report.requests.is_empty() {
            tasks.requests = Some(report.requests.clone());
        }
        let origin = Origin {
            from_ns: timeline.begin_ns - left_ns,
            name: String::new(),
            severity: severity(report),
            of: OriginOf::Run { timeline: Box::new(timeline.clone()), labels: labels.clone() },
        };
        let mut sections = Vec::new();
        for section in [threads::workers(timeline.clone()), threads::blocking(timeline.clone())] {
            if !section.rows.is_empty() {
                sections.push(section);
            }
        }
        if !tasks.rows.is_empty() {
            sections.push(tasks);
        } else if let Some(first) = sections.first_mut() {
            // If no task is kept, the first other section has the issues.
            first.issues = tasks.issues;
        }
        let mut gaps = Vec::new();
        if left_ns < timeline.begin_ns {
            gaps.push((0, timeline.begin_ns - left_ns));
        }
        for &(from_ns, to_ns) in &timeline.gaps {
            gaps.push((from_ns.saturating_sub(left_ns), to_ns.saturating_sub(left_ns)));
        }
        if let Some(run) = &whole_run {
            gaps = run.split_gaps(&gaps);
        }
        Self {
            host: labels.host.clone(),
            runtime: timeline.runtime.clone(),
            start: timeline.utc_at_zero + Duration::from_nanos(left_ns),
            length_ns: timeline.end_ns - left_ns,
            origin_ns: left_ns,
            long_poll_ns: long_poll_ns(&timeline),
            is_ready_known: timeline.settings.schedule_latency,
            are_tasks_known: timeline.settings.task_hooks
                && timeline.settings.trace_target.tracks_tasks()
                && !timeline.lacking.tasks,
            verdict: Some(report.verdict.statement()),
            notes,
            is_cut,
            gaps,
            whole_run,
            sections,
            origins: vec![origin],
            ..Self::new(&labels.title)
        }
    }

    /// Adds a note, unless it is empty.
    pub(crate) fn with_note(mut self, note: String) -> Self {
        self.notes.extend(Some(note).filter(|note| !note.is_empty()));
        self
    }

    /// Returns the length from which on a poll of this section is called long, in ns, as in the report of its run.
    pub(crate) fn long_poll_ns_of(&self, section: &Section<'_>) -> u64 {
        let run = self.origins.get(section.origin).and_then(Origin::run);
        run.map_or(self.long_poll_ns, long_poll_ns)
    }

    /// Returns a note if times count from the left edge, but the report counts them from elsewhere.
    pub(crate) fn edge_note(&self) -> Option<String> {
        let begin = moment(self.origin_ns);
        (self.origin_ns >= 1_000_000)
            .then(|| format!("Times count from the left edge, which is at {begin} of the report."))
    }

    /// Returns the notes, with [`Self::edge_note`].
    pub(crate) fn notes_with_edge(&self) -> impl Iterator<Item = String> {
        let mut notes = self.notes.clone();
        if let Some(edge) = self.edge_note() {
            notes.insert(0, edge);
        }
        notes.into_iter()
    }

    /// Changes the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        if let [only] = &mut self.origins[..] {
            only.rename(&self.title);
        }
        self
    }
}

/// Returns the length from which on a poll of a run is called long, in ns.
pub(crate) fn long_poll_ns(timeline: &Timeline) -> u64 {
    u64::try_from(timeline.settings.long_poll.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns how much of a stretch of time lies outside of gaps. It isn't known what a row did in a gap, although its
/// spans reach across it. `gaps` are in the order of time.
pub(crate) fn recorded_ns(gaps: &[(u64, u64)], from_ns: u64, to_ns: u64) -> u64 {
    let first = gaps.partition_point(|&(_, gap_end_ns)| gap_end_ns <= from_ns);
    let mut in_gaps_ns = 0;
    for &(gap_ns, end_ns) in &gaps[first..] {
        if gap_ns >= to_ns {
            break;
        }
        in_gaps_ns += end_ns.min(to_ns) - gap_ns.max(from_ns);
    }
    (to_ns - from_ns).saturating_sub(in_gaps_ns)
}

impl<'a> Section<'a> {
    /// Makes a section without rows.
    fn new(title: &str, kind: SectionKind, source: Box<dyn Source + 'a>) -> Self {
        Self {
            title: title.to_owned(),
            kind,
            states: Vec::new(),
            groups: Vec::new(),
            rows: Vec::new(),
            lanes: Vec::new(),
            tags: Vec::new(),
            events: Vec::new(),
            why: None,
            issues: None,
            awaits: None,
            profile: None,
            #[cfg(has_requests)]
            requests: None,
            origin: 0,
            source,
        }
    }
}

impl Section<'_> {
    /// Returns the rows of a lane in the order of time, as indices into the source.
    pub(crate) fn lane(&self, lane: usize) -> &[u32] {
        &self.rows[self.lanes[lane] as usize..self.lanes[lane + 1] as usize]
    }

    /// Returns the rows of a group, as indices into the source.
    pub(crate) fn group(&self, group: &Group) -> &[u32] {
        let (from, to) = (self.lanes[group.lanes.start], self.lanes[group.lanes.end]);
        &self.rows[from as usize..to as usize]
    }

    /// Returns the place of each row in `rows`, by its index in the source.
    #[cfg(feature = "html")]
    pub(crate) fn places(&self) -> Vec<u32> {
        let mut places = vec![0; self.rows.iter().max().map_or(0, |&last| last as usize + 1)];
        for (place, &row) in self.rows.iter().enumerate() {
            places[row as usize] = place as u32;
        }
        places
    }

    /// Returns what a state means, by its index.
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
