//! The causes of long polls, from what their threads measured meanwhile.

use std::cmp::Reverse;
use std::time::Duration;

use crate::recorder::record::Switches;
use crate::trace::snapshot::Usage;
use crate::trace::timeline::machine::MachineTime;
use crate::trace::timeline::poll::PollKey;
use crate::trace::timeline::steal::Steal;
use crate::trace::timeline::task::Task;
use crate::util::quantity::scale;

/// The parts of a poll's time: its thread was on the processor, was blocked, was ready to run but
/// off the processor, or was off it for an unknown reason.
///
/// The parts add up to the length of the poll. A thread measures them at some of its events, about
/// every 5 ms while it has any, or less often while the program uses all processors. The time
/// between two measurements is shared among the long polls there, in proportion to their lengths;
/// time outside of long polls counts as on the processor or blocked. Available only on Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollCause {
    /// The time on the processor, in ns.
    pub on_cpu_ns: u64,
    /// The time blocked in a system call or while a page of memory was loaded, in ns.
    pub blocked_ns: u64,
    /// The time ready to run while others ran, or while the limit of the control group was reached,
    /// in ns.
    pub run_delay_ns: u64,
    /// The time for which the host of a virtual machine took the processor, in ns: at most what the
    /// kernel counted meanwhile.
    pub stolen_ns: u64,
    /// The time off the processor for an unknown reason, in ns: it is neither known to have been
    /// taken away nor known to have been blocked.
    pub unknown_ns: u64,
    /// The number of memory pages that had to be read from a disk.
    pub major_faults: u64,
}

impl PollCause {
    /// Counts unexplained time, and then time attributed to the host, as blocked, up to `at_most_ns` blocked in all:
    /// samples showed the thread blocked. Returns how much of it had been attributed to the host.
    pub(super) fn was_blocked(&mut self, at_most_ns: u64) -> u64 {
        let more_ns = at_most_ns.saturating_sub(self.blocked_ns);
        let unknown_ns = self.unknown_ns.min(more_ns);
        let stolen_ns = self.stolen_ns.min(more_ns - unknown_ns);
        self.unknown_ns -= unknown_ns;
        self.stolen_ns -= stolen_ns;
        self.blocked_ns += unknown_ns + stolen_ns;
        stolen_ns
    }

    /// Returns the length of the poll, in ns.
    pub(super) fn length_ns(&self) -> u64 {
        self.on_cpu_ns + self.blocked_ns + self.taken_ns() + self.unknown_ns
    }

    /// Returns the sum of the parts, which is the length of the poll in ns; `None` on overflow, as
    /// in damaged data.
    #[cfg(feature = "read")]
    pub(crate) fn parts_ns(&self) -> Option<u64> {
        let taken_ns = self.run_delay_ns.checked_add(self.stolen_ns)?;
        let known_ns = self.on_cpu_ns.checked_add(self.blocked_ns)?.checked_add(taken_ns)?;
        known_ns.checked_add(self.unknown_ns)
    }

    /// Returns the time for which the processor was taken away, in ns. No code of the program is to
    /// blame for it.
    pub fn taken_ns(&self) -> u64 {
        self.run_delay_ns + self.stolen_ns
    }
}

/// Finds the causes of polls of `long_poll` or longer, as far as they are known, sorted by poll
/// key. `readings` are sorted by thread.
pub(super) fn causes(
    readings: &[(u32, Box<Readings>)],
    tasks: &[Task],
    long_poll: Duration,
) -> Vec<(PollKey, PollCause)> {
    if readings.is_empty() {
        return Vec::new();
    }
    let long_poll_ns = u64::try_from(long_poll.as_nanos()).unwrap_or(u64::MAX);
    let mut long: Vec<(PollKey, u64)> = Vec::new();
    for task in tasks {
        for poll in &task.polls {
            let Some(end_ns) = poll.end_ns() else { continue };
            let is_whole = !poll.is_cut_left() && !poll.is_cut_right();
            if is_whole && end_ns - poll.start_ns() >= long_poll_ns {
                long.push((poll.key(), end_ns));
            }
        }
    }
    // Outer polls come before the polls nested in them.
    crate::util::sort::by_key(&mut long, |&(key, end_ns)| (key, Reverse(end_ns)));
    let mut causes = Vec::new();
    for (thread, readings) in readings {
        let from = long.partition_point(|((of, _), _)| of < thread);
        let len = long[from..].partition_point(|((of, _), _)| of == thread);
        let polls = &long[from..from + len];
        for (nth, cause) in readings.causes(polls).into_iter().enumerate() {
            if let Some(cause) = cause {
                causes.push((polls[nth].0, cause));
            }
        }
    }
    causes
}

/// The kind of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ThreadKind {
    Worker,
    /// A thread of the blocking pool.
    Pool,
    /// A thread of the program's own, or the one that polls the root future.
    #[default]
    Other,
}

/// Attributes the time taken by the host to the threads' unexplained time. Returns the time that
/// the machine took from all threads.
pub(super) fn machine(readings: &mut [(u32, Box<Readings>)], steal: &mut Steal) -> MachineTime {
    let mut machine = MachineTime::default();
    for (_, readings) in readings {
        let delay_ns: u64 = readings.stretches.iter().map(|stretch| stretch.run_delay_ns).sum();
        match readings.kind {
            ThreadKind::Worker => machine.workers_delay_ns += delay_ns,
            ThreadKind::Pool => {
                machine.pool_cpu_ns += readings.cpu_ns;
                machine.pool_delay_ns += delay_ns;
            }
            ThreadKind::Other => {}
        }
        for stretch in &mut readings.stretches {
            let unexplained_ns = stretch.unexplained_ns();
            stretch.stolen_ns = steal.take(stretch.from_ns, stretch.to_ns, unexplained_ns);
            machine.run_delay_ns += stretch.run_delay_ns;
            machine.stolen_ns += stretch.stolen_ns;
        }
    }
    machine
}

/// The readings of a thread and its activity between them.
#[derive(Debug, Default)]
pub(super) struct Readings {
    last: Option<Usage>,
    /// The last run delay that was read.
    run_delay_ns: Option<u64>,
    parked_since_ns: Option<u64>,
    /// The time parked since the last reading.
    parked_ns: u64,
    /// The number of parks since then.
    parks: u64,
    /// The start of the current time neither in a poll nor parked.
    idle_since_ns: Option<u64>,
    idle: Vec<(u64, u64)>,
    stretches: Vec<Stretch>,
    /// The processor time in these stretches.
    cpu_ns: u64,
    pub(super) kind: ThreadKind,
}

/// The time of a thread between two readings.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from_ns: u64,
    to_ns: u64,
    /// The time neither on the processor nor parked.
    off_ns: u64,
    parked_ns: u64,
    /// The part of `off_ns` after the thread's last event, before the reading was taken.
    behind_ns: u64,
    run_delay_ns: u64,
    /// The part of the time off the processor that the host took.
    stolen_ns: u64,
    has_blocked: bool,
    major_faults: u64,
}

/// The minimum length of an idle time that takes part in sharing like a long poll. In shorter ones
/// hardly anything could take the thread off the processor.
const LONG_IDLE_NS: u64 = 200_000;

/// The least time of a poll that may lie outside of readings. It counts as on the processor.
const MIN_SLACK_NS: u64 = 50_000;

/// The time in short polls between two readings from which on they share what the machine took: more than there is between two
/// looks, unless these are rare.
const MOST_IN_SHORT_NS: u64 = 10_000_000;

impl Readings {
    /// Records that the thread parked or unparked.
    pub(super) fn parked(&mut self, time_ns: u64, is_parked: bool) {
        if let Some(since_ns) = self.parked_since_ns.take() {
            let parked_ns = time_ns.saturating_sub(since_ns);
            self.parked_ns += parked_ns;
            // A park that is split by a reading at its end counts once.
            self.parks += u64::from(parked_ns > 0);
        }
        if is_parked {
            // The reading at its beginning may be a little later.
            let read_ns = self.last.map_or(0, |last| last.time_ns);
            self.parked_since_ns = Some(time_ns.max(read_ns));
        }
    }

    /// Forgets the state: nothing is known until the next reading.
    pub(super) fn interrupt(&mut self) {
        (self.last, self.parked_since_ns, self.idle_since_ns) = (None, None, None);
        (self.parked_ns, self.parks) = (0, 0);
    }

    /// Records an event at `time_ns`; `is_busy` if the thread is in a poll afterwards.
    pub(super) fn event(&mut self, time_ns: u64, is_busy: bool) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            if time_ns.saturating_sub(since_ns) >= LONG_IDLE_NS && self.last.is_some() {
                self.idle.push((since_ns, time_ns));
            }
        }
        let is_idle = !is_busy && self.parked_since_ns.is_none();
        self.idle_since_ns = is_idle.then_some(time_ns);
    }

    pub(super) fn add(&mut self, reading: Usage) {
        let time_ns = reading.time_ns;
        // A reading taken within another one is stored after it.
        if self.last.is_some_and(|last| reading.cpu_ns < last.cpu_ns) {
            return;
        }
        let is_parked = self.parked_since_ns.is_some();
        if is_parked {
            // The park is over by the next event.
            self.parked(time_ns - reading.late_ns, false);
        }
        let (parked_ns, parks) =
            (std::mem::take(&mut self.parked_ns), std::mem::take(&mut self.parks));
        if is_parked {
            self.parked_since_ns = Some(time_ns);
        }
        // The run delay is read only after some time off the processor. Its value before the first
        // reading is unknown, so nothing is known up to there.
        let run_delay_ns = match (self.run_delay_ns, reading.run_delay_ns) {
            (_, None) => Some(0),
            (Some(before), Some(now)) => Some(now.saturating_sub(before)),
            (None, Some(_)) => None,
        };
        self.run_delay_ns = reading.run_delay_ns.or(self.run_delay_ns);
        let last = self.last.replace(reading);
        if let (Some(last), Some(run_delay_ns)) = (last, run_delay_ns) {
            let wall_ns = time_ns.saturating_sub(last.time_ns);
            let cpu_ns = reading.cpu_ns.saturating_sub(last.cpu_ns);
            let switches = last.switches.zip(reading.switches);
            let switches = switches.map(|(last, now)| Switches::between(last, now));
            let Switches { voluntary, major_faults, .. } = switches.unwrap_or_default();
            let off_ns = wall_ns.saturating_sub(cpu_ns).saturating_sub(parked_ns);
            self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns);
            self.stretches.push(Stretch {
                from_ns: last.time_ns,
                to_ns: time_ns,
                off_ns,
                parked_ns,
                // The reading itself takes negligible time.
                behind_ns: reading.late_ns.min(off_ns),
                run_delay_ns,
                stolen_ns: 0,
                // The thread gave up the processor more often than it was parked.
                has_blocked: voluntary > parks,
                major_faults,
            });
        }
    }

    /// Returns the causes of the thread's long polls, given by keys and ends; `None` for one that
    /// began before or ended after all readings. Outer polls come before those nested in them.
    fn causes(&self, polls: &[(PollKey, u64)]) -> Vec<Option<PollCause>> {
        // The outermost polls, and the idle times that share the rest with them.
        let mut outer: Vec<(u64, u64)> = Vec::new();
        for &((_, from_ns), to_ns) in polls {
            if outer.last().is_none_or(|last| last.1 <= from_ns) {
                outer.push((from_ns, to_ns));
            }
        }
        // The overlap of each stretch with these is computed once, as many polls may be in one
        // stretch.
        let mut shared: Vec<(u64, u64)> = Vec::with_capacity(self.stretches.len());
        for stretch in &self.stretches {
            shared.push((stretch.overlaps(&outer), stretch.overlaps(&self.idle)));
        }
        let mut causes = Vec::with_capacity(polls.len());
        for &((_, from_ns), to_ns) in polls {
            causes.push(self.cause(from_ns, to_ns, &shared));
        }
        causes
    }

    /// Returns the cause of a poll; `shared` are the overlaps of each stretch with polls and with
    /// idle times.
    fn cause(&self, from_ns: u64, to_ns: u64, shared: &[(u64, u64)]) -> Option<PollCause> {
        let first = self.stretches.partition_point(|stretch| stretch.to_ns <= from_ns);
        // The reading may be at an event shortly after the poll's start or before its end. In
        // between, the thread did what led to that event.
        let slack_ns = ((to_ns - from_ns) / 20).max(MIN_SLACK_NS);
        let mut cause = PollCause::default();
        let mut known_ns = from_ns + slack_ns;
        let mut is_known = false;
        for (number, stretch) in self.stretches.iter().enumerate().skip(first) {
            if stretch.from_ns >= to_ns {
                break;
            }
            if stretch.from_ns > known_ns {
                return None;
            }
            known_ns = stretch.to_ns.max(known_ns);
            let (in_polls_ns, idle_ns) = shared[number];
            let own_ns = stretch.overlap(from_ns, to_ns);
            let polls_ns = in_polls_ns.max(own_ns);
            let all_ns = polls_ns + idle_ns;
            let part = |of_ns: u64| scale(of_ns, own_ns, all_ns);
            // All of the time taken away may have been taken in long polls; the polls that computed
            // then cannot be distinguished from those that did not. If the thread was in short polls for long, it was most
            // likely taken in these as well.
            let long_ns = all_ns + stretch.parked_ns;
            let short_ns = (stretch.to_ns - stretch.from_ns).saturating_sub(long_ns);
            let sharing_ns = polls_ns + if short_ns > MOST_IN_SHORT_NS { short_ns } else { 0 };
            let most = |of_ns: u64| scale(of_ns, own_ns, sharing_ns).min(own_ns);
            let all_off_ns = stretch.off_ns - stretch.behind_ns;
            let delay_ns = stretch.run_delay_ns.saturating_sub(stretch.behind_ns);
            let run_delay_ns = most(delay_ns.min(all_off_ns));
            let rest_ns = match stretch.has_blocked {
                true => part(all_off_ns.saturating_sub(delay_ns)).min(own_ns - run_delay_ns),
                false => most(all_off_ns) - run_delay_ns,
            };
            cause.on_cpu_ns += own_ns - run_delay_ns - rest_ns;
            cause.run_delay_ns += run_delay_ns;
            if stretch.has_blocked {
                cause.blocked_ns += rest_ns;
            } else {
                let stolen_ns = scale(rest_ns, stretch.stolen_ns, stretch.unexplained_ns());
                cause.stolen_ns += stolen_ns;
                cause.unknown_ns += rest_ns - stolen_ns;
            }
            cause.major_faults += part(stretch.major_faults);
            is_known = true;
        }
        cause.on_cpu_ns += (to_ns - from_ns).saturating_sub(cause.length_ns());
        (is_known && known_ns + slack_ns >= to_ns).then_some(cause)
    }
}

impl Stretch {
    /// Returns the time off the processor that is neither blocked nor run delay.
    fn unexplained_ns(&self) -> u64 {
        match self.has_blocked {
            true => 0,
            false => self.off_ns.saturating_sub(self.run_delay_ns),
        }
    }

    fn overlap(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.to_ns.min(to_ns).saturating_sub(self.from_ns.max(from_ns))
    }

    /// Returns the overlap with `times`, which are sorted and disjoint.
    fn overlaps(&self, times: &[(u64, u64)]) -> u64 {
        let first = times.partition_point(|time| time.1 <= self.from_ns);
        let mut sum_ns = 0;
        for &(from_ns, to_ns) in &times[first..] {
            if from_ns >= self.to_ns {
                break;
            }
            sum_ns += self.overlap(from_ns, to_ns);
        }
        sum_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(time_ns: u64, cpu_ns: u64, voluntary: u64, run_delay_ns: u64) -> Usage {
        let switches = Switches { voluntary, ..Switches::default() };
        let run_delay_ns = Some(run_delay_ns);
        let switches = Some(switches.pack());
        Usage { time_ns, late_ns: 0, cpu_ns, switches, run_delay_ns }
    }

    /// Returns the causes when the host took `stolen_ns`.
    fn causes_with(
        readings: Readings,
        stolen_ns: u64,
        polls: &[(u64, u64)],
    ) -> Vec<Option<PollCause>> {
        let mut all = [(0, Box::new(readings))];
        machine(&mut all, &mut Steal::new(&[(0, 0), (1000 * MS, stolen_ns)]));
        causes_of(&all[0].1, polls)
    }

    /// Returns the causes of polls of one thread, given by start and end.
    fn causes_of(readings: &Readings, polls: &[(u64, u64)]) -> Vec<Option<PollCause>> {
        let polls: Vec<_> = polls.iter().map(|&(from_ns, to_ns)| ((0, from_ns), to_ns)).collect();
        readings.causes(&polls)
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn the_time_of_a_poll_is_split_among_its_causes() {
        for (after, cause) in [
            // It computed all the time.
            (reading(10 * MS, 10 * MS, 0, 0), (10, 0, 0, 0)),
            // It slept for 8 ms.
            (reading(10 * MS, 2 * MS, 1, 0), (2, 8, 0, 0)),
            // Another process ran for 5 ms.
            (reading(10 * MS, 5 * MS, 0, 5 * MS), (5, 0, 5, 0)),
            // The host took the processor for 3 ms.
            (reading(10 * MS, 7 * MS, 0, 0), (7, 0, 0, 3)),
            // It slept, and had to wait when it woke up.
            (reading(10 * MS, MS, 1, 2 * MS), (1, 7, 2, 0)),
        ] {
            let mut readings = Readings::default();
            readings.add(reading(0, 0, 0, 0));
            readings.add(after);
            let (on_cpu, blocked, run_delay, stolen) = cause;
            let expected = PollCause {
                on_cpu_ns: on_cpu * MS,
                blocked_ns: blocked * MS,
                run_delay_ns: run_delay * MS,
                stolen_ns: stolen * MS,
                ..PollCause::default()
            };
            assert_eq!(causes_with(readings, 20 * MS, &[(0, 10 * MS)]), [Some(expected)]);
        }
    }

    #[test]
    fn parked_time_is_no_polls() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.parked(MS, true);
        readings.event(MS, false);
        readings.parked(7 * MS, false);
        readings.event(7 * MS, false);
        // One switch is the park's.
        readings.add(reading(10 * MS, 2 * MS, 2, 0));
        let cause = causes_of(&readings, &[(7 * MS, 10 * MS)])[0].unwrap();
        assert_eq!((cause.on_cpu_ns, cause.blocked_ns, cause.taken_ns()), (MS, 2 * MS, 0));
    }

    /// A park may or may not give up the processor.
    #[test]
    fn a_switch_that_may_be_a_parks_blames_nobody() {
        for (voluntary, has_blocked) in [(0, false), (1, false), (2, false), (3, true)] {
            let mut readings = Readings::default();
            readings.add(reading(0, 0, 0, 0));
            for from_ns in [0, MS] {
                readings.parked(from_ns, true);
                readings.parked(from_ns + 1000, false);
            }
            readings.add(reading(10 * MS, 2 * MS, voluntary, 0));
            let cause = causes_with(readings, 0, &[(2 * MS, 10 * MS)])[0].unwrap();
            assert_eq!((cause.blocked_ns > 0, cause.unknown_ns > 0), (has_blocked, !has_blocked));
            assert_eq!((cause.stolen_ns, cause.taken_ns()), (0, 0));
        }
    }

    #[test]
    fn the_host_is_blamed_for_no_more_than_was_counted() {
        for (counted, stolen, unknown) in [(0, 0, 8), (30, 8, 0)] {
            let mut readings = Readings::default();
            readings.add(reading(0, 0, 0, 0));
            readings.add(reading(10 * MS, 2 * MS, 0, 0));
            let cause = causes_with(readings, counted * MS, &[(0, 10 * MS)])[0].unwrap();
            assert_eq!((cause.stolen_ns, cause.unknown_ns), (stolen * MS, unknown * MS));
            assert_eq!(cause.length_ns(), 10 * MS);
        }
        // The system doesn't report how often the thread gave up its processor.
        let mut readings = Readings::default();
        for after in [reading(0, 0, 0, 0), reading(10 * MS, 2 * MS, 0, 0)] {
            readings.add(Usage { switches: None, ..after });
        }
        let cause = causes_with(readings, 0, &[(0, 10 * MS)])[0].unwrap();
        assert_eq!((cause.on_cpu_ns, cause.unknown_ns), (2 * MS, 8 * MS));
    }

    /// The reading at its end is taken before its record.
    #[test]
    fn a_park_that_a_reading_parts_is_one() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.parked(0, true);
        readings.add(reading(MS, 0, 1, 0));
        readings.parked(MS, false);
        readings.add(reading(9 * MS, MS, 2, 0));
        let blocked: Vec<_> = readings.stretches.iter().map(|s| s.has_blocked).collect();
        assert_eq!(blocked, [false, true]);
    }

    /// Where looks are rare, many short polls are in the stretch of a long one.
    #[test]
    fn short_polls_share_what_is_taken_if_there_are_many() {
        for (length_ms, taken_ms) in [(60, 2), (18, 10)] {
            let mut readings = Readings::default();
            readings.add(reading(0, 0, 0, 0));
            readings.add(reading(length_ms * MS, (length_ms - 12) * MS, 0, 12 * MS));
            let cause = causes_of(&readings, &[(2 * MS, 12 * MS)])[0].unwrap();
            assert_eq!(cause.run_delay_ns, taken_ms * MS, "{length_ms} ms");
        }
    }

    /// The thread was parked for long before it was polled and lost its processor.
    #[test]
    fn parked_time_is_no_short_polls() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.parked(MS, true);
        readings.parked(50 * MS, false);
        readings.add(reading(56 * MS, 2 * MS, 1, 5 * MS));
        let cause = causes_of(&readings, &[(50 * MS, 56 * MS)])[0].unwrap();
        assert_eq!((cause.on_cpu_ns, cause.run_delay_ns), (MS, 5 * MS));
    }

    /// The thread loses its processor just when it is read.
    #[test]
    fn what_is_taken_before_a_late_reading_is_taken_once() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        // A poll of 10 ms that computes; 80 ms are taken before the reading at its end; 10 ms follow.
        readings.add(Usage { late_ns: 80 * MS, ..reading(90 * MS, 10 * MS, 0, 80 * MS) });
        readings.event(10 * MS, false);
        readings.event(90 * MS, true);
        readings.add(reading(100 * MS, 20 * MS, 0, 80 * MS));
        let cause = causes_of(&readings, &[(0, 10 * MS)])[0].unwrap();
        assert_eq!((cause.on_cpu_ns, cause.taken_ns()), (10 * MS, 0));
        let steal = &mut Steal::new(&[(0, 0), (100 * MS, 100 * MS)]);
        let machine = machine(&mut [(0, Box::new(readings))], steal);
        assert_eq!((machine.run_delay_ns, machine.stolen_ns), (80 * MS, 0));
    }

    #[test]
    fn a_park_is_over_at_its_event_though_the_reading_is_late() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.parked(MS, true);
        readings.add(Usage { late_ns: 5 * MS, ..reading(10 * MS, MS, 1, 5 * MS) });
        readings.parked(5 * MS, false);
        assert_eq!((readings.stretches[0].off_ns, readings.parked_ns), (5 * MS, 0));
        assert!(!readings.stretches[0].has_blocked);
        // The same holds for a time before the previous reading.
        readings.add(Usage { late_ns: 5 * MS, ..reading(20 * MS, 2 * MS, 1, 10 * MS) });
        readings.parked(15 * MS, true);
        readings.parked(22 * MS, false);
        assert_eq!(readings.parked_ns, 2 * MS);
    }

    #[test]
    fn samples_move_no_more_than_they_show() {
        let (on_cpu_ns, blocked_ns, stolen_ns, unknown_ns) = (1, 4, 10, 20);
        let off =
            PollCause { on_cpu_ns, blocked_ns, stolen_ns, unknown_ns, ..PollCause::default() };
        for (at_most_ns, of_unknown_ns, of_stolen_ns) in
            [(0, 0, 0), (4, 0, 0), (9, 5, 0), (24, 20, 0), (27, 20, 3), (99, 20, 10)]
        {
            let mut cause = off;
            assert_eq!(cause.was_blocked(at_most_ns), of_stolen_ns);
            assert_eq!(cause.blocked_ns, 4 + of_unknown_ns + of_stolen_ns);
            let left = (cause.stolen_ns, cause.unknown_ns);
            assert_eq!(left, (10 - of_stolen_ns, 20 - of_unknown_ns));
            assert_eq!(cause.length_ns(), off.length_ns());
        }
    }

    #[test]
    fn long_polls_share_what_is_between_two_readings() {
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.add(reading(10 * MS, 6 * MS, 0, 4 * MS));
        let causes = causes_of(&readings, &[(0, 3 * MS), (4 * MS, 5 * MS)]);
        let delays: Vec<_> = causes.iter().map(|cause| cause.unwrap().run_delay_ns).collect();
        assert_eq!(delays, [3 * MS, MS]);
        // Idle time gets none of the time that was taken away, but its share of the blocked time.
        readings.event(5 * MS, false);
        readings.event(9 * MS, true);
        assert_eq!(causes_of(&readings, &[(0, 4 * MS)])[0].unwrap().run_delay_ns, 4 * MS);
        readings.stretches[0].has_blocked = true;
        readings.stretches[0].run_delay_ns = 0;
        assert_eq!(causes_of(&readings, &[(0, 4 * MS)])[0].unwrap().blocked_ns, 2 * MS);
    }

    /// Comparing each poll with all others would take hours.
    #[test]
    fn any_number_of_polls_may_be_between_two_readings() {
        const POLLS: u64 = 1_000_000;
        let mut readings = Readings::default();
        readings.add(reading(0, 0, 0, 0));
        readings.add(reading(POLLS * MS, 0, 0, POLLS * MS / 2));
        let polls: Vec<_> = (0..POLLS).map(|n| (n * MS, (n + 1) * MS)).collect();
        let causes = causes_of(&readings, &polls);
        assert_eq!(causes.len(), polls.len());
        let is_half = |cause: &PollCause| cause.run_delay_ns == MS / 2 && cause.length_ns() == MS;
        assert!(causes.iter().all(|cause| cause.as_ref().is_some_and(is_half)));
    }

    #[test]
    fn without_readings_around_it_nothing_is_known() {
        let mut readings = Readings::default();
        assert_eq!(causes_of(&readings, &[(0, MS)]), [None]);
        readings.add(reading(5 * MS, 0, 0, 0));
        readings.add(reading(9 * MS, 4 * MS, 0, 0));
        let polls = [(0, 2 * MS), (4 * MS, 6 * MS), (6 * MS, 8 * MS), (8 * MS, 10 * MS)];
        let known: Vec<_> = causes_of(&readings, &polls).iter().map(Option::is_some).collect();
        assert_eq!(known, [false, false, true, false]);
    }
}
