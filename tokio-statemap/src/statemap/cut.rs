//! A part of what was read.

use super::align::Alignment;
use super::format::Ours;
use super::read::Statemap;
use crate::trace::state::{TaskState, WorkerState};

impl Statemap {
    /// Leaves only what lies in a window: from `begin_ns`, for `duration_ns` (`None`: to the end),
    /// both in ns.
    ///
    /// Times then count from the window's left edge, and so does the start. The state that an entity
    /// is in there is kept, and so is the last one at the right edge. An entity that has no state in
    /// the window stays, without data; of this crate's own data also one that had ended before.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::statemap::read::read;
    ///
    /// let data = br#"{"start":[5,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
    /// {"time":"0","entity":"cpu-0","state":0}
    /// {"time":"70","entity":"cpu-0","state":1}
    /// {"time":"90","entity":"cpu-0","state":0}
    /// "#;
    /// let mut statemap = read(&data[..])?;
    /// statemap.cut(50, Some(30));
    /// let changes: Vec<_> =
    ///     statemap.entities[0].data.iter().map(|datum| (datum.time_ns, datum.state)).collect();
    /// assert_eq!(changes, [(0, 0), (20, 1)]);
    /// assert_eq!(statemap.end_ns, 30);
    /// assert_eq!(statemap.metadata.start, [5, 50]);
    /// # Ok::<(), tokio_statemap::statemap::read::ReadError>(())
    /// ```
    pub fn cut(&mut self, begin_ns: u64, duration_ns: Option<u64>) {
        let length_ns = self.end_ns;
        let end_ns = duration_ns
            .map_or(self.end_ns, |duration| begin_ns.saturating_add(duration))
            .min(self.end_ns);
        let is_whole_to_the_right = end_ns == self.end_ns;
        // What ends there is within only if it is the end of everything.
        let is_before_end = |time_ns: u64| time_ns < end_ns || is_whole_to_the_right;
        let ended = match self.metadata.ours() {
            Some(Ours::Tasks { .. }) => Some(u32::from(TaskState::Completed.value())),
            Some(Ours::Workers) => Some(u32::from(WorkerState::Stopped.value())),
            None => None,
        };
        for entity in &mut self.entities {
            let data = &mut entity.data;
            data.truncate(data.partition_point(|datum| is_before_end(datum.time_ns)));
            if begin_ns >= self.end_ns {
                data.clear();
            }
            let passed = data.partition_point(|datum| datum.time_ns <= begin_ns);
            data.drain(..passed.saturating_sub(1));
            if passed > 0 && begin_ns > 0 && data.iter().all(|datum| Some(datum.state) == ended) {
                data.clear();
            }
            for datum in data.iter_mut() {
                datum.time_ns = datum.time_ns.saturating_sub(begin_ns);
            }
        }
        self.events.retain_mut(|event| {
            let is_within = event.time_ns >= begin_ns && is_before_end(event.time_ns);
            event.time_ns = event.time_ns.saturating_sub(begin_ns);
            is_within
        });
        self.end_ns = end_ns.saturating_sub(begin_ns);
        if self.end_ns < length_ns {
            let (before_ns, _) = self.window.unwrap_or((0, 0));
            self.window = Some((before_ns.saturating_add(begin_ns), self.end_ns));
        }
        let [seconds, ns] = &mut self.metadata.start;
        let begin_ns = u128::from(*ns) + u128::from(begin_ns);
        *seconds = seconds.saturating_add((begin_ns / 1_000_000_000) as u64);
        *ns = (begin_ns % 1_000_000_000) as u64;
    }
}

/// Leaves only what lies in a window of the time that the files have in common, as
/// [`Statemap::cut`] does of one file.
///
/// `begin_ns` counts from the left edge of the picture of all of them, in ns: the start of the one
/// that begins first, or of each, if they are from different times.
pub fn cut(files: &mut [Statemap], begin_ns: u64, duration_ns: Option<u64>) {
    let alignment = Alignment::of(files);
    let end_ns = duration_ns.map(|duration| begin_ns.saturating_add(duration));
    for (file, shift_ns) in files.iter_mut().zip(alignment.shifts_ns) {
        let from_ns = begin_ns.saturating_sub(shift_ns);
        let to_ns = end_ns.map(|end_ns| end_ns.saturating_sub(shift_ns));
        file.cut(from_ns, to_ns.map(|to_ns| to_ns.saturating_sub(from_ns)));
    }
}
