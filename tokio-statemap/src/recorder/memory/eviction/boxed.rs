//! Writes evicted records to a black box and reads them back: those that are staged, and those that are pinned.

use crate::recorder::memory::eviction::Eviction;
use crate::recorder::store::segment::Segment;
use crate::recorder::store::tap::TappedRun;
use crate::util::plain::Plain;
#[cfg(feature = "read")]
use crate::{recorder::store::tap::segments, util::plain::Bytes};

impl Eviction {
    /// Returns how many bytes of records are staged.
    pub(crate) fn staged_bytes(&self) -> u64 {
        let records = self.staged.iter().map(|segment| segment.records().len() as u64);
        16 * records.sum::<u64>()
    }
}

impl Plain for Eviction {
    fn write(&self, into: &mut Vec<u8>) {
        // The rest is found again when it is looked through, or is only there for its memory.
        let Self { staged, done_until, pinned, .. } = self;
        done_until.write(into);
        pinned.write(into);
        let run = |segment: &Segment| {
            let Segment { stream, sequence, .. } = *segment;
            TappedRun { stream, sequence, records: segment.records().len() as u32 }
        };
        staged.iter().map(run).collect::<Vec<_>>().write(into);
        staged.iter().map(|segment| segment.records().len()).sum::<usize>().write(into);
        for record in staged.iter().flat_map(Segment::records) {
            record.write(into);
        }
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let done_until = u64::read(from)?;
        let mut eviction = Self::new(0);
        eviction.pinned = <_>::read(from)?;
        let (runs, records) = (<Vec<_>>::read(from)?, <Vec<_>>::read(from)?);
        eviction.staged = segments(&records, &runs)?;
        eviction.done_until = done_until;
        // A window begins once what is before it was dropped.
        let has_begun = eviction.pinned.iter().all(|pin| pin.from <= done_until);
        has_begun.then_some(eviction)
    }
}
