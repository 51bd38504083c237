//! Tells from a thread's records what it is doing.
//!
//! It is no visitor of the [reader](crate::recorder::record::reader). That reads all records of a chunk, the oldest
//! first. A look goes back from the newest, and often the first one tells. Every few ms the watcher looks at each thread that
//! runs, and holds the lock of the thread's buffer meanwhile.

use crate::recorder::record::{Kind, Record};
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{Sequence, StreamId, records_until};

/// A view of a thread at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) stream: StreamId,
    /// The place up to which the thread had written.
    pub(crate) at: (Sequence, usize),
    pub(crate) doing: Doing,
}

impl Look {
    /// Returns this view, but without a poll that started before `since_ticks`, as its end would not be seen. If
    /// nothing is recorded, it has no poll at all.
    pub(crate) fn since(mut self, since_ticks: Option<u64>) -> Self {
        if let Doing::Poll { start_ticks, .. } = self.doing {
            if since_ticks.is_none_or(|since| start_ticks < since) {
                self.doing = Doing::Other;
            }
        }
        self
    }

    /// Returns what the thread of `buffer` was doing at `ticks`, as far as the records of its chunk go back.
    pub(crate) fn before(buffer: &Buffer, ticks: u64) -> Option<Self> {
        buffer.read(|stream, sequence, chunk| {
            let records = chunk.items();
            let before = records_until(records, ticks);
            Self { stream, at: (sequence, before), doing: Doing::from_records(&records[..before]) }
        })
    }

    /// Looks at the thread of `buffer`, and interrupts its writer.
    pub(crate) fn at(buffer: &Buffer) -> Option<Self> {
        buffer.read(|stream, sequence, chunk| {
            chunk.interrupt();
            let records = chunk.items();
            Self { stream, at: (sequence, records.len()), doing: Doing::from_records(records) }
        })
    }
}

/// The activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It has been in a poll of the task `task` since `start_ticks`: the innermost, if there are several.
    Poll { task: u64, start_ticks: u64 },
    /// It is in no poll, as far as the records of its chunk go back.
    Other,
}

/// The most whole polls that are searched for a poll around them. A poll has others within it only where it blocks on a
/// runtime.
pub(crate) const WITHIN: usize = 32;

impl Doing {
    /// Returns what the thread that wrote `records` last is doing.
    pub(crate) fn from_records(records: &[Record]) -> Self {
        let (mut ended, mut whole) = (0_usize, 0);
        for record in records.iter().rev() {
            match (record.kind(), ended) {
                (Kind::PollEnd | Kind::PollEndAt, _) => ended += 1,
                (Kind::PollStart | Kind::PollStartReady, 0) => {
                    let start_ticks = record.ticks;
                    return record
                        .task()
                        .map_or(Self::Other, |task| Self::Poll { task, start_ticks });
                }
                (Kind::PollStart | Kind::PollStartReady, _) => {
                    ended -= 1;
                    whole += 1;
                    if whole == WITHIN {
                        break;
                    }
                }
                (Kind::Park | Kind::Unpark | Kind::End, 0) => break,
                _ => {}
            }
        }
        Self::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::pack_ready;

    #[test]
    fn it_is_in_the_innermost_poll_that_has_not_ended() {
        let record = |ticks, kind, payload| Record::new(ticks, kind, payload);
        let start = |ticks, id| record(ticks, Kind::PollStart, id);
        let end = |ticks, id| record(ticks, Kind::PollEnd, id);
        let poll = |task, start_ticks| Doing::Poll { task, start_ticks };
        let park = record(9, Kind::Park, 0);
        let ready = record(4, Kind::PollStartReady, pack_ready(7, 99).unwrap());
        let spawns = vec![record(5, Kind::SpawnAt, 3); 1000];
        for (records, doing) in [
            (vec![], Doing::Other),
            (vec![start(1, 5)], poll(5, 1)),
            (vec![start(1, 5), end(2, 5)], Doing::Other),
            (vec![start(1, 5), end(2, 5), ready], poll(7, 4)),
            (vec![start(1, 5), ready, end(5, 7)], poll(5, 1)),
            (vec![start(1, 5), park], Doing::Other),
            ([vec![start(1, 5)], spawns].concat(), poll(5, 1)),
        ] {
            assert_eq!(Doing::from_records(&records), doing, "{records:?}");
        }
    }
}
